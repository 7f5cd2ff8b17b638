/* check_forgo.c - a search that runs no whole program: it measures parts alone, and claims nothing. */
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

int main(void)
{
	RUN(what_was_not_run_is_not_claimed);
	return test_done();
}
