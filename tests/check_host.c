/*
 * check_host.c - every outcome that a request can have, on a plugin that does what a script says (fake_plugin.c).
 */
#include <signal.h>
#include <unistd.h>
#include <sys/socket.h>
#include "device/accelerator.h"
#include "device/machine.h"
#include "device/wire.h"
#include "hlo/library.h"
#include "tests/device_fixture.h"

static const struct {
	const char *script;
	enum outcome compile, run;
	int signal;
	const char *says;
} scripts[] = {
	{"us=20", OUTCOME_OK, OUTCOME_OK, 0, ""},
	{"us=20;noise=5;load=2", OUTCOME_OK, OUTCOME_OK, 0, ""},
	{"us=20;serial=no", OUTCOME_OK, OUTCOME_OK, 0, ""},
	{"us=20;print=200000", OUTCOME_OK, OUTCOME_OK, 0, ""},
	{"us=20;run=nan", OUTCOME_OK, OUTCOME_OK, 0, ""},
	{"compile=refuse", OUTCOME_REFUSED, OUTCOME_COUNT, 0, "the fake was told to refuse"},
	{"compile=oom", OUTCOME_OOM, OUTCOME_COUNT, 0, "no memory"},
	{"compile=abort", OUTCOME_CRASHED, OUTCOME_COUNT, SIGABRT,
		"died of signal 6 (Aborted): fake.cc:60] Check failed: the fake was told to abort in compile"},
	{"compile=abort;print=200000", OUTCOME_CRASHED, OUTCOME_COUNT, SIGABRT, "(Aborted): fake.cc:60] Check failed"},
	{"compile=segv", OUTCOME_CRASHED, OUTCOME_COUNT, SIGSEGV, "signal 11"},
	{"compile=kill", OUTCOME_CRASHED, OUTCOME_COUNT, SIGKILL, "signal 9 (Killed)"},
	{"compile=exit", OUTCOME_CRASHED, OUTCOME_COUNT, 0, "status 7"},
	{"compile=hang", OUTCOME_TIMEOUT, OUTCOME_COUNT, 0, "within 0.2 s"},
	{"run=refuse", OUTCOME_OK, OUTCOME_REFUSED, 0, "the fake was told to refuse"},
	{"run=oom", OUTCOME_OK, OUTCOME_OOM, 0, "no memory"},
	{"run=refuse;after=9", OUTCOME_OK, OUTCOME_REFUSED, 0, "running"},
	{"run=abort;after=9", OUTCOME_OK, OUTCOME_CRASHED, SIGABRT, "abort in run"},
	{"run=hang;after=9", OUTCOME_OK, OUTCOME_TIMEOUT, 0, "within 0.2 s"},
	{"us=9000000", OUTCOME_OK, OUTCOME_TIMEOUT, 0, "within 0.2 s"},
};

static void every_outcome(void)
{
	struct device *d = fixture_open();
	for (size_t i = 0; d && i < sizeof scripts / sizeof *scripts; i++) {
		struct compiled c;
		struct timing t = {0};
		struct precision p = {.max_seconds = 0.01};
		struct err err = {{0}};
		uint32_t generation = device_generation(d);
		fixture_deadline(d, scripts[i].compile == OUTCOME_TIMEOUT ? SHORT : PATIENT);
		enum outcome o = fixture_compile(d, scripts[i].script, &c);
		const char *detail = c.detail;
		int sig = c.signal;
		if (o == OUTCOME_OK) {
			fixture_deadline(d, scripts[i].run == OUTCOME_TIMEOUT ? SHORT : PATIENT);
			CHECK(device_run(d, &c, &p, &t, &err) == 0);
			o = t.outcome;
			detail = t.detail;
			sig = t.signal;
		}
		enum outcome want =
			scripts[i].run == OUTCOME_COUNT ? scripts[i].compile : scripts[i].run;
		bool lost = want == OUTCOME_CRASHED || want == OUTCOME_TIMEOUT;
		if (o != want || sig != scripts[i].signal || !strstr(detail, scripts[i].says)) {
			printf("FAIL: %s: %s gave %s, signal %d, \"%s\"\n", test_name,
				scripts[i].script, outcome_name(o), sig, detail);
			test_failed++;
		}
		CHECK_INT(device_generation(d) - generation, lost);
		timing_release(&t);
		compiled_release(&c);
		fixture_deadline(d, PATIENT);
		fixture_still_works(d, scripts[i].script);
	}
	device_close(d);
	CHECK(fixture_no_children());
	CHECK_INT(fixture_leftovers(), 0);
}

