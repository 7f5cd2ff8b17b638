/*
 * scorer.h - a model's predictions as the scores of a guide; without a model, what the space itself promises.
 */
#ifndef SEARCH_SCORER_H
#define SEARCH_SCORER_H

#include "learn/rater.h"
#include "search/guide.h"

struct model_scorer { /* one of the three ways of a model; both are borrowed */
	struct infer *f;
	enum infer_by by;
	bool learns; /* does it learn from what the search measures? */
	struct rater *r; /* of moves of several flips; may be NULL */
	struct space *believes; /* if it asks what the model expects (space_ops.believe): its moves add up. Else NULL */
};
struct scorer scorer_of_model(struct model_scorer *m);
/* Tells a space that asks what the model expects of each choice, where nothing else is decided. */
void scorer_believe(struct model_scorer *m);
struct scorer scorer_of_space(struct space *s); /* one whose kind promises something */

#endif
