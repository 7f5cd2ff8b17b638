/*
 * rival_own.h - what the searches of rival.h share: operators that are measured once, alone.
 */
#ifndef SEARCH_RIVAL_OWN_H
#define SEARCH_RIVAL_OWN_H

#include "cost/price.h"
#include "search/rival.h"

struct program { /* a program in the queue */
	double cost; /* relative to the start */
	uint8_t *config;
};

struct rival {
	struct lab *lab;
	struct space *s;
	struct device *d;
	const struct rival_options *o;
	struct rival_answer *a;
	struct prices known;
	double until;	 /* the clock at which it is over; 0: no limit */
	double nothing;	 /* seconds of a run that does almost nothing */
	double *delta;	 /* per site and choice: by how much it changes the sum; NAN: it cannot be taken */
	struct program *heap;
	size_t n, cap;
	uint64_t *seen; /* hash table of programs, by their hashes */
	size_t n_seen, cap_seen;
};

/* operators.c: measures a run that does almost nothing; before all others. */
int rival_weigh_nothing(struct rival *r, struct err *err);
/* Adds up the costs of operators; one that was met before is not measured again. NAN: one does not compile. */
int rival_add_up(struct rival *r, const struct regions *ops, double *sum, struct err *err);

/* extract.c: fills `config` and the answer from all ways to compute the program. */
int rival_extract(struct rival *r, uint8_t *config, struct err *err);

#endif
