/*
 * check_effort.c - a failure is remembered, and tried again when there is more time or memory for it.
 */
#include "tests/device_fixture.h"
#include "tests/script_device.h"

static void rules_are_the_table(void)
{
	static const struct {
		enum outcome o;
		struct effort then, now;
		bool in_run, later;
	} t[] = {
		{OUTCOME_TIMEOUT, {60, 1, 8}, {60, 1, 8}, false, false},
		{OUTCOME_TIMEOUT, {60, 1, 8}, {120, 1, 8}, true, true},
		{OUTCOME_TIMEOUT, {60, 1, 8}, {80, 1, 8}, false, false}, /* hardly more */
		{OUTCOME_TIMEOUT, {60, 4, 8}, {60, 1, 8}, true, true},	 /* the machine was busy */
		{OUTCOME_TIMEOUT, {60, 4, 8}, {60, 4, 80}, false, false},
		{OUTCOME_TIMEOUT, {60, 0.2, 8}, {60, 0, 8}, false, false}, /* it was idle enough */
		{OUTCOME_TIMEOUT, {60, 1, 8}, {240, 8, 8}, false, false}, /* it is busy now */
		{OUTCOME_TIMEOUT, {0, 0, 0}, {60, 1, 8}, true, true},	 /* not known with what */
		{OUTCOME_TIMEOUT, {0, 0, 0}, {0, 0, 0}, false, false},	 /* nothing depends on it */
		{OUTCOME_OOM, {60, 4, 8}, {600, 1, 8}, false, false},
		{OUTCOME_OOM, {60, 4, 8}, {60, 4, 9}, false, false},
		{OUTCOME_OOM, {60, 1, 8}, {60, 1, 16}, true, true},
		{OUTCOME_OOM, {0, 0, 0}, {60, 1, 8}, true, true},
		{OUTCOME_CRASHED, {60, 4, 8}, {600, 1, 80}, false, false},
		{OUTCOME_REFUSED, {0, 0, 0}, {600, 1, 80}, false, false},
		{OUTCOME_NOT_HONOURED, {60, 1, 8}, {60, 1, 8}, false, true},
		{OUTCOME_WRONG_NUMBERS, {60, 1, 8}, {60, 1, 8}, false, true},
	};

	for (size_t i = 0; i < sizeof t / sizeof *t; i++)
		if (!CHECK_INT(effort_retries(t[i].o, &t[i].then, &t[i].now, true), t[i].in_run) ||
			!CHECK_INT(effort_retries(t[i].o, &t[i].then, &t[i].now, false), t[i].later))
			printf("\trow %zu\n", i);
}

