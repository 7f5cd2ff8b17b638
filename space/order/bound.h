/*
 * bound.h - finds a lower bound: bytes of temporary memory that a program needs in every order.
 *
 * While a step runs, the values that it reads and makes are in memory. So is each value whose maker comes before the
 * step in every order, and one of whose readers comes after it in every order. The bytes of all these are what the step
 * needs, and the largest such sum is the bound of a line. Small lines get the exact figure instead (exact.h). A step
 * that runs another computation needs the bound of that computation inside, so bounds go from callees to callers.
 *
 * Values may be in the memory of results, where they cost nothing (rooms.h). How many are there depends on the order.
 * So each sum at a step of the entry is reduced by the most that can be there: each result that need not be made yet
 * takes one value that is no larger.
 *
 * A search ends when it reaches the bound: by the model no order is better.
 */
#ifndef SPACE_ORDER_BOUND_H
#define SPACE_ORDER_BOUND_H

#include "space/order/program.h"

struct bound { /* all zero is empty */
	uint64_t bytes;	 /* no order needs fewer: live bytes, and the tables of tuples */
	/* per computation: the bound of its line, for all but the entry as if none of its values is with a result */
	uint64_t *comp;
	uint32_t **order; /* per computation: an order that needs just these bytes; NULL unless exact.h found one */
	uint32_t n, align; /* the number of computations; of the heap's buffers (values.h) */
};

/* Finds the bound. The program keeps its orders, and is settled afterwards (program.h). */
void bound_find(struct bound *b, struct program *p);
void bound_release(struct bound *b); /* accepts an empty one */
/*
 * Has a program of so many bytes (program_bytes) reached the bound? Rounds, because a heap's last block is not rounded.
 */
bool bound_reached(const struct bound *b, uint64_t bytes);
/*
 * Returns the bytes that are alive at a step in every order, by the weights that the line's values have now; 0 if the
 * step is pinned. For tests: bound_find looks only at steps that can matter.
 */
uint64_t bound_step(const struct line *l, uint32_t step);

#endif
