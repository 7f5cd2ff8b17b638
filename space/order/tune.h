/*
 * tune.h - a better order for a whole program, by annealing (anneal.h) on the model of its memory.
 *
 * Inner computations come first, for their callers need what they need. Each gets time by its number of steps. The best
 * order is chosen among settled ones (program.h), by the size of the heap.
 */
#ifndef SPACE_ORDER_TUNE_H
#define SPACE_ORDER_TUNE_H

#include "base/rng.h"
#include "space/order/program.h"

struct tune_options { /* all zero but seconds or moves */
	double seconds;
	uint64_t moves; /* instead of seconds: always the same answer */
	double hot, cold; /* anneal.h */
	/* orders to start from as well, per computation; NULL: only from those that the program has */
	uint32_t *const *other;
	bool (*stop)(void);
	void (*progress)(void *with, double share, uint64_t bytes); /* may be NULL */
	void *with;
};

struct tune_result {
	/* Bytes of the settled program, by its heap; by what is alive in it where laying the heap out takes long. */
	uint64_t before, bytes, moves;
	uint64_t least; /* no order needs less (bound.h) */
	bool proved;	/* nor than what was found: it is one of the best */
	double seconds;
};

/* Makes the program's orders better; never worse by the model. */
void tune(struct program *p, const struct tune_options *o, struct rng *r, struct tune_result *out);

#endif