/* Runs one night after the other, each with its own effort; the region fails in its first `bad` measurements. */
static void later_runs_try_again(void)
{
	static const struct {
		enum outcome failure;
		uint32_t bad;
		struct effort night[3];
		enum outcome want[3];
		uint32_t compiles[3];
	} t[] = {
		{OUTCOME_TIMEOUT, 1, {{60, 1, 8}, {60, 1, 8}, {180, 1, 8}}, {OUTCOME_TIMEOUT, OUTCOME_TIMEOUT,
			OUTCOME_OK},
			{1, 0, 2}},
		{OUTCOME_TIMEOUT, 1, {{60, 6, 8}, {60, 5, 8}, {60, 1, 8}}, {OUTCOME_TIMEOUT, OUTCOME_TIMEOUT,
			OUTCOME_OK}, {1, 0, 2}},
		{OUTCOME_TIMEOUT, 2, {{60, 1, 8}, {120, 1, 8}, {120, 1, 8}}, {OUTCOME_TIMEOUT, OUTCOME_TIMEOUT,
			OUTCOME_TIMEOUT},
			{1, 1, 0}},
		{OUTCOME_OOM, 1, {{60, 1, 8}, {600, 1, 8}, {60, 1, 16}}, {OUTCOME_OOM, OUTCOME_OOM, OUTCOME_OK},
		{1, 0, 2}},
		{OUTCOME_REFUSED, 1, {{60, 1, 8}, {600, 1, 80}, {600, 1, 800}}, {OUTCOME_REFUSED, OUTCOME_REFUSED,
			OUTCOME_REFUSED},
			{1, 0, 0}},
		{OUTCOME_CRASHED, 2, {{60, 1, 8}, {600, 1, 80}, {600, 1, 800}}, {OUTCOME_CRASHED, OUTCOME_CRASHED,
			OUTCOME_CRASHED},
			{2, 0, 0}},
	};

	for (size_t i = 0; i < sizeof t / sizeof *t; i++) {
		struct kept kept = {0};
		struct cost_hooks h = {&kept, keep_lookup, keep_insert, keep_measured, keep_failed};
		uint32_t total = 0;

		flipped(3);
		for (int n = 0; n < 3; n++) {
			struct script s = new_script();
			struct cost *c = script_cost(&s, POLICY_REGION, &h);
			struct delta d;

			script_now = t[i].night[n];
			s.failure = t[i].failure;
			s.again = t[i].bad > total; /* from the first compile of the night */
			s.fail_compile = s.again ? 1 : 0;
			CHECK_INT(cost_delta(c, dflt, flip, &d, NULL), 0);
			if (!CHECK_INT(d.outcome, t[i].want[n]) || !CHECK_INT(s.compiles, t[i].compiles[n]))
				printf("\trow %zu, night %d\n", i, n);
			total += s.compiles;
			cost_free(c);
		}
		prices_release(&kept.prices);
	}
}

/* The same run tries again as well: a machine that was busy for a while must not spoil a whole night. */
static void the_same_run_tries_again(void)
{
	struct script s = new_script();
	struct cost *c = script_cost(&s, POLICY_REGION, NULL);
	struct delta d;

	flipped(3);
	script_now = (struct effort){60, 6, 8};
	s.failure = OUTCOME_TIMEOUT;
	s.fail_compile = 1;
	CHECK(cost_delta(c, dflt, flip, &d, NULL) == 0 && d.outcome == OUTCOME_TIMEOUT);
	CHECK(cost_delta(c, dflt, flip, &d, NULL) == 0 && d.outcome == OUTCOME_TIMEOUT);
	CHECK_INT(s.compiles, 1);
	script_now.load = 1;
	CHECK(cost_delta(c, dflt, flip, &d, NULL) == 0 && d.outcome == OUTCOME_OK);
	CHECK_INT(s.compiles, 3);
	CHECK(cost_delta(c, dflt, flip, &d, NULL) == 0 && d.cached == 1);
	cost_free(c);
	script_now = (struct effort){0, 0, 0};
}

static void a_worker_says_its_effort(void)
{
	struct device_options sim = {.backend = "sim"};
	struct err err = {{0}};
	struct effort e;
	struct device *d;

	setenv("VANTAGE_WORKER_MEMORY", "300", 1);
	d = fixture_open();
	fixture_deadline(d, 7);
	if (CHECK(d != NULL)) {
		device_effort(d, &e);
		CHECK(e.deadline == 7 && e.load >= 0);
		CHECK_INT((long long)e.memory, 300 << 20);
	}
	device_close(d);
	unsetenv("VANTAGE_WORKER_MEMORY");
	d = device_open(&sim, &err);
	if (CHECK(d != NULL)) {
		device_effort(d, &e);
		CHECK(e.deadline == 0 && e.load == 0 && e.memory == 0);
	}
	device_close(d);
}

int main(void)
{
	script_open();
	RUN(rules_are_the_table);
	RUN(later_runs_try_again);
	RUN(the_same_run_tries_again);
	if (fixture_begin())
		RUN(a_worker_says_its_effort);
	else
		printf("skip: a_worker_says_its_effort: no fake plugin without the plugin's header\n");
	fixture_end();
	script_close();
	return test_done();
}
