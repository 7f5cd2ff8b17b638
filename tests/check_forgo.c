/*
 * check_forgo.c - what a verdict says where nothing can be claimed: no whole program was run, or other work hid what
 * was gained.
 */
#include <math.h>
#include "search/hunt.h"
#include "search/verdict.h"
#include "tests/test.h"

/* If no whole program can be run, the summary says so of what was found, and the default stays the answer. */
static void what_was_not_run_is_not_claimed(void)
{
	struct hunt_options o = {.strategy = STRATEGY_RANDOM, .budget = 100, .seed = 3, .alpha = 100, .hops = 1,
		.drift_checks = 4};
	struct lab lab;
	struct hunt h;
	struct verdict v;
	struct err err = {0};

	if (!CHECK(lab_open(&lab, "toy:30:3:5", NULL, NULL, &(struct cost_options){0}, NULL, &err) == 0))
		return;
	lab.parts_only = true;
	CHECK_INT(hunt_begin(&h, &o, &lab, NULL, &err), 0);
	verdict_forgo(&v, &lab, h.config, &h.running);
	CHECK(!v.forgone && !v.tuned && strstr(v.sentence, "default is the answer"));
	while (hunt_next(&h, &err) == 1)
		;
	CHECK(h.kept > 0 && h.n_check == 0 && h.default_seconds == 0);
	verdict_forgo(&v, &lab, h.config, &h.running);
	CHECK(v.forgone && !v.tuned && !v.measured && v.believed.value < 0);
	CHECK(strstr(v.sentence, "Nothing is claimed") == v.sentence && strstr(v.sentence, " less "));
	hunt_release(&h);
	lab_release(&lab);
}

static void wide_intervals_are_explained(void)
{
	struct verdict v = {.measured = true, .kind = COST_MEASURED, .quantity = QUANTITY_SECONDS, .low = -0.02,
		.high = 0.03};

	verdict_words(&v);
	CHECK(strstr(v.sentence, "no sure gain") && !strstr(v.sentence, "Other work"));
	v.low = -0.9;
	verdict_words(&v);
	CHECK(strstr(v.sentence, "Other work on this machine made the interval so wide"));
	v.few = 1;
	verdict_words(&v);
	CHECK(!strstr(v.sentence, "Other work") && strstr(v.sentence, "More --verdict-seconds"));
}

/* What the compiler's own decisions gain by being stated anew is told, and not counted. */
static void what_comes_after_is_not_counted(void)
{
	struct verdict v = {.measured = true, .tuned = true, .kind = COST_ESTIMATED, .quantity = QUANTITY_SECONDS,
		.estimator = "a model", .gain = 0.01, .low = 0.01, .high = 0.01};

	verdict_words(&v);
	CHECK(strstr(v.sentence, "1.00% less time than the compiler's own (") && !strstr(v.sentence, "counted"));
	v.restated = 0.5;
	verdict_words(&v);
	CHECK(strstr(v.sentence, "1.00% less time than the compiler's own decisions (") &&
		strstr(v.sentence, "at 50.00% less than the compiler's own program") &&
		strstr(v.sentence, "so it is not counted"));
}

/* A program whose default needs no memory can need more, but by no percentage. */
static void nothing_is_a_share_of_nothing(void)
{
	struct weighed memory = {.known = true, .exact = true, .tuned = 65536, .change = INFINITY, .low = INFINITY,
		.high = INFINITY};
	struct verdict v = {.measured = true, .kind = COST_MEASURED, .quantity = QUANTITY_BYTES, .gain = -INFINITY,
		.low = -INFINITY, .high = -INFINITY, .tuned_seconds = 65536, .n_limits = 1,
		.limit = {{{QUANTITY_SECONDS, true, 0.02}, {.known = true, .change = 0.1, .high = 0.2},
			LIMIT_BROKEN, false}}};
	struct verdict_limit l = {{QUANTITY_BYTES, true, 0}, memory, LIMIT_BROKEN, false};
	struct buf text = {0};

	verdict_words(&v);
	CHECK(strstr(v.sentence, "needs more temporary memory than the compiler's default (64 KiB instead of 0 bytes"));
	verdict_limit_text(&l, &text);
	CHECK_STR(text.data, "beyond the limit bytes:+0% (64 KiB)");
	buf_release(&text);
}

int main(void)
{
	RUN(wide_intervals_are_explained);
	RUN(what_comes_after_is_not_counted);
	RUN(nothing_is_a_share_of_nothing);
	RUN(what_was_not_run_is_not_claimed);
	return test_done();
}
