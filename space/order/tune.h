/*
 * tune.h - finds a better order for a whole program, by annealing (anneal.h) and beams (beam.h) on the model
 * of its memory.
 *
 * Inner computations come first, because their callers need at least what they need. Each computation gets time in
 * proportion to its number of steps. Orders are compared when they are settled (program.h), by the size of the heap.
 */
#ifndef SPACE_ORDER_TUNE_H
#define SPACE_ORDER_TUNE_H

#include "base/rng.h"
#include "space/order/program.h"

#define TUNE_DEAR 30000000 /* pairs of blocks: with more, laying out the heap takes over a tenth of a second */

struct tune_options { /* give seconds or moves; all else may be zero */
	double seconds;
	uint64_t moves; /* orders to look at; if given instead of seconds, the answer is always the same */
	double hot, cold; /* temperatures; 0: those of anneal.h */
	double began; /* the share of a longer search that was over before, for `progress` */
	/* more orders to start from, one per computation; NULL: start only from those that the program has */
	uint32_t *const *other;
	bool (*stop)(void);
	void (*progress)(void *with, double share, uint64_t bytes); /* may be NULL */
	void *with;
};

struct tune_result {
	/* Bytes of the settled program before and after; live bytes instead if laying out its heap takes too long. */
	uint64_t before, bytes, moves;
	uint64_t least; /* every order needs so many bytes (bound.h) */
	bool proved;	/* no order needs fewer bytes than the one that was found */
	double seconds;
};

/* Makes the program's orders better. By the model they are never worse afterwards. */
void tune(struct program *p, const struct tune_options *o, struct rng *r, struct tune_result *out);

#endif
