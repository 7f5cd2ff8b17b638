/*
 * cost.h - what a move costs: the difference between two configurations of a space, in one quantity.
 *
 * A kind of decision says in which quantities its moves can be priced, and how (space_kind.prices). A struct cost
 * prices in one quantity. A caller with an objective and limits opens one cost for each, on the same space and device:
 *
 *	region		prices each place that changed by a pair of small modules, and adds the prices up. Prices are
 *			cached by the region's key, in memory and, through the hooks, in a store. Policy `whole`
 *			compiles and runs both programs instead
 *	whole		always runs both programs
 *	compiled	reads a figure from the compiled program, such as the bytes of its temporary memory. It is
 *			exact, asked for once, and cached by the hash of the module
 *	formula		computes a formula (the toy); needs no device
 *
 * Figures are in the base unit of the quantity (base/quantity.h), even if a member is called `seconds`.
 *
 * A price is the cost of one region, for one execution. A move that fails (its outcome is not ok) has no cost. A move
 * is cut, and has not failed, if the time ended before all of it was priced (delta.cut). The prices of its regions up
 * to then are kept, and nothing else of it.
 */
#ifndef COST_COST_H
#define COST_COST_H

#include "cost/spare.h"
#include "device/device.h"
#include "space/space.h"

enum cost_policy { POLICY_REGION, POLICY_WHOLE };

/* A price: the cost of one execution of a region, as caches keep it. */
struct price {
	double delta, se, seconds_a, seconds_b;
	enum outcome outcome;
	enum cost_kind kind;
	uint32_t pairs;
	struct effort effort; /* with which it failed */
};

/*
 * The key of a price is that of its region. The reverse move has the swapped key and the opposite price; hooks
 * see only the one of the two whose key[0] is the smaller.
 */
struct cost_hooks { /* all zero: memory only, nothing recorded */
	void *ctx;
	/* 1 found, 0 not, -1 error */
	int (*lookup)(void *ctx, const uint64_t key[2], struct price *out, struct err *err);
	int (*insert)(void *ctx, const uint64_t key[2], const struct price *p, struct err *err);
	/* Called for every measurement, with its raw times if asked for (r NULL: whole programs), and every failure. */
	int (*measured)(void *ctx, const struct region *r, const struct timing *t, struct err *err);
	int (*failed)(void *ctx, enum outcome o, int signal, const char *detail, struct err *err);
};

struct cost_options { /* all zero is the default */
	int quantity; /* 1 + enum quantity; 0: the first in which the kind can be priced */
	enum cost_policy policy;
	struct precision region; /* precision of a region; 0: target 0.003, 0.1 s */
	struct precision whole;	 /* of a whole-graph pair; 0: target 0.002, 1 s, instances 1 */
	struct cost_hooks hooks;
	uint64_t seed;		 /* order of compiling */
	/*
	 * Where a compiler says what a whole program costs (an estimate): what its regions promise is a gain only if
	 * the whole program says so (said.c).
	 */
	bool ask_wholes;
	/*
	 * Where regions are priced and whole programs only checked: measures what the compiler made of a whole program
	 * even if it did not keep a group that was asked for. It is what the caller would get.
	 */
	bool as_compiled;
	double part_seconds;	 /* charge for a kernel of a large program (space/part.h); 0: the device's; < 0: none */
	/* Both are borrowed and may be NULL. */
	struct spares *spares;	    /* whole programs that took long to compile */
	const struct buf *original; /* the program as given: what a compiler's own program is made from */
};

/*
 * What a more precise cost is worth to the caller. If runs are long, a region is measured until the standard error of
 * its move's cost is below `error`, and no longer than `seconds`, but each side at least once. The reported error is
 * the one that was reached. All zero: a measurement may take as long as it needs.
 *
 * The places of some moves promise too much, so whole programs are asked after them. Where a pair of whole programs
 * would take longer than `pair`, the promise of the places is the cost, and half of it is the error. The caller has to
 * ask the whole program about all that it keeps.
 */
struct worth {
	double error;	/* seconds of the program */
	double seconds; /* that all regions of a move may run for, together */
	double whole;	/* ... and a pair of whole programs, to be sure of it; 0: nobody is in a hurry */
	double pair;	/* that a pair of whole programs may take after places; 0: any time */
};

struct delta {
	enum outcome outcome;
	char detail[512];
	int signal;
	enum cost_kind kind;
	enum quantity quantity;
	double seconds, se;	/* cost(b) - cost(a), per run of the program, in the quantity's base unit */
	bool cut;		/* the time ended first (device_until): the outcome, timeout, is not the move's */
	bool gave_up;		/* b or a was so slow that |seconds| is at least that */
	uint32_t regions, cached, measured; /* how many regions were priced, from a cache, by running */
	double parts, added;	/* how many kernels b has more than a; the seconds charged for them */
	double inside;		/* seconds spent in the device (compiling, running) */
	double compiling;	/* seconds that the dearest region took to compile, both sides; 0: not known */
};

