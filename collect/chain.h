/*
 * chain.h - one Markov chain over one program's configurations, and what it must remember.
 *
 * A sweep visits all sites of a chain once, in an order that is drawn anew for each sweep. Sites that are priced by
 * whole programs come last: in a language model's training step one of them takes as long as sixty others. The
 * generators of orders and draws are seeded by (seed, chain, sweep) and (seed, chain, step). So a chain's position is
 * all of its random state: a chain that is resumed after a kill takes exactly the steps that it would have taken.
 *
 * A step is computed beside the chain (chain_try). It becomes part of the chain only after it is stored
 * (chain_take), so after a failure the chain still agrees with the store.
 *
 * The chain keeps the running sum of the differences of the choices it drew. Before every sweep, except the
 * first sweep from the default, the whole program is measured against the default: the anchor. If the two
 * disagree by more than their errors and DRIFT_BOUND allow, the sum goes on from the measured value, and the
 * store is told. An anchor belongs to the sweep's first step: it is stored with that step or, after a kill,
 * measured again.
 */
#ifndef COLLECT_CHAIN_H
#define COLLECT_CHAIN_H

#include "collect/gibbs.h"
#include "lab/lab.h"

#define DRIFT_BOUND 0.02 /* a share of the default's cost; a smaller drift is ignored */
#define CHAIN_FORMAT 3	 /* of the saved state, and of what a draw counts */

struct chain_state { /* saved with every step */
	uint32_t sweep, pos, steps;
	double tau, default_seconds;
	double noise;		     /* of one difference, seconds: what tau was chosen by */
	bool known;	      /* is `running` known? Not before a random start's first anchor */
	double running, running_var; /* cost relative to the default, and its variance */
	double best;		     /* lowest cost relative to the default seen: by an anchor, or by exact sums */
};

struct chain {
	struct lab *lab;
	uint32_t number;	/* in the run */
	uint64_t seed;
	bool random;		/* how it started */
	struct chain_state at;
	uint8_t *config;	/* as the store has it */
	uint32_t *sites, n_sites; /* those visited, in this sweep's order */
	uint32_t *visited;	/* the same, ascending */
	bool busy;		/* a worker is at it, since `begun` on the clock */
	double begun, spent;	/* seconds that went into its steps since the plan was opened, */
	uint32_t taken;		/* ... and how many steps these were */
	uint32_t known;		/* steps in a row that measured nothing */
};

struct chain_step { /* one step, not yet part of the chain */
	struct sample x;
	struct anchor a;
	bool anchored;		  /* `a` is filled */
	bool cut;		  /* the time was over (device_until) before it was worked out: it is nothing */
	uint32_t sweep;
	bool begins;		  /* it is the sweep's first */
	struct chain_state after;
};

/* `visited` (n ascending sites) is copied. The configuration and state are set by the caller. */
void chain_init(struct chain *c, struct lab *lab, uint64_t seed, uint32_t number, const uint32_t *visited,
	uint32_t n);
void chain_release(struct chain *c);
/* Draws the order of the present sweep; to be called after at.sweep was set. */
void chain_order(struct chain *c);

/*
 * Measures the whole program against the default and sets right the running sum in `at`. If the time was over before it
 * was measured, *cut.
 */
int chain_anchor(const struct chain *c, struct chain_state *at, struct anchor *a, bool *cut, struct err *err);
/* Works out the next step, with the anchor before it where one is due; the chain stays as it is. */
int chain_try(const struct chain *c, bool anchors, struct chain_step *t, struct err *err);
void chain_take(struct chain *c, const struct chain_step *t);

void chain_save(const struct chain_state *at, struct buf *out);
int chain_load(struct chain *c, struct cursor *in, struct err *err);

#endif
