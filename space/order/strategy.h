/*
 * strategy.h - the strategies that look for a better order of a whole program. All judge an order by the same figure:
 * bytes of the settled program (program_bytes).
 *
 *	guided	draws orders with a learnt list scheduler (policy.h), then anneals from the best; the default
 *	anneal	annealing with moves aimed at the peak (tune.h)
 *	regal	brkga with mutants that the learnt scheduler draws (guided.c)
 *	brkga	a biased random-key genetic algorithm (brkga.c), as in "REGAL: Transfer Learning For Fast Optimization
 *		of Computation Graphs"
 *	sweep	local search: shifts one step after another by each of a few distances, and keeps the best place
 *	random	shifts some steps of the best order so far at random, and keeps what is better
 *	exact	finds the best order there is, of a small program whose values weigh the same in every order (exact.h)
 *
 * Each begins with the orders that the program has, and leaves it in the best orders that it found, which are never
 * worse.
 */
#ifndef SPACE_ORDER_STRATEGY_H
#define SPACE_ORDER_STRATEGY_H

#include "base/err.h"
#include "space/order/tune.h"

struct order_strategy {
	const char *name;
	/*
	 * Runs the strategy. Fails if it cannot work on this program. In options and result, `moves` is the number of
	 * orders that were looked at.
	 */
	int (*run)(struct program *p, const struct tune_options *o, struct rng *r, struct tune_result *out,
		struct err *err);
};

/* All strategies. The first is the default; the entry after the last has no name. */
extern const struct order_strategy order_strategies[];
/* Returns the strategy of that name, or NULL. */
const struct order_strategy *order_strategy_find(const char *name);

#endif
