/*
 * own.h - what cost.c (moves, by region) and cost_whole.c (whole programs) share; nobody else
 * includes it.
 */
#ifndef COST_OWN_H
#define COST_OWN_H

#include "cost/cost.h"
#include "cost/price.h"

struct cost {
	struct space *space;
	struct device *device; /* NULL: the space has a formula */
	struct cost_options o;
	double part; /* charge for a kernel of this program */
	struct rng rng;
	struct prices prices;
	struct cost_totals totals;
	double default_seconds, default_se; /* 0: not measured yet */
};

/* What became of programs put side by side: all zero is fine so far. */
struct fate {
	enum outcome outcome;
	int signal;
	char detail[512];
};

/* Compiles a module; false, with the fate, if it cannot be run. Adds to the totals. -1: no device. */
int cost_compile(struct cost *c, enum compile_how how, const struct buf *module, unsigned want, struct compiled *out,
	struct fate *fate, struct err *err);
/* The same for a whole program, loaded where it is kept; one for which there is no memory is not to be run. */
int cost_compile_whole(struct cost *c, enum compile_how how, const struct buf *module, unsigned want, struct compiled *out,
	struct fate *fate, struct err *err);
/* Drops what is still in the device, and releases. */
int cost_drop(struct cost *c, struct compiled *p, struct err *err);
/* Both sides compiled in random order, run alternately, dropped; a crash is tried once more. */
struct sides {
	const struct buf *module[2];
	const uint8_t *config[2]; /* choices to be honoured, or NULL */
	bool own;		  /* side 0 is compiled as the compiler does it by itself */
	bool alike;		  /* their numbers are compared first */
};
int cost_pair(struct cost *c, const struct sides *s, const struct precision *p, struct timing *out,
	struct err *err);
int cost_failed(struct cost *c, enum outcome o, int signal, const char *detail, struct err *err);

#endif