/* A plugin whose threads wait for each other: they sleep, however patient we are. One that computes may take longer. */
static void threads_that_wait_for_each_other(void)
{
	static const struct {
		const char *script, *asleep, *says;
		enum outcome outcome;
	} table[] = {
		{"run=hang;after=9", "0.1", "waited for each other", OUTCOME_CRASHED},
		{"us=200000;busy=1", "0.1", "", OUTCOME_OK},
		{"us=200000", "36000", "", OUTCOME_OK},
	};
	struct device *d = fixture_open();
	struct precision p = {.max_seconds = 0.01};
	struct err err = {{0}};

	fixture_deadline(d, PATIENT);
	for (size_t i = 0; d && i < sizeof table / sizeof *table; i++) {
		struct timing t = {0};
		struct compiled c;
		setenv("VANTAGE_ASLEEP", table[i].asleep, 1);
		CHECK(fixture_compile(d, table[i].script, &c) == OUTCOME_OK);
		CHECK(device_run(d, &c, &p, &t, &err) == 0);
		if (!CHECK_INT(t.outcome, table[i].outcome) || !strstr(t.detail, table[i].says)) {
			printf("FAIL: %s: %s: \"%s\"\n", test_name, table[i].script, t.detail);
			test_failed++;
		}
		unsetenv("VANTAGE_ASLEEP");
		timing_release(&t);
		compiled_release(&c);
		fixture_still_works(d, table[i].script);
	}
	device_close(d);
	CHECK(fixture_no_children());
}

static void pairs(void)
{
	struct device *d = fixture_open();
	struct compiled a, b;
	struct timing t;
	struct err err = {{0}};
	/* Time for four instances, also where each run takes several times as long as it should. */
	struct precision p = {.max_seconds = 0.4, .raw = true, .give_up = -1};
	if (!d)
		return;
	CHECK(fixture_compile(d, "us=200;noise=1", &a) == OUTCOME_OK);
	CHECK(fixture_compile(d, "us=2000;noise=1;out=1.5", &b) == OUTCOME_OK);
	for (p.instances = 0; p.instances <= 4; p.instances += 2) {
		CHECK(device_pair(d, &a, &b, &p, &t, &err) == 0);
		CHECK_INT(t.outcome, OUTCOME_OK);
		CHECK(t.ratio > 0 && t.delta > 0); /* log 10 and 1.8 ms where nothing else runs */
		CHECK(t.ratio_se > 0 && t.delta_se > 0);
		CHECK(t.inside > 0 && t.inside < t.wall);
		CHECK_INT(t.raw.len, t.pairs * 8);
		CHECK_INT(t.instances, p.instances ? p.instances : 1);
		CHECK(!t.identical && t.kind == COST_MEASURED);
		timing_release(&t);
	}
	device_close(d);
}

/* Each further instance of what cannot be written down is compiled, so the first one is that which is there. */
static void unwritable_ones_are_compiled_once_less(void)
{
	struct buf program = {0};
	struct compiled c[2] = {{0}, {0}};
	struct precision p = {.max_seconds = 0.4, .give_up = -1, .instances = 2};
	struct timing t = {0};
	struct err err = {{0}};
	struct device *d;

	setenv("FAKE_PLUGIN", "any=1;nth=5", 1);
	d = fixture_open();
	for (int i = 0; d && i < 2; i++) {
		fixture_program(i ? "b " LIBRARY_CALL : "a " LIBRARY_CALL, &program);
		*(char *)memmem(program.data, program.len, "fake:", 5) = 'n'; /* it has no script, so it is counted */
		CHECK(device_compile(d, COMPILE_DEFAULT, "hlo", program.data, program.len, WANT_SERIALISED, &c[i],
			      &err) == 0);
		CHECK(c[i].outcome == OUTCOME_OK && !c[i].serialised.len);
		host_known(host_of(d), c[i].handle)->compile = 60; /* so it is not asked to compile all of them */
	}
	CHECK(d && device_pair(d, &c[0], &c[1], &p, &t, &err) == 0);
	CHECK_INT(t.outcome, OUTCOME_OK);
	CHECK_INT(t.instances, 2);
	timing_release(&t);
	buf_release(&program);
	device_close(d);
	unsetenv("FAKE_PLUGIN");
}

