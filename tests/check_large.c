/*
 * check_large.c - what large programs need: long deadlines, what opening one taught, and memory that is estimated
 * before it is used. (Measuring by few runs: check_measure.c; executables that are kept: check_spare.c.)
 */
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/time.h>
#include "base/stop.h"
#include "base/talk.h"
#include "cost/spare.h"
#include "device/host.h"
#include "device/ops.h"
#include "device/room.h"
#include "ready/opened.h"
#include "search/verdict.h"
#include "tests/device_fixture.h"

/* The times that were seen make the deadline longer. A user's deadline bounds it. */
static void patience_follows_what_was_seen(void)
{
	struct host h = {.deadline = 0};
	struct precision quick = {.max_seconds = 1}, first = {.max_seconds = 1, .patient = true};
	struct patience small, p;

	small = host_patience(&h);
	CHECK(small.seconds > 10 && small.most > small.seconds);
	h.request.len = 10 << 20;
	p = host_patience(&h);
	CHECK(p.seconds > 5 * small.seconds);
	h.request.len = 0;
	h.longest_compile = 300;
	h.work = work_of_compiling(&h, false);
	p = host_patience(&h);
	CHECK(p.seconds > 10 * h.longest_compile);
	h.longest_run = 60;
	h.work = work_of_measuring(&h, &quick, 0);
	p = host_patience(&h);
	CHECK(p.seconds > 50 * h.longest_run);
	h.work = work_of_comparing(&h);
	CHECK(host_patience(&h).seconds > 10 * h.longest_run);
	h.longest_run = 0;
	h.work = work_of_measuring(&h, &first, 0);
	CHECK(host_patience(&h).seconds >= 3600);
	h.deadline = 7;
	p = host_patience(&h);
	CHECK(p.seconds == 7 && p.most <= 7);
}

static enum outcome compile_outcome(struct device *d, const char *script)
{
	struct buf module = {0};
	struct compiled c = {0};
	enum outcome outcome;

	fixture_program(script, &module);
	CHECK(device_compile(d, COMPILE_APPLIED, "hlo", module.data, module.len, 0, &c, NULL) == 0);
	outcome = c.outcome;
	CHECK(device_drop(d, &c, NULL) == 0);
	compiled_release(&c);
	buf_release(&module);
	return outcome;
}

/*
 * A compiler that never answers is ended at the time from which nobody wants its answer. A request after that time is
 * not begun.
 */
static void nobody_waits_longer_than_he_wants(void)
{
	struct device *d = device_open(&(struct device_options){.backend = fixture_plugin, .deadline = 36000}, NULL);
	uint32_t generation;

	if (!CHECK(d != NULL))
		return;
	CHECK(!device_late(d));
	device_until(d, now_seconds() + 3600);
	CHECK_INT(compile_outcome(d, "us=10"), OUTCOME_OK);
	CHECK(!device_late(d));
	generation = device_generation(d);
	device_until(d, now_seconds() + 0.2);
	CHECK_INT(compile_outcome(d, "compile=hang"), OUTCOME_TIMEOUT);
	CHECK(device_late(d));
	CHECK_INT(device_generation(d), generation + 1);
	CHECK_INT(compile_outcome(d, "us=10"), OUTCOME_TIMEOUT);
	CHECK_INT(device_generation(d), generation + 1); /* nobody was ended for it */
	device_until(d, 0);
	CHECK_INT(compile_outcome(d, "us=10"), OUTCOME_OK);
	device_close(d);
	CHECK(fixture_no_children());
}

static void ask_to_stop(int sig)
{
	(void)sig;
	stop_ask(true);
}

/* Where the user's wish to stop is heeded, a compiler that never answers is ended; elsewhere its answer is wanted. */
static void a_wish_to_stop_ends_what_is_under_way(void)
{
	struct device *d = device_open(&(struct device_options){.backend = fixture_plugin, .deadline = 36000}, NULL);

	if (!CHECK(d != NULL))
		return;
	device_heed_stop(d, true);
	CHECK_INT(compile_outcome(d, "us=10"), OUTCOME_OK);
	signal(SIGALRM, ask_to_stop);
	/* while it waits, or before it does: then it does not begin to */
	setitimer(ITIMER_REAL, &(struct itimerval){.it_value.tv_usec = 100000}, NULL);
	CHECK_INT(compile_outcome(d, "compile=hang"), OUTCOME_TIMEOUT);
	CHECK(device_late(d));
	CHECK_INT(compile_outcome(d, "us=10"), OUTCOME_TIMEOUT);
	device_heed_stop(d, false);
	CHECK(!device_late(d));
	CHECK_INT(compile_outcome(d, "us=10"), OUTCOME_OK);
	stop_ask(false);
	device_close(d);
	CHECK(fixture_no_children());
}

