/*
 * sum.h - sums up, step by step, what a chain's configuration costs more than the default.
 *
 * A sample holds the difference between two configurations. The sum along a chain becomes known when the chain is at
 * the default, where it is 0, or when an anchor (a measurement of the whole program) sets it. It stays known until a
 * step of unknown cost or a jump. Where a step is known to be faster by something or more, the sum is what the chain
 * costs at most. Each step adds its variance.
 */
#ifndef STORE_SUM_H
#define STORE_SUM_H

#include "store/replay.h"
#include "store/sql.h"

struct sum { /* of a chain, before the present step */
	bool known;
	double value, variance;
	double base;	   /* seconds of the default; 0: unknown */
	uint64_t dflt;	   /* hash of the default */
	uint64_t expected; /* hash the next step must find, else it jumped */
};

struct sums { /* all zero is empty */
	struct store *s;
	struct sum *chain;
	uint32_t n_chains;
	sqlite3_stmt *anchor;
	int has_anchor;
};

int sums_open(struct sums *u, struct store *s, const struct run_info *r, struct err *err);
/* Call this with every step in turn: it returns the chain's sum before the step, or NULL with a sentence. */
struct sum *sums_before(struct sums *u, const struct step *t, struct err *err);
/* Then call this, which adds the step. */
void sums_take(struct sums *u, const struct step *t);
void sums_close(struct sums *u);

/*
 * The standard error of the difference between two choices of a sample that was taken where the choice was `present`.
 * All were measured against the present one, but are stored relative to the reference. So where these are two, the
 * errors of all others contain that of the present one. It is taken out again: it is no part of a difference to the
 * present choice, and of one to the reference it is a part once. Not finite if an error is not known.
 */
double sample_se(const struct sample *x, uint8_t present, uint8_t from, uint8_t to);

/* Writes the configuration after the step into `out`, n_sites bytes. */
void step_after(const struct step *t, uint8_t *out);

#endif
