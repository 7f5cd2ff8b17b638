/*
 * share_bed.h - a search on our performance model, which pretends to measure, so that time counts. The tests set the
 * pace, which says how long candidates are expected to take; nothing waits.
 */
#ifndef TESTS_SHARE_BED_H
#define TESTS_SHARE_BED_H

#include "cost/pace.h"
#include "device/ops.h"
#include "search/hunt.h"
#include "tests/test.h"

#define PROGRAM "examples/graphs/held-out/ranker.pb.zst"

/* A scorer that promises more the later a site is. */
static inline float promise(void *ctx, uint32_t site, uint8_t choice)
{
	(void)ctx;
	(void)choice;
	return (float)site;
}

static uint32_t favourite; /* a site */

/* ... and one that promises much of one site, and little of the others. */
static inline float promise_one(void *ctx, uint32_t site, uint8_t choice)
{
	(void)ctx;
	(void)choice;
	return site == favourite ? 1e6f : 1;
}

struct bed {
	struct device *d;
	struct lab lab;
	struct hunt h;
};

static inline bool begin_by(struct bed *b, double seconds, float (*score)(void *ctx, uint32_t site, uint8_t choice))
{
	struct hunt_options o = {.strategy = score ? STRATEGY_GUIDED : STRATEGY_RANDOM, .budget = 60, .seed = 3,
		.seconds = seconds, .alpha = 10, .hops = 1, .tied = true, .adapt = true, .part_known = true};
	struct scorer scorer = {.score = score};
	struct err err = {0};

	*b = (struct bed){.d = device_open(&(struct device_options){.backend = "sim"}, &err)};
	if (b->d)
		b->d->info.kind = COST_MEASURED;
	if (CHECK(b->d && lab_open(&b->lab, PROGRAM, "fusion", b->d, &(struct cost_options){0}, NULL, &err) == 0 &&
		    hunt_begin(&b->h, &o, &b->lab, score ? &scorer : NULL, &err) == 0))
		return true;
	printf("%s\n", err.text);
	return false;
}

static inline bool begin(struct bed *b, double seconds, bool guided)
{
	return begin_by(b, seconds, guided ? promise : NULL);
}

static inline void end(struct bed *b)
{
	hunt_release(&b->h);
	lab_release(&b->lab);
	device_close(b->d);
}

static inline double takes(struct hunt *h)
{
	struct err err = {0};
	double seconds;
	size_t bytes;

	CHECK(cost_takes(h->lab->cost, h->config, h->candidate, INFINITY, &seconds, &bytes, &err) == 0);
	CHECK((bytes > 0) == (seconds > 0));
	return seconds;
}

/* Modules of any size take so many seconds for a byte. */
static inline void take_so_long(struct bed *b, double each)
{
	for (int n = 0; n < 100; n++)
		for (size_t bytes = 64; bytes < 1 << 20; bytes *= 2)
			cost_note_pace(b->lab.cost, bytes, each * (double)bytes);
}

#endif