static uint64_t free_memory;
static const struct device_ops no_ops;

static struct opened some_opening(double seconds, double run)
{
	struct opened o = {.seconds = seconds, .run = run, .run_se = 0.5, .more = -1, .more_se = 0.25};
	struct compiled own = {.seconds = seconds};
	struct buf module = {0};

	buf_adds(&o.before, "before");
	buf_adds(&o.after, "after");
	buf_adds(&module, "module");
	buf_adds(&own.serialised, "executable");
	spare_put(&o.spares, COMPILE_DEFAULT, &module, &own);
	compiled_release(&own);
	buf_release(&module);
	return o;
}

/* Damages the one file that is kept: cuts it after `keep` bytes, or changes a byte in its middle. */
static void harm_file(size_t keep, bool flip)
{
	struct buf at = {0}, bytes = {0};
	struct err err = {{0}};
	DIR *dir;

	buf_addf(&at, "%s/vantage/opened", fixture_folder);
	dir = opendir(at.data);
	for (struct dirent *e; dir && (e = readdir(dir));)
		if (e->d_name[0] != '.') {
			buf_addf(&at, "/%s", e->d_name);
			break;
		}
	if (dir)
		closedir(dir);
	CHECK(io_read_file(at.data, 1 << 20, &bytes, &err) == 0); /* unpacked; so it is written, and read again */
	if (flip)
		bytes.data[bytes.len / 2] ^= 1;
	CHECK(io_write_file(at.data, bytes.data, keep < bytes.len ? keep : bytes.len, &err) == 0);
	buf_release(&at);
	buf_release(&bytes);
}

/* Makes the fixture's folder the cache; `before` gets what it was. */
static void own_cache(char before[512])
{
	snprintf(before, 512, "%s", getenv("XDG_CACHE_HOME") ? getenv("XDG_CACHE_HOME") : "");
	setenv("XDG_CACHE_HOME", fixture_folder, 1);
}

static void drop_cache(const char *before)
{
	struct buf at = {0};

	buf_addf(&at, "%s/vantage", fixture_folder);
	CHECK(io_remove_tree(at.data, NULL) == 0);
	setenv("XDG_CACHE_HOME", before, 1); /* empty is as not set */
	buf_release(&at);
}

/*
 * What was learnt of a program that came of other decisions is not kept under the name of the user's own: the next
 * search would begin with these decisions, unasked.
 */
static void what_others_decided_is_not_kept(void)
{
	struct device d = {.ops = &no_ops, .info = {.kind = COST_MEASURED, .build = "3", .machine = "here"}};
	struct lab lab = {.device = &d, .derived = true, .subject.opened = some_opening(60, 20)};
	struct timing t = {.seconds_b = 20, .ratio_se = 0.01};
	struct opened back = {0};
	char before[512];

	own_cache(before);
	buf_adds(&lab.subject.original, "the user's program");
	lab_remember(&lab, &t);
	CHECK(!opened_find(&back, &lab.subject.original, &d));
	lab.derived = false;
	lab_remember(&lab, &t);
	CHECK(opened_find(&back, &lab.subject.original, &d));
	opened_release(&back);
	opened_release(&lab.subject.opened);
	buf_release(&lab.subject.original);
	drop_cache(before);
}

