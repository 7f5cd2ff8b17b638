/*
 * predict.h - what a model says of examples: the outputs of its trees, of its network, of a network that corrects its
 * trees, or the mean of trees and network.
 */
#ifndef LEARN_PREDICT_H
#define LEARN_PREDICT_H

#include "learn/data.h"
#include "learn/model.h"

struct team;
/* The outputs for every flip of the examples given, in order; a network has as many layers as the data have rings. */
void predict_outputs(const struct model *m, const struct data *d, const uint32_t *example, size_t n,
	struct team *team, real *out);
/* What these mean: a guess for every flip. */
void predict_examples(const struct model *m, const struct data *d, const uint32_t *example, size_t n,
	struct team *team, struct guess *out);

/* The outputs of a network into the trees' of the same flips: the mean of both. */
void predict_mix(real *out, const real *other, size_t flips);

#endif
