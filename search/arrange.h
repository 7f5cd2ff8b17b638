/*
 * arrange.h - a search for the order of a program that needs least memory (space/order).
 *
 * The compiler's own ways are asked for first: its default, and its other schedulers (schemas/stage.def). From these a
 * strategy (space/order/strategy.h) looks for a better order by our model; then the compiler says what the order really needs, and
 * the best by its word is kept. The answer is compiled for real: it is taken if it needs fewer bytes than the compiler's default,
 * computes the very same bits, and takes no more time than the limit allows (--limit; without one the kind's own).
 */
#ifndef SEARCH_ARRANGE_H
#define SEARCH_ARRANGE_H

#include "search/verdict.h"
#include "space/order/strategy.h"

struct arrange_settings {
	const char *dir; /* for the answer */
	double seconds;	 /* of searching */
	double verdict_seconds;
	const struct order_strategy *strategy; /* NULL: the first */
	uint64_t budget; /* orders that are looked at, instead of seconds, so that the answer is always the same; 0: by the clock */
	uint64_t seed;
	bool json, quiet;
};

/* One order that was asked for. */
struct arrangement {
	const char *name;
	uint64_t bytes;	 /* by the compiler */
	uint64_t model;	 /* by us */
	double *alive;	 /* bytes at every step of the entry, by us */
	uint32_t n;
};

struct arrange { /* all there is to tell */
	const struct arrange_settings *set;
	struct lab *lab;
	struct device *device;
	const struct device_options *device_options;
	uint64_t default_bytes; /* of the compiler's own program, by the compiler */
	struct arrangement way[4]; /* the default chained, other ways, what was found last */
	uint32_t n_ways;
	bool better; /* another way is better than the default */
	uint32_t labels;
	double label_seconds, seconds;
	uint64_t moves;
	bool bits_equal, tuned;
	bool limited;	    /* there is a limit on time */
	struct limit limit; /* that one */
	struct verdict verdict;
	char sentence[400];
};

/* The device goes on and off during it: it is closed when this returns. */
int arrange_search(struct arrange *a, struct err *err);
void arrange_release(struct arrange *a);

/* arrange_page.c: report.html, config.json and the summary. */
void arrange_page(struct arrange *a, struct buf *out);
void arrange_config(struct arrange *a, struct buf *out);
void arrange_summary(const struct arrange *a, struct buf *out);

#endif
