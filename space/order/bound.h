/*
 * bound.h - a lower bound: bytes of temporary memory that a program needs in every order.
 *
 * While a step runs, what it reads and makes is in memory. So is every value whose maker comes before the step in every
 * order and one of whose readers comes after it in every order. The largest such sum over all steps is the bound of a
 * line. Small lines get the exact figure instead (exact.h). The bound of a computation is what the steps that run it
 * need inside, so bounds go from callees to callers.
 *
 * Values may be in the memory of results, where they cost nothing (rooms.h). How many depends on the order, so from
 * each sum at a step of the entry goes what at best is there: each result that need not be made yet takes one value
 * which is no larger.
 *
 * A search that has come down to the bound is at its end: nothing better exists by the model.
 */
#ifndef SPACE_ORDER_BOUND_H
#define SPACE_ORDER_BOUND_H

#include "space/order/program.h"

struct bound { /* all zero is empty */
	uint64_t bytes;	 /* no order needs less: live bytes, and the tables of tuples */
	uint64_t *comp;	 /* per computation: live bytes that its line needs at least, if no value is with a result */
	uint32_t **order; /* per computation: an order that needs no more; NULL unless the figure is exact */
	uint32_t n;	  /* computations */
};

/* Finds the bound. Leaves the program's orders as they are, and settles it. */
void bound_find(struct bound *b, struct program *p);
void bound_release(struct bound *b); /* accepts an empty one */
/* Is a program of so many bytes (program_bytes) as small as the bound? A heap's last block is not rounded. */
bool bound_reached(const struct bound *b, uint64_t bytes);
/*
 * Bytes alive at a step in every order of a line, by the weights that its values have now, or 0 where it is pinned. For
 * tests; bound_find looks only at steps that can matter.
 */
uint64_t bound_step(const struct line *l, uint32_t step);

#endif
