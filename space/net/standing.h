/*
 * standing.h - a configuration of a model, with its cost and memory; tells what a change would do.
 *
 *	struct standing s;
 *	standing_init(&s, m);
 *	standing_set(&s, x);
 *	struct change c = standing_try(&s, vars, to, n);
 *	if (better) standing_take(&s, vars, to, n);
 *
 * A change of many variables is tried as a whole: the costs of the variables and their edges, and memory as differences
 * where uses begin and end, added up once over all ticks. So one variable takes as long as a thousand: a few
 * microseconds.
 */
#ifndef SPACE_NET_STANDING_H
#define SPACE_NET_STANDING_H

#include "space/net/reduced.h"

struct standing {
	const struct reduced *m;
	uint16_t *x;	/* [n_vars] */
	double *usage;	/* [n_ticks] */
	double cost; /* without the model's constant cost; a forbidden pair counts REDUCED_NEVER */
	double over; /* usage above the limit, added up over ticks */
	double *diff;	/* [n_ticks + 1] scratch, all zero between calls */
	uint32_t *mark; /* [n_vars] scratch: place in the change + 1 */
};

struct change {
	double cost; /* how much the cost would grow */
	double over; /* what `over` would be */
	double priced; /* how much the price of all memory would grow */
	uint32_t worst; /* the tick that would be exceeded most, if over > 0 */
	double excess; /* how much it would be exceeded */
};

void standing_init(struct standing *s, const struct reduced *m);
void standing_release(struct standing *s);
void standing_set(struct standing *s, const uint16_t *x); /* computes everything anew */
/* `price`, running sums as in region.h, may be NULL. */
struct change standing_try(struct standing *s, const uint32_t *var, const uint16_t *to, uint32_t n,
	const double *price);
void standing_take(struct standing *s, const uint32_t *var, const uint16_t *to, uint32_t n);

#endif
