/*
 * region.h - finds the best choices of some variables while all others stay: exactly, with prices for memory.
 *
 *	struct region_solver *r = region_new(m);
 *	region_solve(r, x, some, n, prices, 20000, noise, &rng, out);
 *	region_free(r);
 *
 * Prices are per tick and unit of memory, given as running sums: price[t] is what a unit costs during all ticks before
 * t. If the variables are connected so closely that a table would have more than `room` entries, some of them keep
 * their choice, and the others are solved exactly.
 */
#ifndef SPACE_NET_REGION_H
#define SPACE_NET_REGION_H

#include "base/rng.h"
#include "space/net/reduced.h"

struct region_solver;
struct region_solver *region_new(const struct reduced *m);
void region_free(struct region_solver *r); /* accepts NULL */

struct region_task {
	const uint16_t *x;	/* [n_vars] where everything stands */
	const uint32_t *some;	/* [n] distinct variables */
	uint32_t n;
	const double *price;	/* [n_ticks + 1] running sums; NULL: memory is free */
	double room;		/* entries of the largest table */
	double work;  /* roughly the most entries of all tables together: `room` shrinks as they add up */
	double noise;		/* added to costs, up to this much, at random */
	struct rng *rng; /* for noise, and for which variables keep their choice */
};
/*
 * out[i] becomes the choice of some[i]. Returns the cost of the eliminated variables under prices, including the
 * edges to all that stays.
 */
double region_solve(struct region_solver *r, const struct region_task *task, uint16_t *out);

#endif