static void openings_are_kept(void)
{
	struct device d = {.ops = &no_ops, .info = {.kind = COST_MEASURED, .build = "1", .machine = "here"}}, other = d;
	struct opened o = some_opening(60, 20), back = {0}, cheap = some_opening(1, 20);
	struct opened quick = some_opening(6, 0.01), slow = some_opening(60, 0.01);
	struct buf program = {0}, module = {0};
	char before[512];

	own_cache(before);
	buf_adds(&program, "program");
	buf_adds(&module, "module");
	CHECK(!opened_find(&back, &program, &d));
	opened_keep(&cheap, &program, &d);
	CHECK(!opened_find(&back, &program, &d));
	opened_keep(&o, &program, &d);
	snprintf(other.info.build, sizeof other.info.build, "2");
	CHECK(!opened_find(&back, &program, &other));
	CHECK(!opened_find(&back, &module, &d));
	if (CHECK(opened_find(&back, &program, &d))) {
		CHECK_STR(back.before.data, "before");
		CHECK_STR(back.after.data, "after");
		CHECK(back.seconds == 60 && back.run == 20 && back.run_se == 0.5 && back.more == -1 &&
			back.more_se == 0.25);
		CHECK(spare_get(&back.spares, COMPILE_DEFAULT, &module) != NULL);
		CHECK(spare_get(&back.spares, COMPILE_APPLIED, &module) == NULL);
	}
	opened_release(&back);
	opened_keep(&slow, &program, &d); /* a short run, but loading it takes long */
	CHECK(opened_find(&back, &program, &d) && back.run == 0.01);
	opened_release(&back);
	opened_keep(&quick, &program, &d); /* this one is measured anew */
	CHECK(opened_find(&back, &program, &d) && back.run == 0);
	opened_release(&back);
	harm_file(SIZE_MAX, false);
	CHECK(opened_find(&back, &program, &d));
	opened_release(&back);
	harm_file(SIZE_MAX, true);
	CHECK(!opened_find(&back, &program, &d) && back.before.len == 0);
	for (size_t keep = 0; keep < 64; keep += 9) {
		opened_keep(&o, &program, &d);
		harm_file(keep, false);
		CHECK(!opened_find(&back, &program, &d));
	}
	CHECK(opened_pace(&d) == 0);
	opened_compiled(&d, 1, 100); /* too soon over to say anything */
	opened_compiled(&d, 60, 0);
	CHECK(opened_pace(&d) == 0);
	opened_compiled(&d, 60, 30000);
	CHECK(fabs(opened_pace(&d) - 2e-3) < 1e-6 && opened_pace(&other) == 0);
	opened_compiled(&d, 30, 30000); /* the latest counts half */
	CHECK(fabs(opened_pace(&d) - 1.5e-3) < 1e-6);
	opened_release(&o);
	opened_release(&cheap);
	opened_release(&quick);
	opened_release(&slow);
	buf_release(&program);
	buf_release(&module);
	drop_cache(before);
}

static void some_effort(const struct device *d, struct effort *out)
{
	(void)d;
	out->memory = free_memory;
}

/* A peak that leaves out temporary memory is not believed, however large it is. */
static void peaks_have_temporary_memory(void)
{
	static const struct {
		const char *script;
		uint64_t peak;
	} t[] = {{"args=1100;temp=1000;peak=1100", 2100}, {"args=1100;temp=1000;peak=400", 2100},
		{"args=1100;temp=1000;peak=1112", 2100}, {"args=0;temp=1000;peak=1000", 1000},
		{"args=1100;temp=0;peak=1104", 1104}};
	struct device *d = fixture_open();
	struct buf module = {0};
	struct err err = {{0}};

	for (size_t i = 0; CHECK(d != NULL) && i < sizeof t / sizeof *t; i++) {
		struct compiled c = {0};
		fixture_program(t[i].script, &module);
		CHECK(device_compile(d, COMPILE_DEFAULT, "hlo", module.data, module.len, WANT_MEMORY, &c, &err) == 0);
		if (!CHECK(c.peak_bytes == t[i].peak))
			printf("\t%s: %llu\n", t[i].script, (unsigned long long)c.peak_bytes);
		compiled_release(&c);
	}
	buf_release(&module);
	device_close(d);
}

/*
 * Memory of large inputs is lent to the plugin, which has room here for none: inputs of one program after the other are
 * made, run and let go. The fake refuses to run what was taken back too soon.
 */
