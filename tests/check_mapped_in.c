/*
 * check_mapped_in.c - memory that each run maps in anew is counted; where the allocator is told to keep it, by the
 * environment of a worker, it is not; and what people are told of it.
 */
#include "search/mapped_in.h"
#include "tests/device_fixture.h"

#define MIB 48 /* more than the allocator keeps by itself */

#define LARGE_PAGE 2 /* MiB, the most that a fault maps in, where the system has such pages for all memory */

/* How many pages a run of a program with so much temporary memory maps in. */
static double pages_of_a_run(const char *const *environment)
{
	struct device_options o = {.backend = fixture_plugin, .deadline = PATIENT, .wait = true,
		.environment = environment};
	struct precision p = {.max_seconds = 0.05, .min_pairs = 5};
	struct timing t = {0};
	struct compiled c = {0};
	struct err err = {{0}};
	struct device *d = device_open(&o, &err);
	double pages = -1;
	char script[40];

	snprintf(script, sizeof script, "us=20;temporary=%d", MIB);
	CHECK_STR(err.text, "");
	if (d && CHECK_INT(fixture_compile(d, script, &c), OUTCOME_OK) &&
		CHECK_INT(device_run(d, &c, &p, &t, &err), 0))
		pages = t.faults_a;
	timing_release(&t);
	device_close(d);
	return pages;
}

static void memory_stays_where_the_environment_says_so(void)
{
	double anew = pages_of_a_run(NULL), kept = pages_of_a_run(mapped_in_environment);

	if (!CHECK(anew >= MIB / LARGE_PAGE && kept >= 0 && kept < anew / 4))
		printf("\t%.0f pages, %.0f where memory is kept\n", anew, kept);
}

static void a_worker_gets_its_environment(void)
{
	static const char *const refuse[] = {"FAKE_PLUGIN=fake:client=refuse", NULL};
	struct device_options o = {.backend = fixture_plugin, .wait = true, .environment = refuse};
	struct err err = {{0}};

	CHECK(!device_open(&o, &err));
	CHECK(strstr(err.text, "does not start"));
}

static void people_are_told_where_it_matters(void)
{
	struct mapped_in m = {.dflt = 13452, .tuned = 12};
	char text[600];

	CHECK(mapped_in_matters(&m, 0.05) && !mapped_in_matters(&m, 5) && !mapped_in_matters(&m, 0));
	mapped_in_words(&m, text, sizeof text);
	CHECK(strstr(text, "13452 pages") && strstr(text, "both are faster") && strstr(text, "MALLOC_ARENA_MAX=1 "));
	m.kept_dflt = 0.041;
	m.kept_tuned = 0.0281;
	mapped_in_words(&m, text, sizeof text);
	CHECK(strstr(text, "they take 41") && strstr(text, " and 28.1"));
	CHECK(strstr(text, "(timed once, in a process of its own)"));
	CHECK(strlen(text) < sizeof text - 1);
}

int main(void)
{
	RUN(people_are_told_where_it_matters);
	if (fixture_begin()) {
		RUN(a_worker_gets_its_environment);
#if defined __GLIBC__ && !defined __SANITIZE_ADDRESS__
		RUN(memory_stays_where_the_environment_says_so);
#endif
	} else {
		printf("skip: mapped_in: no fake plugin: it is built once the plugin's header is there (make deps)\n");
	}
	fixture_end();
	return test_done();
}
