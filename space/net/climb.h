/*
 * climb.h - a walk over answers of a reduced net, from one to a better one, by large neighbourhoods.
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

#include "space/net/area.h"
#include "space/net/sketch.h"

struct climb {
	const struct reduced *m;
	struct standing now;
	struct area_solver *solver;
	struct sketch *sketch;
	double sketching, stepping; /* work spent on sketches and on other steps, in entries of tables */
	uint32_t vain;		   /* sketches since one led to a better answer */
	struct rng rng;
	bool found;	  /* an answer that fits */
	double best_cost; /* infinite before */
	uint16_t *best;	  /* [n_vars] */
	uint64_t steps, since;	/* all steps, and those since the last better answer */
	double *price, *sum;   /* per tick, and running sums [n_ticks + 1] */
	double episode_best;
	/* the first price, as a share of the cost if all memory is used; per unit of memory */
	double start, unit;
	double sink;		   /* the share of a price that remains after a step */
	double bold;		   /* how much worse a change may be, as a share of the cost */
	bool force;		   /* are variables forced at times? */
	uint16_t *trial;       /* scratch: the configuration with a variable forced */
	uint32_t *some;
	uint16_t *to;
	uint8_t *in;
};

void climb_init(struct climb *c, const struct reduced *m, uint64_t seed, uint64_t stream);
void climb_release(struct climb *c);
void climb_step(struct climb *c);
/* If there are few answers, tries them all and returns true: the answer found is then the best one. */
bool climb_exhaust(struct climb *c);
/* Goes on from x, which must be feasible. */
void climb_restart(struct climb *c, const uint16_t *x);
/*
 * Learns from x: takes over, one by one, the connected sets of variables in which x differs from the best answer and
 * is better. Returns whether that gave a better answer. The walk goes on from the best.
 */
void climb_note(struct climb *c);
bool climb_learn(struct climb *c, const uint16_t *x);

#endif
