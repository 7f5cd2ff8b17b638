/*
 * arrange.h - searches for the order of a program that needs least memory (space/order).
 *
 * First the compiler is asked for its own ways: its default, and its other schedulers (schemas/stage.def). From these a
 * strategy (space/order/strategy.h) looks for a better order by our model. Then the compiler tells how much that order
 * really needs, and the best order by that is kept. It is then compiled completely. It is the answer if it needs fewer
 * bytes than the compiler's default, computes the same bits, and takes no more time than the limit allows (--limit, or
 * else the kind's own).
 */
#ifndef SEARCH_ARRANGE_H
#define SEARCH_ARRANGE_H

#include "search/verdict.h"
#include "space/order/strategy.h"

struct arrange_settings {
	const char *dir; /* the folder for the answer */
	double seconds;	 /* that the search may take */
	double verdict_seconds;
	const struct order_strategy *strategy; /* NULL: the first */
	uint64_t budget; /* orders that are looked at, instead of seconds, so that the answer is always the same; 0: by the clock */
	uint64_t seed;
	bool json, quiet;
};

/* An order that the compiler was asked about. */
struct arrangement {
	const char *name;
	uint64_t bytes;	 /* according to the compiler */
	uint64_t model;	 /* according to our model */
	double *alive;	 /* bytes at each step of the entry, according to our model */
	uint32_t n;
};

struct arrange { /* the search, and its result */
	const struct arrange_settings *set;
	struct lab *lab;
	struct device *device;
	const struct device_options *device_options;
	uint64_t default_bytes; /* of the compiler's own program, according to the compiler */
	struct arrangement way[4]; /* the default's own order, the other ways, and last the one that was found */
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

/* The device is closed and opened again meanwhile; it is closed when this returns. */
int arrange_search(struct arrange *a, struct err *err);
void arrange_release(struct arrange *a);

/* arrange_page.c: report.html, config.json and the summary. */
void arrange_page(struct arrange *a, struct buf *out);
void arrange_config(struct arrange *a, struct buf *out);
void arrange_summary(const struct arrange *a, struct buf *out);

#endif
