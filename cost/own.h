/*
 * own.h - what cost.c (moves, by region), whole.c (whole programs) and figure.c (figures of them) share; nobody else
 * includes it.
 */
#ifndef COST_OWN_H
#define COST_OWN_H

#include "cost/cost.h"
#include "cost/price.h"

struct cost {
	struct space *space;
	struct device *device; /* NULL: the price is a formula */
	enum quantity quantity;
	enum pricing how;
	struct cost_options o;
	double part; /* charge for a kernel of this program */
	struct worth worth;
	struct rng rng;
	struct prices prices, figures; /* by region or module; by configuration */
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
/* Prices by key, in the table and the store: 1 found, 0 not, or it failed and is worth another try. */
int cost_find(struct cost *c, const uint64_t key[2], struct price *out, struct err *err);
/* Keeps one, but for one that is less precise than what is there. */
int cost_keep(struct cost *c, const uint64_t key[2], struct price p, struct err *err);
/*
 * What the whole program costs in a configuration, for prices by formula or compiled; NULL: the compiler's own program.
 * *asked: the compiler was. A program that has no such figure is a fate.
 */
int cost_figure(struct cost *c, const uint8_t *config, double *value, bool *asked, struct fate *fate, struct err *err);
/* Were the choices of `config` kept in what was compiled? If not, that is the fate. */
int cost_check(struct cost *c, const uint8_t *config, const struct compiled *p, struct fate *fate, struct err *err);
int cost_failed(struct cost *c, enum outcome o, int signal, const char *detail, struct err *err);

#endif
