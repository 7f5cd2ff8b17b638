/*
 * verdict.h - the final answer: is the tuned program really faster than the compiler's default?
 *
 * What the search believes was measured in pieces, on a worker that it had used for long. The verdict measures anew, on
 * fresh workers, one after the other. Each runs two whole programs alternately: the compiler's own against the tuned
 * one, with two loaded instances of each side in random order. The first worker also compares the numbers of both on
 * several kinds of input (search/numbers.h). Each worker compiles for itself, unless that took more than twice as long
 * as the running: then all load what the first one compiled, several side by side (stations.h), and if loading takes
 * long as well, each loads one instance of each side.
 *
 * If runs are long, a worker runs each side once. If six such workers would take too long (longer than
 * --verdict-seconds, or than the search; a minute in any case), there are fewer of them, down to one. Few workers
 * cannot show how much workers differ, so that is assumed, and makes the interval wide. If they lean towards a gain but
 * are not sure, more are asked, up to four times the time. This second look can be wrong once more, as rarely as the
 * first. Whole programs that took long to compile are not compiled again: all workers load what the search kept
 * (cost/spare.h).
 *
 * A figure that is exact, as bytes of memory are, is asked for once, on the first worker, for the compiler's own
 * program and for the tuned one. If nothing is to be timed there is no second worker, but the numbers are still
 * compared.
 *
 * The compiler's own program and its own decisions as we apply them can have different estimates, because not all of
 * its passes run again on ours. If ours is lower, no decision gains that. The tuned program is then compared with ours.
 *
 * The interval comes from how much the workers differ, because the user will run the program in yet another process. To
 * that is added what bench/again.py found: six workers of one minute agree with each other better than with processes
 * an hour later. The tuned program is the answer only if the interval shows a gain, every limit is surely kept, and the
 * numbers agree; otherwise it is the default. There is one exception: if the default itself breaks a limit, a tuned
 * program that keeps them all is the answer even if it is no gain.
 */
#ifndef SEARCH_VERDICT_H
#define SEARCH_VERDICT_H

#include "base/stat.h"
#include "lab/lab.h"
#include "search/mapped_in.h"
#include "search/numbers.h"

#define VERDICT_COVERAGE 0.95
#define VERDICT_SECONDS 20.0
#define VERDICT_WORKERS 6

/* The cost of both programs in one quantity. */
struct weighed {
	bool known, exact; /* exact: asked for once; low and high equal change */
	enum cost_kind kind;
	double dflt, tuned;
	double change, low, high; /* how much more the tuned one costs, as a share of the default, and its interval */
};

enum limit_state { LIMIT_KEPT, LIMIT_UNSURE, LIMIT_BROKEN };
struct verdict_limit {
	struct limit limit;
	struct weighed weighed;
	enum limit_state state;
	bool default_breaks;
};

struct verdict { /* all zero is empty */
	bool tuned;		  /* the tuned program is the answer */
	bool forgone;		  /* no whole program was run: nothing is claimed, but what was found is written */
	struct estimate believed; /* then: what it costs more by its parts */
	bool measured;		  /* there was something to measure */
	bool few;		  /* by fewer workers than there should be, for one run takes long */
	bool prepares;		  /* the tuned program takes other parameters than the user's (space_ops.prepares) */
	enum outcome outcome;	  /* of running both */
	struct numbers numbers;	  /* of the compiler's own program against the tuned one */
	enum cost_kind kind;
	uint32_t cores;		  /* that both ran on; 0: they were not pinned */
	/* what it is compared with, where that is no compiler's default: a start of the space; else NULL */
	const char *reference;
	const char *by_hand;	  /* ... what such a start is called */
	char estimator[80];	  /* as in device_info: whose estimate it is; "": it is no estimate */
	/*
	 * By what share the compiler's decisions as we apply them are estimated below its own program. If it is not 0,
	 * they are the default that the tuned program is compared with.
	 */
	double restated;
	enum quantity quantity;	  /* of the objective, like the following */
	double gain, low, high;	  /* the share of the default's cost that is saved, with its interval */
	double default_seconds, tuned_seconds; /* in the base unit of the quantity */
	struct verdict_limit limit[LIMITS_MOST];
	uint32_t n_limits;
	struct mapped_in mapped_in;
	uint32_t instances, pairs, compiled; /* compiled: workers that compiled for themselves */
	char sentence[900];
	char compared[800]; /* on which inputs the numbers agree, and how closely; empty where none were compared */
	char advice[600]; /* what would help either program; mostly empty */
};

/* Sets the sentence (verdict_words.c). */
void verdict_words(struct verdict *v);
/* If the tuned program takes other parameters than the user's, returns what its users must know; else NULL. */
const char *verdict_attention(const struct verdict *v);
/* Writes the clause about a limit: "within the limit bytes:+0% (1.2 MiB, -3.10%)". */
void verdict_limit_text(const struct verdict_limit *l, struct buf *out);

struct verdict_options {
	const struct device_options *device; /* how fresh devices are opened; NULL: a formula */
	double seconds;			     /* of running, in all; 0: VERDICT_SECONDS, or what fits the program */
	/* seconds that the search took: where runs are long, so much is in proportion */
	double searched;
};

/* Puts all into words; numbers that were compared afterwards are part of the verdict, too. */
void verdict_tell(struct verdict *v);
/* In place of a verdict where whole programs cannot be run here (lab.parts_only): what is believed, and no claim. */
void verdict_forgo(struct verdict *v, const struct lab *lab, const uint8_t *config, const struct estimate *believed);
/* `config` against the compiler's default, or the lab's reference. */
int verdict_reach(struct verdict *v, struct lab *lab, const uint8_t *config, const struct verdict_options *o,
	struct err *err);

/* verdict_interval.c: the cost of both programs, from what n workers said, where there should be `wanted`. */
struct weighed verdict_weigh(const struct verdict *v, const struct timing *t, size_t n, size_t wanted);
/* How many workers there are in all, where one takes so many seconds to time both sides. */
size_t verdict_workers(const struct verdict_options *o, double each);
/* ... after the first n, fewer than there should be: more than n, if these lean towards a gain and are not sure. */
size_t verdict_more_workers(const struct verdict *v, const struct verdict_options *o, double each,
	const struct timing *t, size_t n);
/*
 * Sets gain and interval, and all that is a mean, from what n workers said, where there should be `wanted`. Public for
 * tests, which know what the workers should lead to.
 */
void verdict_interval(struct verdict *v, const struct timing *t, size_t n, size_t wanted);

#endif
