/*
 * check_arrange_estimate.c - what is said of an order for hardware that is not here: both programs are priced by the
 * device's own model, and the answer keeps the limit on time or is none.
 */
#include <string.h>
#include "hlo/pack.h"
#include "search/arrange.h"
#include "tests/test.h"

static void the_limit_on_time_decides(void)
{
	static const struct {
		const char *limit; /* NULL: none */
		double before, after;
		bool tuned;
		const char *says;
	} t[] = {
		{"seconds:+2%", 100e-6, 101e-6, true, "by XLA's model for H100 it takes 1.0% more time. It "
			"was not run."},
		{"seconds:+2%", 100e-6, 102e-6, true, "2.0% more time"},
		{"seconds:+2%", 100e-6, 90e-6, true, "10.0% less time"},
		{"seconds:+2%", 100e-6, 103e-6, false, "3.0% more time, which is beyond what "
			"seconds:+2% allows; the default is"},
		{"seconds:+0%", 100e-6, 101e-6, false, "beyond what seconds:+0% allows"},
		{NULL, 100e-6, 150e-6, true, "50.0% more time"},
		{"seconds:+2%", 0, 101e-6, false, "nothing says how long it takes; the default is"},
		{"seconds:+2%", 100e-6, 0, false, "nothing says how long it takes"},
		{NULL, 0, 0, false, "nothing says how long it takes"},
	};

	for (size_t i = 0; i < sizeof t / sizeof *t; i++) {
		struct arrange a = {.limited = t[i].limit, .seconds_default = t[i].before, .seconds_tuned = t[i].after,
			.estimator = "XLA's model for H100"};
		struct err err = {{0}};
		CHECK(!t[i].limit || limit_read(t[i].limit, &a.limit, &err) == 0);
		arrange_judge_estimate(&a, 0.125, "8 MiB", "7 MiB");
		CHECK_INT(a.tuned, t[i].tuned);
		if (!CHECK(strstr(a.sentence, t[i].says) && strstr(a.sentence, "12.50% less temporary memory")))
			printf("%s\n", a.sentence);
		CHECK_INT(strstr(a.sentence, "(7 MiB instead of 8 MiB)") != NULL, t[i].tuned);
	}
}

static void both_programs_are_priced_by_the_device(void)
{
	static const char *const paths[2] = {"examples/graphs/tiny/chain.pb.zst", "examples/graphs/tiny/update.pb.zst"};
	struct err err = {{0}};
	struct device_options o = {.backend = "sim"};
	struct arrange a = {.device = device_open(&o, &err)};
	struct compiled p[2] = {{0}};
	double want[2] = {0};

	CHECK(!arrange_is_estimated(&(struct arrange){0})); /* there is no compiler */
	if (!CHECK(a.device != NULL))
		return;
	CHECK(!arrange_is_estimated(&a)); /* it can run */
	for (int i = 0; i < 2; i++) {
		struct graph g = {0};
		struct buf module = {0};
		struct timing t = {0};
		CHECK(graph_read(&g, paths[i], &err) == 0);
		pack_message(&g.module->base, &module);
		CHECK(device_compile(a.device, COMPILE_DEFAULT, "hlo", module.data, module.len, 0, &p[i], &err) == 0);
		CHECK(device_run(a.device, &p[i], NULL, &t, &err) == 0);
		want[i] = t.seconds_a;
		timing_release(&t);
		buf_release(&module);
		graph_release(&g);
	}
	CHECK(arrange_estimate(&a, &p[0], &p[1], &err) == 0);
	CHECK(want[0] > 0 && want[1] > 0 && want[0] != want[1]);
	CHECK_NEAR(a.seconds_default, want[0], 0);
	CHECK_NEAR(a.seconds_tuned, want[1], 0);
	/* One that was not compiled has no price, and nothing is asked. */
	p[1].outcome = OUTCOME_REFUSED;
	a.seconds_default = a.seconds_tuned = 0;
	CHECK(arrange_estimate(&a, &p[0], &p[1], &err) == 0);
	CHECK(a.seconds_default == 0 && a.seconds_tuned == 0);
	p[1].outcome = OUTCOME_OK;
	for (int i = 0; i < 2; i++) {
		CHECK(device_drop(a.device, &p[i], &err) == 0);
		compiled_release(&p[i]);
	}
	device_close(a.device);
}

int main(void)
{
	RUN(the_limit_on_time_decides);
	RUN(both_programs_are_priced_by_the_device);
	return test_done();
}
