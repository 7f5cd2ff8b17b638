/*
 * predict.h - what a model says of examples: the outputs of its trees, of its network, or of a network
 * that corrects its trees; in older models, the mean of the two.
 */
#ifndef LEARN_PREDICT_H
#define LEARN_PREDICT_H

#include "learn/data.h"
#include "learn/model.h"

struct team;
/* A guess for every flip of the examples given, in order; a network has as many layers as the data have rings. */
void predict_examples(const struct model *m, const struct data *d, const uint32_t *example, size_t n,
	struct team *team, struct guess *out);

/* The outputs of a network into the trees' of the same flips: the mean of both. */
void predict_mix(real *out, const real *other, size_t flips);

#endif
