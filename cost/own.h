/*
 * own.h - what the files of this room share; nobody else includes it.
 *
 *	cost.c	   moves, by region		pair.c	  two programs side by side
 *	path.c	   moves, site after site	ledger.c  prices that are known, and failures
 *	whole.c	   whole programs		expect.c  what a move would compile
 *	figure.c   figures of whole programs		said.c	  when these take the place of regions
 *	alike.c	   the numbers of two sides
 */
#ifndef COST_OWN_H
#define COST_OWN_H

#include "cost/cost.h"
#include "cost/cuttings.h"
#include "cost/pace.h"
#include "cost/price.h"

#define COST_LATELY 0.2 /* the weight of the last one in a mean of what was lately */

struct cost {
	struct space *space;
	struct device *device; /* NULL: the price is a formula */
	enum quantity quantity;
	enum pricing how;
	bool said;	       /* regions are what is priced, and the compiler says what whole programs cost (said.c) */
	size_t program;	       /* bytes of the program in its default configuration; 0: not known yet */
	double regions, wholes; /* bytes of all regions that were priced; of programs that were asked about besides */
	struct cost_options o;
	double compiling; /* seconds that both sides of a region took lately, on the mean */
	double part; /* charge for a kernel of this program */
	struct worth worth;
	struct pace pace; /* of regions that are priced for the first time */
	double program_seconds; /* that the compiler took for the program when it was opened; 0: not known */
	double side_seconds; /* that compiling a whole program took lately, on the mean; 0: not known */
	struct rng rng;
	struct prices prices;	/* by the key of a region, or the hash of a module */
	struct prices figures;	/* by the hash of a configuration */
	struct cuttings cuttings;
	struct spares sides; /* of regions, as long as they may be measured again */
	struct cost_totals totals;
	double default_seconds, default_se; /* 0: not measured yet */
	bool default_died;
};

/* The fate of programs that are measured together: an outcome, and why. All zero: no failure so far. */
struct fate {
	enum outcome outcome;
	int signal;
	char detail[512];
};

/* Compiles a module and adds to the totals. The fate says why if it cannot be run. -1: there is no device. */
int cost_compile(struct cost *c, enum compile_how how, const struct buf *module, unsigned want, struct compiled *out,
	struct fate *fate, struct err *err);
/* The same for a whole program: loads it if it was kept. If it would not fit into memory, the fate is oom. */
int cost_compile_whole(struct cost *c, enum compile_how how, const struct buf *module, unsigned want,
	struct compiled *out, struct fate *fate, struct err *err);
/* Drops what is still in the device, and releases. */
int cost_drop(struct cost *c, struct compiled *p, struct err *err);
/*
 * Do both sides compute the same numbers, as far as rounding allows? `module` is what side 0 was compiled from. If not,
 * the fate says so. -1: there is no device.
 */
int cost_alike(struct device *d, const struct buf *module, const struct compiled side[2], struct fate *fate,
	struct err *err);
/* Compiles both sides in random order, runs them alternately and drops them; after a crash tries once more. */
struct sides {
	const struct buf *module[2];
	const uint8_t *config[2]; /* the choices that the compiler has to honour, or NULL */
	bool own;		  /* is side 0 compiled with all of the compiler's own decisions? */
	bool alike;		  /* are the numbers of both sides compared first? */
	bool whole;		  /* whole programs, which are kept where they took long to compile (spare.h) */
};
/*
 * The regions whose prices are the cost of a move (path.c); `out` is empty before. If they have more than so many bytes
 * they may not be all there, and out->beyond says so; 0: however many they have.
 */
int cost_regions(struct cost *c, const uint8_t *a, const uint8_t *b, size_t affordable, struct regions *out,
	struct err *err);
/*
 * Those of the move's sites one after the other: 1. Or 0 and some of them, where they come to `limit` bytes, or where
 * more than `most` would have to be cut out for it.
 */
int cost_path(struct space *s, const uint8_t *a, const uint8_t *b, size_t limit, double most, struct regions *out,
	struct err *err);
int cost_pair(struct cost *c, const struct sides *s, const struct precision *p, struct timing *out,
	struct err *err);
/* The mean of what was lately, once `now` is added; a mean of 0: nothing was before. */
static inline double cost_lately(double mean, double now)
{
	return mean > 0 ? mean + COST_LATELY * (now - mean) : now;
}
bool cost_is_kept(struct cost *c, const struct buf *program); /* is a whole program here in compiled form? */
/* Adds the seconds that pricing a region takes, and the bytes that it compiles for that; nothing if it is known. */
int cost_region_takes(struct cost *c, const struct region *r, double *seconds, size_t *bytes, struct err *err);
/* Drops the pair of whole programs after the places of a move, if it takes too long (struct worth); *guess: it did. */
int cost_by_places(struct cost *c, struct regions *r, bool *guess, struct err *err);
/* How precisely a region is measured: as the caller asks, but not longer than the answer is worth. */
struct precision cost_region_precision(const struct cost *c, const struct region *r, size_t regions,
	const struct precision *p);
/* Measures a pair for a plan (agenda.measure); it uses nothing but the device, so any thread may call it. */
void cost_measure_ahead(struct device *d, const struct errand *e, struct timing *out);
/* Finds a price by key, in the table and the store: 1 found; 0 not found, or a failure worth another try; -1 error. */
int cost_find(struct cost *c, const uint64_t key[2], struct price *out, struct err *err);
/* Puts a price into the table and the store, unless a more precise one is there. */
int cost_keep(struct cost *c, const uint64_t key[2], struct price p, struct err *err);
/*
 * Finds the cost of the whole program in a configuration, by formula or as compiled; `config` NULL: of the compiler's
 * own program. *asked tells whether the compiler had to be asked. If the program has no such figure, the fate says so.
 */
int cost_figure(struct cost *c, const uint8_t *config, double *value, bool *asked, struct fate *fate, struct err *err);
bool cost_knows_figure(const struct cost *c, const uint8_t *config); /* was it asked for here before? */
/* said.c: is the whole program asked about instead of these regions, because they are larger? */
int cost_asks_instead(struct cost *c, const struct regions *r, bool *out, struct err *err);
/* ... or is it also asked about after them, because they promise a gain over `a`, and it is affordable? */
bool cost_asks_after(struct cost *c, const uint8_t *a);
/* Checks whether the compiler honoured the choices of `config`; if not, the fate is not_honoured. */
int cost_check(struct cost *c, const uint8_t *config, const struct compiled *p, struct fate *fate, struct err *err);
int cost_failed(struct cost *c, enum outcome o, int signal, const char *detail, struct err *err);
/* Is the outcome only that the time was over? */
bool cost_cut(const struct cost *c, enum outcome o);

#endif
