/*
 * standing.h - keeps the cost and the memory of a model's configuration, and computes what a change would do to them.
 *
 *	struct standing s;
 *	standing_init(&s, m);
 *	standing_set(&s, x);
 *	struct change c = standing_try(&s, vars, to, n);
 *	if (better) standing_take(&s, vars, to, n);
 *
 * A change may be of many variables; it is tried as a whole. The costs of the variables and their edges are added up.
 * Memory is a difference at each tick where a use begins or ends; one pass over all ticks adds these up. It takes
 * most of the time, a few microseconds, so a change of a thousand variables takes hardly longer than one of a single
 * variable.
 */
#ifndef SPACE_NET_STANDING_H
#define SPACE_NET_STANDING_H

#include "space/net/reduced.h"

struct standing {
	const struct reduced *m;
	uint16_t *x;	/* [n_vars] */
	double *usage;	/* [n_ticks] memory in use */
	double cost; /* without the model's constant cost; a forbidden pair counts as REDUCED_NEVER */
	double over; /* usage above the limit, added up over all ticks */
	double *diff;	/* [n_ticks + 1] scratch, all zero between calls */
	uint32_t *mark; /* [n_vars] scratch: the variable's place in the change + 1 */
};

struct change {
	double cost; /* how much the cost would grow */
	double over; /* what `over` would be */
	double priced; /* how much the price of all memory would grow */
	uint32_t worst; /* if over > 0: the tick at which usage would be farthest above the limit ... */
	double excess; /* ... and how far */
};

void standing_init(struct standing *s, const struct reduced *m);
void standing_release(struct standing *s);
void standing_set(struct standing *s, const uint16_t *x); /* computes everything anew */
/* Computes what a change of n variables, var[i] to choice to[i], would do. `price` is as in area.h, or NULL. */
struct change standing_try(struct standing *s, const uint32_t *var, const uint16_t *to, uint32_t n,
	const double *price);
/* Makes the change. */
void standing_take(struct standing *s, const uint32_t *var, const uint16_t *to, uint32_t n);

#endif
