/*
 * arrange.h - searches for the arrangement of a program that needs least memory (space/arranging.h).
 *
 * First the compiler is asked for its own ways: its default, and its other way (schemas/stage.def). From these the kind
 * looks for a better arrangement by its model. Then the compiler tells how much that one really needs, and the best by
 * that is kept. It is then compiled completely. It is the answer if it needs fewer bytes than the compiler's default,
 * computes exactly the same numbers, and surely takes no more time than the limit allows (--limit, or else the kind's
 * own). The whole interval of the verdict counts; while it leaves that open, the verdict is reached again, from longer
 * runs.
 *
 * On hardware that is not here nothing can be run: bytes are the compiler's, and time is what its model says.
 * Without a device there is only the model: the ways are the kind's own starts, and nothing is compiled or claimed.
 *
 * If other kinds decided before (lab.derived), the program is the optimised one that came of their decisions, and all
 * is compared with the compiler's own program still. Decisions such as fusion change the order of floating-point
 * operations, so then numbers are compared as in every verdict, which knows about rounding. What is made small may then
 * be time (`room`): the other decisions made the program fast, and it is arranged anew only if it needs more memory
 * than it may.
 */
#ifndef SEARCH_ARRANGE_H
#define SEARCH_ARRANGE_H

#include "search/verdict.h"
#include "space/arranging.h"

struct arrange_settings {
	const char *dir; /* the folder for the answer */
	double seconds;	 /* that the search may take */
	double verdict_seconds;
	const char *strategy; /* by its name; NULL: the kind's first */
	uint64_t budget; /* how many arrangements it looks at, so that the answer is reproducible; 0: by the clock */
	uint64_t seed;
	const struct limit *room; /* make the program fast within this limit on bytes; NULL: make its bytes few */
	bool unverified; /* run nothing: neither bits nor time are compared, and nothing is claimed of them */
	bool json, quiet;
};

/* An arrangement that the compiler was asked about. */
struct arrangement {
	const char *name;
	uint8_t *config;
	uint64_t bytes; /* according to the compiler */
	struct space_course course; /* according to the kind's model */
};

struct arrange { /* the search, and its result */
	const struct arrange_settings *set;
	struct lab *lab;
	struct device *device;
	const struct device_options *device_options;
	const struct stage *stage; /* at which it decides; NULL: there is no compiler */
	uint64_t default_bytes; /* of the compiler's own program, according to the compiler */
	/* the program in the compiler's order, as we apply it; in the compiler's other way, if any; what was found */
	struct arrangement way[3];
	uint32_t n_ways;
	struct buf module, executable; /* of what was found, which may not be the answer; empty: it was not compiled */
	uint32_t labels;
	double label_seconds, seconds;
	uint64_t moves;
	uint64_t least;	/* bytes that no arrangement goes below, by the kind's model; 0: that is not known */
	bool proved;	/* ... and the model's best needs no more */
	bool examined; /* what was found was compiled; it is not if it cannot be the answer */
	bool numbers_equal, tuned;
	bool derived;	    /* other decisions came before: numbers may be off by rounding */
	bool beyond;	    /* ... and what they made needs more than the limit on bytes in every arrangement found */
	char why[300];	    /* why its numbers could not be compared; "" if they were */
	bool forgone;	    /* it needs fewer bytes, and the user asked for no other proof */
	bool limited;	    /* there is a limit on time */
	struct limit limit; /* that one */
	struct verdict verdict;
	bool estimated; /* it is for hardware that is not here: time is what this says of both programs */
	char estimator[80];
	double seconds_default, seconds_tuned;
	char sentence[700];
};

/* The device is closed and opened again meanwhile; it is closed when this returns. */
int arrange_search(struct arrange *a, struct err *err);
int arrange_write(struct arrange *a, struct err *err); /* what was found, into the folder */
void arrange_release(struct arrange *a);

/* arrange_estimate.c: is it for hardware that is not here? */
bool arrange_is_estimated(const struct arrange *a);
/* Prices both programs by the compiler's model. */
int arrange_estimate(struct arrange *a, struct compiled *own, struct compiled *tuned, struct err *err);
/* Writes the sentence, and whether the tuned program, which saves this share of the bytes, is the answer. */
void arrange_judge_estimate(struct arrange *a, double saved, const char *dflt, const char *less);

/* arrange_prove.c: a->executable, a->numbers_equal or why not, and prices where it is estimated. */
int arrange_prove(struct arrange *a, struct err *err);

/* arrange_page.c: report.html, config.json and the summary. */
void arrange_page(struct arrange *a, struct buf *out);
void arrange_config(struct arrange *a, struct buf *out);
void arrange_summary(const struct arrange *a, struct buf *out);

#endif
