/*
 * climb.h - a walk from answer to better answer of a reduced net, by large neighbourhoods.
 *
 *	struct climb c;
 *	climb_init(&c, m, seed, thread);
 *	while (...)
 *		climb_step(&c);
 *	... c.best, when c.found
 *	climb_release(&c);
 *
 * The same seed and the same number of steps give the same walk.
 */
#ifndef SPACE_NET_CLIMB_H
#define SPACE_NET_CLIMB_H

#include "space/net/region.h"
#include "space/net/standing.h"

struct climb {
	const struct reduced *m;
	struct standing now;
	struct region_solver *solver;
	struct rng rng;
	bool found;	  /* an answer that fits */
	double best_cost; /* infinite before */
	uint16_t *best;	  /* [n_vars] */
	uint64_t steps, since; /* all, and since there was a better one */
	double *price, *sum;   /* per tick, and running sums [n_ticks + 1] */
	double episode_best;
	double start, unit;    /* the first price: of the cost, all memory being in use; and by unit of memory */
	double sink;	       /* a step leaves so much of a price */
	double bold;	       /* how much worse a change may be, of the cost */
	bool force;	       /* variables are forced at times */
	uint16_t *trial;       /* scratch: the configuration with a variable forced */
	uint32_t *some;
	uint16_t *to;
	uint8_t *in;
};

void climb_init(struct climb *c, const struct reduced *m, uint64_t seed, uint64_t stream);
void climb_release(struct climb *c);
void climb_step(struct climb *c);
/* Where there are few answers, tries them all: true, and what is found then is the best. */
bool climb_exhaust(struct climb *c);
/* Goes on from x, which is feasible and costs so much. */
void climb_restart(struct climb *c, const uint16_t *x);
/*
 * Takes over what is better in x: connected places in which it differs from the best, one by one. Returns whether
 * that gave a better answer. What was walked to is left; the walk goes on from the best.
 */
bool climb_learn(struct climb *c, const uint16_t *x);

#endif
