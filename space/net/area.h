/*
 * area.h - finds the best choices of some variables, the area, while all other variables keep theirs. It is exact,
 * and counts memory by prices.
 *
 *	struct area_solver *r = area_new(m);
 *	struct area_task t = {.x = x, .some = some, .n = n, .price = prices, .room = 20000, .rng = &rng};
 *	area_solve(r, &t, out);
 *	area_free(r);
 *
 * Each tick has a price for a unit of memory. Prices are given as running sums: price[t] is what a unit costs during
 * all ticks before t. If the variables are connected so closely that a table would have more than `room` entries, some
 * of them keep their choice, and the others are solved exactly.
 */
#ifndef SPACE_NET_AREA_H
#define SPACE_NET_AREA_H

#include "base/rng.h"
#include "space/net/reduced.h"

struct area_solver;
struct area_solver *area_new(const struct reduced *m);
void area_free(struct area_solver *r); /* accepts NULL */

struct area_task {
	const uint16_t *x;	/* [n_vars] the present choice of every variable */
	const uint32_t *some;	/* [n] the area's variables, all distinct */
	uint32_t n;
	const uint16_t *const *also; /* [n_also] answers; if any, a variable takes its choice in one of them or in x */
	uint32_t n_also;
	const double *price;	/* [n_ticks + 1] running sums; NULL: memory is free */
	double room;		/* the most entries of a table */
	double work;  /* roughly the most entries of all tables together: `room` shrinks as they add up */
	double noise;		/* costs grow by random amounts up to this */
	struct rng *rng; /* draws the noise, and which variables keep their choice */
};
/*
 * out[i] becomes the choice of some[i]. Returns the cost of the eliminated variables, with their memory at its prices
 * and with all their edges.
 */
double area_solve(struct area_solver *r, const struct area_task *task, uint16_t *out);
double area_work(const struct area_solver *r); /* entries of all tables that it made, from the beginning on */

#endif
