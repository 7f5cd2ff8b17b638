/*
 * rater.h - a model's word on a move of any number of flips, for kinds that can say what these do together
 * (space_ops.effect_of). The model's trees describe it as one flip (feature_move), by what all of them do.
 */
#ifndef LEARN_RATER_H
#define LEARN_RATER_H

#include "learn/infer.h"

struct rater;
/* Borrows both. NULL if the kind cannot tell, or the model has no trees. */
struct rater *rater_new(const struct model *m, struct space *s);
void rater_free(struct rater *r); /* accepts NULL */
struct prediction rater_move(struct rater *r, const uint8_t *from, const uint8_t *to);

#endif
