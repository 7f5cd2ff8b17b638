/*
 * trial.h - what the simple strategies share: orders are tried one by one, and the best is kept.
 */
#ifndef SPACE_ORDER_TRIAL_H
#define SPACE_ORDER_TRIAL_H

#include "space/order/bound.h"
#include "space/order/strategy.h"

struct trial {
	struct program *p;
	const struct tune_options *o;
	struct rng *rng;
	struct tune_result *out;
	uint32_t **best;
	double began;
	uint64_t bytes; /* of the best */
	struct bound bound;
};

/* What the program has is the first that is tried. */
void trial_begin(struct trial *t, struct program *p, const struct tune_options *o, struct rng *r,
	struct tune_result *out);
/* Bytes of the orders that the program has now. */
uint64_t trial_bytes(struct trial *t);
/* Is there time for another, and may it be better? */
bool trial_more(struct trial *t);
/* Leaves the program in the best. */
void trial_end(struct trial *t);

/* strategy.h */
void brkga_run(struct trial *t);
void sweep_run(struct trial *t);
void random_run(struct trial *t);

#endif
