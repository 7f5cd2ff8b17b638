/*
 * verdict.h - the final answer: is the tuned program really faster than the compiler's default?
 *
 * Everything the search believed was measured on a worker it had used for long, in pieces. The verdict
 * asks anew: fresh workers, one after the other, and on each the program as the compiler compiles it by itself
 * against the tuned one, whole, alternating, two loaded instances of each side in random order. The first also compares the
 * numbers of both on several kinds of input (search/numbers.h). Each compiles for itself, unless that took more than twice the running:
 * then all load what the first one compiled.
 *
 * The interval is from what the workers differ by, for whoever runs the program later has a process of his own;
 * and from what bench/again.py found beyond that: six workers of one minute agree with each other better than
 * with other processes an hour later. Only if the interval shows a gain and the numbers agree is the tuned
 * program the answer; otherwise it is the default.
 */
#ifndef SEARCH_VERDICT_H
#define SEARCH_VERDICT_H

#include "lab/lab.h"
#include "search/numbers.h"

#define VERDICT_COVERAGE 0.95

struct verdict { /* all zero is empty */
	bool tuned;		  /* the tuned program is the answer */
	bool measured;		  /* there was something to measure */
	enum outcome outcome;	  /* of running both */
	struct numbers numbers;	  /* of the compiler's own program against the tuned one */
	enum cost_kind kind;
	double gain, low, high;	  /* share of the default's time saved, with its interval */
	double default_seconds, tuned_seconds;
	double default_faults, tuned_faults; /* pages of memory that each run maps in */
	uint32_t instances, pairs, compiled; /* compiled: workers that compiled for themselves */
	char sentence[600];
	char compared[400]; /* on which inputs the numbers agree, and how closely; empty where none were compared */
	char advice[400]; /* what would help either program; mostly empty */
};

/*
 * `config` against the compiler's default on fresh devices opened with `o` (NULL: a formula).
 * `seconds` of running at most, in all.
 */
int verdict_reach(struct verdict *v, struct lab *lab, const uint8_t *config, const struct device_options *o,
	double seconds, struct err *err);

#endif