static void slow_ones_are_given_up(void)
{
	struct device *d = fixture_open();
	struct compiled a, b;
	struct timing t;
	struct err err = {{0}};
	struct precision p = {.max_seconds = PATIENT, .target = 1e-6};
	if (!d)
		return;
	fixture_compile(d, "us=100", &a);
	fixture_compile(d, "us=20000", &b);
	CHECK(device_pair(d, &a, &b, &p, &t, &err) == 0);
	CHECK(t.gave_up);
	CHECK(t.ratio > 0); /* log 200 where nothing else runs */
	timing_release(&t);
	device_close(d);
}

/*
 * What would run for hours is ended, what is known of it is a bound, and the device goes on. A run on this machine has
 * worked as long as its limit then. The comparison, whose limit is two seconds, is one of an accelerator, where nobody
 * works meanwhile.
 */
static void endless_ones_are_ended(void)
{
	struct device *d = fixture_open();
	struct compiled a, b;
	struct comparison x = {0};
	struct timing t;
	struct err err = {{0}};
	struct precision p = {.max_seconds = PATIENT, .slow = 0.05};
	struct compare_options impatient = {.impatient = true};
	if (!d)
		return;
	fixture_compile(d, "us=100", &a);
	fixture_compile(d, "us=2000000000", &b);
	CHECK(device_pair(d, &a, &b, &p, &t, &err) == 0);
	CHECK_INT(t.outcome, OUTCOME_OK);
	CHECK(t.gave_up && t.seconds_b >= 0.05 && t.delta > 0 && t.pairs == 1);
	timing_release(&t);
	CHECK(device_run(d, &a, &p, &t, &err) == 0);
	CHECK_INT(t.outcome, OUTCOME_CRASHED); /* a handle of the worker that is gone */
	timing_release(&t);
	fixture_still_works(d, "an endless run");
	device_close(d);
	setenv("FAKE_PLUGIN", "platform=cuda;kind=big-one", 1);
	d = fixture_open();
	unsetenv("FAKE_PLUGIN");
	if (!d)
		return;
	fixture_compile(d, "us=100", &a);
	fixture_compile(d, "us=2000000000", &b);
	CHECK(device_compare(d, &a, &b, &impatient, &x, &err) == 0);
	CHECK_INT(x.outcome, OUTCOME_TIMEOUT);
	comparison_release(&x);
	fixture_compile(d, "us=100", &a);
	CHECK(device_run(d, &a, &p, &t, &err) == 0);
	CHECK_INT(t.outcome, OUTCOME_OK);
	timing_release(&t);
	device_close(d);
}

static void handles(void)
{
	struct device *d = fixture_open();
	struct compiled a, b, never = {0};
	struct timing t;
	struct err err = {{0}};
	if (!d)
		return;
	CHECK_INT(device_generation(d), 1);
	fixture_compile(d, "us=20", &a);
	CHECK(a.handle != 0 && a.generation == 1 && a.seconds > 0);
	fixture_compile(d, "compile=abort", &b);
	CHECK_INT(device_generation(d), 2);
	/* What the old worker held is gone, and says so. */
	CHECK(device_run(d, &a, NULL, &t, &err) == 0);
	timing_release(&t);
	CHECK_INT(t.outcome, OUTCOME_CRASHED);
	CHECK(strstr(t.detail, "generation 1, now 2") != NULL);
	CHECK(device_run(d, &never, NULL, &t, &err) == 0);
	timing_release(&t);
	CHECK_INT(t.outcome, OUTCOME_CRASHED);
	/* Dropping is idempotent and takes anything. */
	CHECK(device_drop(d, &a, &err) == 0 && device_drop(d, &a, &err) == 0 &&
		device_drop(d, &never, &err) == 0);
	fixture_compile(d, "us=20", &a);
	struct compiled copy = a;
	CHECK(device_drop(d, &a, &err) == 0);
	CHECK(device_run(d, &copy, NULL, &t, &err) == 0);
	timing_release(&t);
	CHECK_INT(t.outcome, OUTCOME_REFUSED);
	/* Residents are bounded, with a sentence, and dropping makes room. */
	uint32_t first = 0, n = 0;
	while (n < 5000 && fixture_compile(d, "us=20", &b) == OUTCOME_OK) {
		first = first ? first : b.handle;
		n++;
	}
	CHECK_INT(n, 1024);
	CHECK_INT(b.outcome, OUTCOME_OOM);
	CHECK(strstr(b.detail, "drop") != NULL);
	b = (struct compiled){.handle = first, .generation = 2};
	device_drop(d, &b, &err);
	CHECK_INT(fixture_compile(d, "us=20", &b), OUTCOME_OK);
	device_close(d);
}

