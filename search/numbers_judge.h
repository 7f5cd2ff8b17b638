/*
 * numbers_judge.h - what the comparisons of two programs say (numbers.h has the yardsticks).
 */
#ifndef SEARCH_NUMBERS_JUDGE_H
#define SEARCH_NUMBERS_JUDGE_H

#include "search/numbers.h"

#define NUMBERS_NUDGES 4 /* the most, of each kind of input */
#define NUMBERS_LEAST 4	 /* units in the last place */

/* The comparisons on one kind of input. */
struct trial {
	struct comparison tuned;    /* against the compiler's own */
	struct comparison nudged[NUMBERS_NUDGES]; /* the compiler's own against itself on nudged inputs */
	/* Empty until wanted: the default as read back against choice 0 everywhere; */
	struct comparison plain;
	/* ... the program in 64 bits against the compiler's own, the tuned one, and the tuned one in 64 bits */
	struct comparison exact[3];
	struct comparison rounded[NUMBERS_NUDGES]; /* ... and against the compiler's own, both on nudged inputs */
	double long_way; /* how far rounding takes a number on the longest way, in units of a float's last place */
};

/* Judges the outputs on one kind of input; true if all differ by no more than is allowed. */
bool numbers_judge(const struct trial *t, struct numbers_on *on);

/* Is the output that `on` speaks of too far off, and the same in 64 bits? Then it is a matter of rounding. */
bool numbers_only_rounded(const struct trial *t, const struct numbers_on *on);

#endif
