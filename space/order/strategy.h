/*
 * strategy.h - ways to look for a better order of a whole program, all judged by the same: bytes of the heap, settled.
 *
 *	anneal	annealing with moves aimed at the peak (tune.h): the default
 *	brkga	biased random-key genetic algorithm, as in "REGAL: Transfer Learning For Fast Optimization of
 *	Computation Graphs":
 *		a key in [0,1] for each step, decoded by a list scheduler; elites, a biased crossover, mutants
 *	sweep	local search: one step after another is shifted by each of a few distances, and stays where it is best
 *	random	some steps of the base are shifted at random, the best is kept
 *	exact	the best order there is, for a small program whose values weigh the same in every order (exact.h)
 *
 * Each begins with the orders that the program has, and leaves the best that it found, which is never worse.
 */
#ifndef SPACE_ORDER_STRATEGY_H
#define SPACE_ORDER_STRATEGY_H

#include "base/err.h"
#include "space/order/tune.h"

struct order_strategy {
	const char *name;
	/*
	 * -1 with a sentence where the program is not one for it. `moves` of options and result are orders that are
	 * looked at.
	 */
	int (*run)(struct program *p, const struct tune_options *o, struct rng *r, struct tune_result *out,
		struct err *err);
};

/* The first is the default; the last has no name. */
extern const struct order_strategy order_strategies[];
/* NULL: there is none of that name. */
const struct order_strategy *order_strategy_find(const char *name);

#endif