/* What was compiled to be dumped stays on the device, and dumps nothing when it is compiled once more. */
static void what_was_dumped_dumps_no_more(void)
{
	struct device *d = fixture_open();
	struct buf program = {0};
	struct extracted e = {0};
	struct timing t = {0};
	struct err err = {{0}};
	struct precision p = {.max_seconds = 0.4, .give_up = -1, .instances = 3};

	fixture_program("us=200 " LIBRARY_CALL, &program);
	CHECK(d && device_extract(d, "hlo", program.data, program.len, &e, &err) == 0 && e.resident.handle);
	CHECK_INT(fixture_leftovers(), 1); /* the lock */
	CHECK(d && device_run(d, &e.resident, &p, &t, &err) == 0);
	CHECK_INT(t.outcome, OUTCOME_OK);
	CHECK_INT(t.instances, 3);
	CHECK_INT(fixture_leftovers(), 1);
	timing_release(&t);
	extracted_release(&e);
	buf_release(&program);
	device_close(d);
}

static void extraction(void)
{
	struct device *d = fixture_open();
	struct extracted e;
	struct buf program = {0};
	struct err err = {{0}};
	static const struct {
		const char *script;
		enum outcome want;
	} cases[] = {{"us=1", OUTCOME_OK}, {"compile=refuse", OUTCOME_REFUSED},
		{"compile=abort", OUTCOME_CRASHED}, {"compile=hang", OUTCOME_TIMEOUT}};
	for (size_t i = 0; d && i < sizeof cases / sizeof *cases; i++) {
		fixture_program(cases[i].script, &program);
		fixture_deadline(d, cases[i].want == OUTCOME_TIMEOUT ? SHORT : PATIENT);
		CHECK(device_extract(d, "hlo", program.data, program.len, &e, &err) == 0);
		CHECK_INT(e.outcome, cases[i].want);
		CHECK((e.before.len == program.len && e.after.len == program.len &&
			      !memcmp(e.before.data, program.data, program.len)) ==
			(cases[i].want == OUTCOME_OK));
		CHECK_INT(e.initial.len, 0);
		/* One file, the lock. */
		CHECK_INT(fixture_leftovers(), 1);
		extracted_release(&e);
	}
	fixture_program("us=1", &program);
	fixture_deadline(d, PATIENT);
	CHECK(d && device_extract(d, "mlir", program.data, program.len, &e, &err) == 0 &&
		e.initial.len == program.len);
	extracted_release(&e);
	device_close(d);
	buf_release(&program);
	CHECK_INT(fixture_leftovers(), 0);
}

static void leaks_end_in_oom(void)
{
#ifdef __SANITIZE_ADDRESS__
	SKIP("memory cannot be limited under the sanitizer");
#endif
	setenv("VANTAGE_WORKER_MEMORY", "300", 1);
	struct device *d = fixture_open();
	struct compiled c;
	enum outcome o = OUTCOME_OK;
	int n = 0;
	while (d && n < 20 && (o = fixture_compile(d, "leak=50", &c)) == OUTCOME_OK)
		n++;
	CHECK_INT(o, OUTCOME_OOM);
	CHECK(n >= 2 && n < 7);
	if (d)
		fixture_still_works(d, "a leak");
	device_close(d);
	unsetenv("VANTAGE_WORKER_MEMORY");
}

/* When memory has run out, the kernel kills a worker, which then has no last words. */
static void killed_for_memory_is_oom(void)
{
	char path[300];
	struct compiled c;
	struct device *d;

	snprintf(path, sizeof path, "%s/vmstat", fixture_folder);
	CHECK_INT(io_write_file(path, "pgfault 99\noom_kill 3\n", 22, NULL), 0);
	setenv("VANTAGE_VMSTAT", path, 1);
	d = fixture_open();
	CHECK(d && fixture_compile(d, "compile=kill", &c) == OUTCOME_CRASHED);
	CHECK(d && fixture_compile(d, "compile=killed", &c) == OUTCOME_OOM);
	CHECK(strstr(c.detail, "memory had run out") != NULL);
	CHECK_INT(c.signal, SIGKILL);
	fixture_still_works(d, "a kill for memory");
	CHECK(fixture_compile(d, "compile=kill", &c) == OUTCOME_CRASHED); /* it was counted before this worker began */
	device_close(d);
	remove(path);
	unsetenv("VANTAGE_VMSTAT");
}

