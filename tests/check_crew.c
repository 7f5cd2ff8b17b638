/*
 * check_crew.c - on which cores a plugin's threads compile: those of the worker, and for large programs also others, as
 * far as nobody measures there; and that a verdict's workers load side by side. The fake plugin makes threads as
 * XLA:CPU does, and says where they may run.
 */
#include <stdlib.h>
#include "device/machine.h"
#include "search/stations.h"
#include "tests/device_fixture.h"

/* Compiles a program of so many bytes. The fake's answer must be this one. */
static void ask(struct device *d, size_t bytes, int threads, int cores)
{
	struct buf module = {0};
	struct compiled c = {0};
	struct err err = {{0}};
	char want[64];

	fixture_program("crew=tell", &module);
	while (module.len < bytes) /* of a field that nobody knows, number 100 */
		buf_add(&module, "\xa2\x06\x04xxxx", 7);
	snprintf(want, sizeof want, "%d threads on %d cores, asked on 1", threads, cores);
	if (!CHECK(device_compile(d, COMPILE_DEFAULT, "hlo", module.data, module.len, 0, &c, &err) == 0) ||
		!CHECK(strstr(c.detail, want) != NULL))
		printf("\twanted %s, got %s\n", want, c.detail);
	compiled_release(&c);
	buf_release(&module);
}

static struct device *open_with(int crew)
{
	struct device_options o = {.backend = fixture_plugin, .deadline = PATIENT, .wait = true, .crew = crew};
	struct err err = {{0}};
	struct device *d = device_open(&o, &err);

	if (!CHECK(d != NULL))
		printf("\t%s\n", err.text);
	return d;
}

#define SMALL 0
#define HUGE_ONE ((size_t)1 << 20)

static void large_programs_use_other_cores(void)
{
	struct device *d = open_with(JOBS_ALL);
	size_t others;
	int all;

	if (!d)
		return;
	mem_free(cores_beside(&(int){device_info(d)->core}, 1, &others));
	all = (int)others + 1;
	if (all == 1) {
		device_close(d); /* or the next test waits for its core for ever */
		SKIP("this process may use one core only");
	}
	for (int i = 0; i < 2; i++) { /* and they come back from there */
		ask(d, SMALL, all, 1);
		ask(d, HUGE_ONE, all, all);
	}
	ask(d, SMALL, all, 1);
	device_close(d);
	d = open_with(1);
	ask(d, HUGE_ONE, 2, 2);
	device_close(d);
	d = open_with(0);
	ask(d, HUGE_ONE, 1, 1);
	device_close(d);
}

static void cores_on_which_others_measure_are_left_alone(void)
{
	struct device *d = open_with(1);
	struct core_lock other = {0};
	struct err err = {{0}};
	size_t n;
	int *beside;

	if (!d)
		return;
	beside = cores_beside(&(int){device_info(d)->core}, 1, &n);
	if (n == 0) {
		mem_free(beside);
		device_close(d);
		SKIP("this process may use one core only");
	}
	CHECK(core_take(&other, "another", beside[0] + 1, false, &err) == 0);
	ask(d, HUGE_ONE, 2, 1);
	core_release(&other);
	ask(d, HUGE_ONE, 2, 2);
	mem_free(beside);
	device_close(d);
}

/* After the first worker, those of a verdict load their programs side by side, and are then timed one by one. */
static void workers_load_side_by_side(void)
{
	struct device_options o = {.backend = fixture_plugin, .deadline = PATIENT, .wait = true, .crew = JOBS_ALL};
	struct precision p = {.max_seconds = 0.01, .instances = 1, .give_up = -1};
	struct buf side[2] = {{0}, {0}};
	struct worker w = {0};
	struct err err = {{0}};
	size_t together = 0;

	fixture_program("us=10", &side[0]);
	fixture_program("us=20", &side[1]);
	CHECK(worker_next(&w, &o, NULL, 6, &err) == 0 && w.device && !w.ready && w.room >= 1);
	if (!w.device)
		return;
	o.core = device_info(w.device)->core + 1;
	bool alone = w.room == 1;
	worker_close(&w);
	for (size_t left = 5; left > 0; left--) {
		struct timing t = {0};
		if (!CHECK(worker_next(&w, &o, side, left, &err) == 0))
			break;
		together += w.ready != NULL;
		if (w.ready && CHECK(w.ready[0].outcome == OUTCOME_OK && w.ready[1].outcome == OUTCOME_OK)) {
			CHECK(device_pair(w.device, &w.ready[0], &w.ready[1], &p, &t, &err) == 0);
			if (!CHECK(t.outcome == OUTCOME_OK && t.ratio > 0))
				printf("\t%zu left: %s, %s, ratio %g\n", left, outcome_name(t.outcome), t.detail,
					t.ratio);
		}
		timing_release(&t);
		worker_close(&w);
	}
	CHECK(w.at == NULL);
	CHECK(alone ? together == 0 : together >= 4); /* the last one may be alone */
	CHECK_INT(fixture_leftovers(), 0);
	CHECK(fixture_no_children());
	buf_release(&side[0]);
	buf_release(&side[1]);
}

int main(void)
{
	if (!fixture_begin()) {
		printf("skip: large_programs_use_other_cores: no fake plugin without the plugin's header\n");
		return 0;
	}
	setenv("FAKE_PLUGIN", "fake:crew=1", 1);
	RUN(large_programs_use_other_cores);
	RUN(cores_on_which_others_measure_are_left_alone);
	RUN(workers_load_side_by_side);
	fixture_end();
	return test_done();
}