static void large_inputs_are_lent(void)
{
	struct precision p = {.max_seconds = 0.01};
	struct buf module = {0};
	struct err err = {{0}};

	for (int lent = 0; lent < 2; lent++) {
		setenv("FAKE_PLUGIN", lent ? "fake:inputs=1;alias=1" : "fake:inputs=1", 1);
		struct device *d = fixture_open();
		for (int64_t mib = 2; CHECK(d != NULL) && mib <= 6; mib += 2) {
			struct compiled c = {0};
			struct timing t = {0};
			fixture_program_of("us=10", mib << 18, &module);
			CHECK(device_compile(d, COMPILE_DEFAULT, "hlo", module.data, module.len, 0, &c, &err) == 0);
			CHECK(device_run(d, &c, &p, &t, &err) == 0);
			CHECK_INT(t.outcome, lent ? OUTCOME_OK : OUTCOME_OOM);
			CHECK(device_drop(d, &c, &err) == 0);
			timing_release(&t);
			compiled_release(&c);
		}
		CHECK_INT(device_generation(d), 1);
		device_close(d);
	}
	unsetenv("FAKE_PLUGIN");
	buf_release(&module);
}

/* A device on all cores: its figures are kept apart, and the lock of each core is taken and given back. */
static void programs_run_on_several_cores(void)
{
	struct device_options o = {.backend = fixture_plugin, .deadline = PATIENT, .wait = true, .cores = -1};
	struct err err = {{0}};
	struct device *one = fixture_open(), *d;
	char machine[160];
	struct compiled c;

	if (!CHECK(one != NULL))
		return;
	snprintf(machine, sizeof machine, "%s", device_info(one)->machine);
	CHECK_INT(device_info(one)->cores, 1);
	device_close(one);
	d = device_open(&o, &err);
	if (!CHECK(d != NULL)) {
		printf("  %s\n", err.text);
		return;
	}
	CHECK(device_info(d)->cores >= 1);
	CHECK((strcmp(device_info(d)->machine, machine) != 0) == (device_info(d)->cores > 1));
	CHECK_INT(fixture_leftovers(), device_info(d)->cores);
	CHECK_INT(fixture_compile(d, "us=10", &c), OUTCOME_OK);
	device_close(d);
	CHECK_INT(fixture_leftovers(), 0);
}

static void memory_is_foreseen(void)
{
	static const struct device_ops ops = {.effort = some_effort};
	struct device d = {.ops = &ops};
	char why[300] = "";

	free_memory = (uint64_t)3 << 30;
	CHECK(room_for(&d, 0, "it", ROOM_OF_ALL, why, sizeof why));
	CHECK(room_for(&d, (uint64_t)3 << 30, "it", ROOM_OF_ALL, why, sizeof why));
	CHECK(!room_for(&d, (uint64_t)5 << 30, "it", ROOM_OF_ALL, why, sizeof why));
	CHECK_STR(why, "it needs 5.0 GiB of memory for its inputs, results "
		"and temporary values, and 3.0 GiB are free here");
	free_memory = 0;
	CHECK(room_for(&d, (uint64_t)5 << 50, "it", ROOM_OF_ALL, why, sizeof why));
}

static void workers_are_in_proportion(void)
{
	static const struct {
		struct verdict_options o;
		double each;
		size_t workers;
	} t[] = {
		{{NULL, 0, 0}, 4, 6},	    /* a few seconds: nothing to save */
		{{NULL, 20, 0}, 10, 6},	    /* a minute in any case */
		{{NULL, 20, 5000}, 50, 1},  /* what was asked for counts, not what the search took */
		{{NULL, 200, 0}, 50, 4},
		{{NULL, 0, 5000}, 50, 6},   /* as long as the search */
		{{NULL, 0, 120}, 50, 2},
		{{NULL, 0, 10}, 3000, 1},   /* one there must be */
	};

	for (size_t i = 0; i < sizeof t / sizeof *t; i++)
		if (!CHECK_INT(verdict_workers(&t[i].o, t[i].each), t[i].workers))
			printf("  row %zu\n", i);
}

/*
 * One worker, or two, time one pair each. Their ratios are off by 3% on average, and nine in ten intervals hold the
 * truth.
 */
