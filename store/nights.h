/*
 * nights.h - what a store says about its nights: each stretch of work, and each program over all of them.
 *
 * A STRETCH is what one process did of a run (a stint of schemas/store.sql). A program counts once for each environment
 * in which it was measured, because costs of two environments are not compared.
 *
 * The store does not say when a step was taken. We place it within its stretch, as if all steps took as long; a stretch
 * without an end, which still runs or was killed, is taken to last until the last price of a region.
 */
#ifndef STORE_NIGHTS_H
#define STORE_NIGHTS_H

#include "base/mem.h"
#include "base/quantity.h"
#include "store/sql.h"

struct stretch {
	int64_t run, environment;
	const char *kind, *program, *host, *state, *version; /* version: of the plugin */
	uint32_t first, end;			/* its steps: the first, and the first after it */
	double started, ended;			/* Unix seconds */
	bool open;				/* it has no end in the store */
	double cached, regions;			/* share of regions that were known, and how many; NAN: not said */
};

struct clocked { /* a duration of the default, and when it was measured */
	double at, seconds;
};

struct watched { /* a program in an environment */
	int64_t space, environment;
	const char *name, *version;
	enum quantity quantity;
	uint32_t n_sites, covered;	/* sites; those with a sample */
	uint64_t samples, failed, trials;
	double error;			/* the median standard error of a price; NAN: there are none */
	double clear;			/* share of prices that are further from 0 than twice their error */
	double cached;			/* share of its regions that were known, where its stretches say so; else NAN */
	struct clocked *clock;		/* the default's own cost, in order of time */
	size_t n_clock;
	double best;			/* the lowest cost seen, as a share of the default's; NAN: none below it */
};

struct nights { /* all zero is empty; nights_release */
	struct arena mem;
	struct stretch *stretch;
	size_t n_stretches;
	struct watched *program;
	size_t n_programs;
	uint64_t samples, trials;
};

int nights_read(struct store *s, struct nights *out, struct err *err);
void nights_release(struct nights *n);

/*
 * How much dearer the defaults were in a stretch than over all stretches of its environment: the median over programs,
 * as a share. NAN where fewer than three programs were clocked.
 */
double nights_drift(const struct nights *n, const struct stretch *t);
/* The median of a program's clocks; NAN where there are none. */
double watched_median(const struct watched *w);

/* A model that was trained and judged: a line of JSON that `learn` left beside the models (learn/history.h). */
struct lesson {
	double at;		     /* Unix seconds */
	const char *place;	     /* "cpu, measured seconds, fusion" */
	const char *learner, *verdict;
	int64_t decisions, programs, flips;
	double depth, before;	     /* of the new model, of the one that stood there; NAN */
	double low, high;	     /* 95% interval of before - depth; NAN */
	bool placed;
};
struct lessons { /* all zero is empty; lessons_release */
	struct arena mem;
	struct lesson *item; /* in order of time */
	size_t n, cap;
	size_t unread;	     /* lines that are none */
	size_t elsewhere;    /* models for what this store has no costs of */
};
/*
 * Reads the histories in a folder of models and below it. NULL: the user's own folder. A folder without any is no
 * error.
 */
int lessons_read(struct store *s, const char *folder, struct lessons *out, struct err *err);
void lessons_release(struct lessons *l);

/* The page about both, to `out`. */
void nights_page(const struct nights *n, const struct lessons *l, const char *store, struct buf *out);

#endif
