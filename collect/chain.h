/*
 * chain.h - one Markov chain over one program's configurations, and what it must remember.
 *
 * A chain visits all its sites once per sweep, in an order drawn anew for each sweep. Both the order
 * and every draw come from generators seeded by (seed, chain, sweep) and (seed, chain, step), so the
 * whole of a chain's random state is its position: a chain resumed after a kill takes exactly the
 * steps it would have taken.
 *
 * The chain also keeps the running sum of the differences it accepted. Once per sweep the whole
 * program is measured against the default (the anchor); when the two disagree by more than their
 * errors and DRIFT_BOUND allow, the sum goes on from the measured value, and the store is told.
 */
#ifndef COLLECT_CHAIN_H
#define COLLECT_CHAIN_H

#include "collect/gibbs.h"
#include "collect/lab.h"

#define DRIFT_BOUND 0.02 /* of the default's cost; below it a drift is not worth an event */

struct chain_state { /* saved with every step */
	uint32_t sweep, pos, steps;
	double tau, default_seconds;
	double running, running_var; /* cost relative to the default, and its variance */
};

struct chain {
	struct lab *lab;
	uint32_t number;	/* in the run */
	uint64_t seed;
	struct chain_state at;
	uint8_t *config;	/* as the store has it */
	uint32_t *sites, n_sites; /* those visited, in this sweep's order */
	uint32_t *visited;	/* the same, ascending */
	double best;		/* lowest running seen */
	bool busy;		/* a worker is at it */
};

/* `visited` (n ascending sites) is copied. The configuration and state are set by the caller. */
void chain_init(struct chain *c, struct lab *lab, uint64_t seed, uint32_t number, const uint32_t *visited,
	uint32_t n);
void chain_release(struct chain *c);
/* Draws the order of the present sweep; to be called after at.sweep was set. */
void chain_order(struct chain *c);

/* Takes one step and fills `x`; the chain's own state moves on. True through *swept at a sweep's end. */
int chain_step(struct chain *c, struct sample *x, bool *swept, struct err *err);
/* Measures the whole program against the default and re-anchors the running sum where needed. */
int chain_anchor(struct chain *c, struct anchor *a, struct err *err);

void chain_save(const struct chain *c, struct buf *out);
int chain_load(struct chain *c, struct cursor *in, struct err *err);

#endif