static void few_workers_cover(void)
{
	struct rng r;

	rng_seed(&r, 4);
	for (size_t n = 1; n <= 3; n++) {
		int covered = 0;
		for (int i = 0; i < 400; i++) {
			struct verdict v = {0};
			struct timing t[3] = {{0}};
			for (size_t k = 0; k < n; k++)
				t[k] = (struct timing){.ratio = -0.1 + 0.03 * rng_normal(&r), .ratio_se = 0.03,
					.seconds_a = 20,
					.seconds_b = 18};
			verdict_interval(&v, t, n, 6);
			CHECK(v.few && v.low < v.gain && v.gain < v.high);
			CHECK_NEAR(v.default_seconds, 20, 1e-9);
			covered += v.low <= -expm1(-0.1) && -expm1(-0.1) <= v.high;
		}
		if (!CHECK(covered >= 375))
			printf("  %zu workers: %d of 400\n", n, covered);
	}
}

/*
 * Few workers that lean towards a gain get company, and so does one alone that is sure of it; two that are sure, or any
 * that lean towards a loss, do not. If there is no gain, both looks together claim one as rarely as two independent
 * ones do.
 */
static void unsure_workers_get_company(void)
{
	static const struct {
		double ratio, se, each;
		size_t had, workers;
	} rows[] = {
		{-0.05, 0.05, 30, 2, 6}, {-0.05, 0.001, 30, 2, 2}, {0.01, 0.05, 30, 2, 2},
		{-0.05, 0.05, 50, 2, 4}, /* four times the minute */
		{-0.05, 0.05, 500, 2, 2}, {-0.3, 0.01, 70, 1, 2}, {-0.3, 0.01, 30, 1, 2}, {-0.3, 0.01, 500, 1, 1},
		{0.3, 0.01, 70, 1, 1},
	};
	struct verdict_options o = {0};
	int claims = 0, asked = 0;
	struct rng r;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct timing t = {.ratio = rows[i].ratio, .ratio_se = rows[i].se, .seconds_a = 1, .seconds_b = 1};
		struct timing two[2] = {t, t};
		struct verdict v = {.compiled = 2};
		if (!CHECK_INT(verdict_more_workers(&v, &o, rows[i].each, two, rows[i].had),
			    rows[i].workers))
			printf("  row %zu\n", i);
	}
	rng_seed(&r, 9);
	for (int i = 0; i < 4000; i++) {
		struct timing t[6];
		struct verdict v = {.compiled = 6};
		size_t n;
		for (size_t k = 0; k < 6; k++)
			t[k] = (struct timing){.ratio = 0.02 * rng_normal(&r), .ratio_se = 0.02, .seconds_a = 1};
		n = verdict_more_workers(&v, &o, 25, t, 2);
		verdict_interval(&v, t, n, 6);
		claims += v.low > 0;
		asked += n > 2;
	}
	CHECK(asked > 1000);
	if (!CHECK(claims <= 0.05 * 4000))
		printf("  %d claims of 4000\n", claims);
}

static void durations_in_words(void)
{
	static const struct {
		double seconds;
		const char *text;
	} t[] = {{0.25, "0.2 s"}, {12.4, "12 s"}, {89, "89 s"}, {120, "2 min"}, {5000, "83 min"}, {9000, "2.5 h"}};
	char out[32];

	for (size_t i = 0; i < sizeof t / sizeof *t; i++)
		CHECK_STR(talk_seconds(t[i].seconds, out, sizeof out), t[i].text);
}

int main(void)
{
	RUN(patience_follows_what_was_seen);
	RUN(memory_is_foreseen);
	RUN(workers_are_in_proportion);
	RUN(few_workers_cover);
	RUN(unsure_workers_get_company);
	RUN(durations_in_words);
	bool fake = fixture_begin();
	RUN(openings_are_kept);
	RUN(what_others_decided_is_not_kept);
	if (fake) {
		RUN(nobody_waits_longer_than_he_wants);
	RUN(a_wish_to_stop_ends_what_is_under_way);
		RUN(programs_run_on_several_cores);
		RUN(large_inputs_are_lent);
		RUN(peaks_have_temporary_memory);
	} else {
		printf("skip: nobody_waits_longer_than_he_wants: no fake plugin without the plugin's header\n");
	}
	fixture_end();
	return test_done();
}
