/*
 * trial.h - what the simple strategies share: they try orders one by one, and the trial keeps the best.
 *
 * Call trial_begin. While trial_more says so, change the program's orders and call trial_bytes. Call trial_end.
 */
#ifndef SPACE_ORDER_TRIAL_H
#define SPACE_ORDER_TRIAL_H

#include "space/order/bound.h"
#include "space/order/strategy.h"

struct trial {
	struct program *p;
	const struct tune_options *o;
	struct rng *rng;
	struct tune_result *out;
	uint32_t **best;
	double began;
	uint64_t bytes; /* bytes of the best orders so far */
	struct bound bound;
};

/* Begins with the orders that the program has; they are the first that are tried. */
void trial_begin(struct trial *t, struct program *p, const struct tune_options *o, struct rng *r,
	struct tune_result *out);
/* Settles the orders that the program has now, and returns their bytes. If they are the best so far, keeps a copy. */
uint64_t trial_bytes(struct trial *t);
/* Is there time for another try, and could it be better? */
bool trial_more(struct trial *t);
/* Gives the program the best orders, fills in the result, and frees the trial. */
void trial_end(struct trial *t);

/* The number of steps of the longest computation. */
uint32_t trial_longest(const struct trial *t);
/*
 * Tries the best orders so far with a random share of their steps shifted by random distances, and returns the bytes.
 * `shift` is scratch for so many steps as trial_longest says.
 */
uint64_t trial_shift(struct trial *t, double *shift);

struct brkga_options {
	uint32_t members, elite, mutants;
	double bias; /* with which a child's key comes from its elite parent */
	bool from_nothing; /* no member begins with the orders that the program has */
};
#define BRKGA_DEFAULTS {.members = 100, .elite = 20, .mutants = 15, .bias = 0.7}
struct prior {
	/* draws orders of the whole program; `key` gets the steps' places, line by line, as shares of their line */
	void (*draw)(void *with, struct trial *t, double *key);
	void (*told)(void *with, uint64_t bytes); /* what the program needs in the orders that were drawn last */
	void *with;
};
/* Runs brkga, with mutants drawn from the prior if there is one. */
void brkga_with(struct trial *t, const struct brkga_options *o, const struct prior *prior);

/* Strategies of strategy.h. Each tries orders until trial_more says no. */
void brkga_run(struct trial *t);
void regal_run(struct trial *t);
void sweep_run(struct trial *t);
void random_run(struct trial *t);

/* Draws orders by the learnt scheduler, then tunes the best of them (tune.h). */
void guided_run(struct program *p, const struct tune_options *o, struct rng *r, struct tune_result *out);

#endif