static void cores_are_locked(void)
{
	struct device *d = fixture_open(), *other;
	struct err err = {{0}};
	struct device_options o = {.backend = fixture_plugin};
	size_t cores;
	if (!d)
		return;
	o.core = device_info(d)->core + 1;
	CHECK((other = device_open(&o, &err)) == NULL);
	CHECK(strstr(err.text, "is in use") && strstr(err.text, "--wait"));
	o.core = 4000;
	CHECK(device_open(&o, &err) == NULL && strstr(err.text, "core 3999"));
	mem_free(cores_beside(NULL, 0, &cores));
	if (cores > 1) {
		o.core = 0;
		CHECK((other = device_open(&o, &err)) != NULL);
		if (other) {
			CHECK(device_info(other)->core != device_info(d)->core);
			fixture_still_works(other, "opening a second");
			fixture_still_works(d, "opening a second");
		}
		device_close(other);
	}
	o.core = device_info(d)->core + 1;
	device_close(d);
	CHECK((other = device_open(&o, &err)) != NULL);
	device_close(other);
	CHECK_INT(fixture_leftovers(), 0);
}

/* Replicas and partitions reach the compiler, and a program runs on all of their devices. */
static void programs_run_on_several_devices(void)
{
	struct device_options o = {.backend = fixture_plugin, .deadline = PATIENT, .wait = true, .seed = 1,
		.core = 1 + sched_getcpu(), .spread = {.replicas = 2, .partitions = 2}};
	struct precision p = {.max_seconds = 0.005};
	struct timing t = {0};
	struct compiled c;
	struct err err = {{0}};
	struct device *d = device_open(&o, &err);

	if (!CHECK(d != NULL))
		return;
	CHECK(strstr(device_info(d)->machine, ", for 2 replicas on 4 devices") != NULL);
	CHECK_INT(fixture_compile(d, "spread=1-4", &c), OUTCOME_REFUSED);
	CHECK_INT(fixture_compile(d, "spread=2-2;us=20", &c), OUTCOME_OK);
	CHECK_INT(device_run(d, &c, &p, &t, &err), 0);
	CHECK_INT(t.outcome, OUTCOME_OK);
	timing_release(&t);
	device_close(d);
	o.spread.replicas = 3; /* the fake has four devices at most */
	CHECK(device_open(&o, &err) == NULL && strstr(err.text, "of the 6 devices that are wanted"));
	o.spread = (struct spread){1u << 31, 2};
	CHECK(device_open(&o, &err) == NULL && strstr(err.text, "1 to 1024 devices"));
}

/* The last of sixty options reaches the compiler as the first does. */
static void options_may_be_many(void)
{
	struct buf options = {0};
	struct compiled c;
	struct err err = {{0}};
	struct device *d;

	for (int i = 0; i < 60; i++)
		buf_addf(&options, "%sword%d=%s", i ? "," : "", i, i % 2 ? "true" : "some");
	d = device_open(&(struct device_options){.backend = fixture_plugin, .deadline = PATIENT, .wait = true,
		.options = options.data}, &err);
	if (CHECK(d != NULL)) {
		CHECK_INT(fixture_compile(d, "needs=word0;us=20", &c), OUTCOME_OK);
		CHECK_INT(fixture_compile(d, "needs=word59;us=20", &c), OUTCOME_OK);
		CHECK_INT(fixture_compile(d, "needs=word60;us=20", &c), OUTCOME_REFUSED);
	}
	device_close(d);
	buf_release(&options);
}

int main(void)
{
	/* In workers a crash is meant to be one; the sanitizer would spend the deadline on explaining it. */
	setenv("ASAN_OPTIONS", "handle_segv=0:handle_abort=0:handle_sigill=0:handle_sigfpe=0:handle_sigbus=0", 1);
	bool fake = fixture_begin();
	if (fake) {
		RUN(every_outcome);
		RUN(pairs);
		RUN(unwritable_ones_are_compiled_once_less);
		RUN(threads_that_wait_for_each_other);
		RUN(slow_ones_are_given_up);
		RUN(endless_ones_are_ended);
		RUN(handles);
		RUN(extraction);
		RUN(what_was_dumped_dumps_no_more);
		RUN(leaks_end_in_oom);
		RUN(cores_are_locked);
		RUN(programs_run_on_several_devices);
		RUN(options_may_be_many);
		RUN(killed_for_memory_is_oom);
	} else {
		printf("skip: host: no fake plugin: it is built once the plugin's header is there "
		       "(make deps)\n");
	}
	fixture_end();
	return test_done();
}