struct cost_totals {
	uint64_t deltas, regions, cached, measured, failed[OUTCOME_COUNT];
	uint64_t asked; /* compilers, for a figure that nobody knew */
	double wall, inside;
};

struct cost;
/* Borrows both; the device may be NULL if the price is a formula. NULL with a sentence: the kind has no such price. */
struct cost *cost_new(struct space *s, struct device *d, const struct cost_options *o, struct err *err);
void cost_free(struct cost *c);

/* cost(b) - cost(a) by the policy. */
int cost_delta(struct cost *c, const uint8_t *a, const uint8_t *b, struct delta *out, struct err *err);
/*
 * A confirmation: the same, measured anew with precision p (NULL: the usual one). The caches keep the more
 * precise of the two.
 */
int cost_confirm(struct cost *c, const uint8_t *a, const uint8_t *b, const struct precision *p,
	struct delta *out, struct err *err);
/*
 * Runs whole programs alternately, with as many instances as p asks for. Sums of regions are compared with this. If
 * `a` is NULL, it is the compiler's own program: cost_options.original as the compiler compiles it by itself.
 */
int cost_whole(struct cost *c, const uint8_t *a, const uint8_t *b, const struct precision *p,
	struct timing *out, struct err *err);
/*
 * Runs the compiler's own program (a) against the default as it was read back (b). Call it first:
 * cost_default_seconds then has its answer from here.
 */
int cost_own(struct cost *c, const struct precision *p, struct timing *out, struct err *err);
/*
 * The same, where every part of the default was read back, so that b would only be a compiled once more. Runs a alone
 * and takes b to be like it.
 */
int cost_own_alone(struct cost *c, struct timing *out, struct err *err);
/* Runs the whole program alone, with nothing to compare it with; `config` NULL: the compiler's own program. */
int cost_alone(struct cost *c, const uint8_t *config, struct timing *out, struct err *err);
/* The cost of the whole program in its default configuration; measured once, then kept. */
int cost_default_seconds(struct cost *c, double *seconds, double *se, struct err *err);
bool cost_default_died(const struct cost *c); /* did it compile, and die when it was run? */
void cost_set_default(struct cost *c, double seconds, double se); /* sets it, if it is known from before */
/*
 * Appends what cost_delta(a, b) would compile now, for device_expect. With copies: what measuring it anew with so
 * many executables of each side would compile. The items of a region stand together, and say which it is; what is
 * known of the others already is added to agenda->settled.
 */
int cost_expect(struct cost *c, const uint8_t *a, const uint8_t *b, uint32_t copies, struct agenda *agenda,
	struct err *err);
/* Was this region priced by `c`? Adds the price, for one execution; INFINITY if it failed. */
bool cost_known(const struct cost *c, const uint64_t key[2], double *seconds);
/*
 * Foresees the seconds that cost_delta(a, b) would take now, and the bytes of the modules that it would compile. The
 * pace (pace.h), seconds by bytes, is set from the time that the program as given took to compile, and corrected by
 * each pair. 0 seconds: the cost is known already, or there is no pace yet. A move that takes much longer than `most`
 * seconds need not be cut out to its end; both figures are then lower bounds.
 */
int cost_takes(struct cost *c, const uint8_t *a, const uint8_t *b, double most, double *seconds, size_t *bytes,
	struct err *err);
double cost_takes_of(const struct cost *c, size_t bytes); /* the same of so many bytes of modules */
void cost_set_pace(struct cost *c, double seconds, size_t bytes);
void cost_note_compiling(struct cost *c, double seconds); /* both sides of a region took so long to compile */
void cost_note_pace(struct cost *c, size_t bytes, double seconds); /* a pair of so many bytes took so long */
/* Sets what costs are worth from now on. In a confirmation a quarter of the error is worth reaching. */
void cost_set_worth(struct cost *c, const struct worth *w);
const struct cost_totals *cost_totals(const struct cost *c);
/* What all costs here are of, and where they come from. */
enum quantity cost_quantity(const struct cost *c);
enum cost_kind cost_kind(const struct cost *c);
/* Are costs exact: does the same question always get the same answer? Then there is nothing to confirm. */
bool cost_exact(const struct cost *c);
/* Is a move's price exactly the difference of two whole programs? Then sums of prices cannot drift. */
bool cost_whole_exact(const struct cost *c);

/* Returns, and sets, the charge for a kernel of this program; 0: none. */
double cost_part(const struct cost *c);
void cost_set_part(struct cost *c, double seconds);

#endif
