/*
 * trial.h - what the simple strategies share: they try orders one by one, and the trial keeps the best.
 *
 * Call trial_begin. While trial_more says so, change the program's orders and call trial_bytes. Call trial_end.
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
	uint64_t bytes; /* bytes of the best orders so far */
	struct bound bound;
};

/* Begins with the orders that the program has; they are the first that are tried. */
void trial_begin(struct trial *t, struct program *p, const struct tune_options *o, struct rng *r,
	struct tune_result *out);
/* Settles the orders that the program has now, and returns their bytes. If they are the best so far, keeps a copy. */
uint64_t trial_bytes(struct trial *t);
/* Is there time for another try, and could it be better? */
bool trial_more(struct trial *t);
/* Gives the program the best orders, fills in the result, and frees the trial. */
void trial_end(struct trial *t);

/* Strategies of strategy.h. Each tries orders until trial_more says no. */
void brkga_run(struct trial *t);
void sweep_run(struct trial *t);
void random_run(struct trial *t);

#endif
