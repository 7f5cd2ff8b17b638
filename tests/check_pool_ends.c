/*
 * check_pool_ends.c - helpers come to an end, and their workers with them, whatever they are doing.
 */
#include "tests/pool_fixture.h"

/* A device is closed at once, whatever its helpers are doing. */
static void closing_does_not_wait(void)
{
	static const char *const script[] = {"compile=hang", "compile=hang;us=2", "compile=hang;us=3"};
	struct device *d = pool_fixture_open(3, true);
	double start;

	if (!d)
		return;
	pool_fixture_expect(d, script, 3, 1);
	start = now_seconds();
	device_close(d);
	CHECK(now_seconds() - start < 30); /* a hang is for ever */
	CHECK(fixture_no_children());
}

static pid_t process_of(struct pool *p)
{
	pid_t pid;

	pthread_mutex_lock(&p->lock);
	pid = p->helper[0].process;
	pthread_mutex_unlock(&p->lock);
	return pid;
}

/* Has the job of a script begun? Or else is it over? */
static bool is_at(struct pool *p, const char *script, bool over)
{
	struct buf module = {0};
	uint64_t key[2];
	bool found = false;

	fixture_program(script, &module);
	agenda_key(module.data, module.len, key);
	pthread_mutex_lock(&p->lock);
	for (size_t i = 0; i < p->n_jobs; i++)
		if (memcmp(p->job[i]->key, key, sizeof key) == 0)
			found = over ? p->job[i]->failed : p->job[i]->running > 0;
	pthread_mutex_unlock(&p->lock);
	buf_release(&module);
	return found;
}

/* Is the process stopped? As /proc says: "pid (name) T ..". */
static bool is_stopped(pid_t pid)
{
	char path[64];
	struct buf text = {0};
	const char *name_end;
	bool stopped;

	snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
	name_end = io_read_file(path, 4096, &text, NULL) == 0 ? strrchr(text.data, ')') : NULL;
	stopped = name_end && name_end[2] == 'T';
	buf_release(&text);
	return stopped;
}

/* A worker that takes the place of a dead one is stopped and ended as that would be. */
static void workers_that_follow_are_signalled(void)
{
	static const char *const script[] = {"compile=abort", "compile=hang;us=4"};

	for (int soon = 0; soon < 2; soon++) {
		struct device *d = pool_fixture_open(1, true);
		pid_t pid = 0;
		double start;
		if (!d)
			return;
		pool_fixture_expect(d, script, 2, 1);
		while (!is_at(d->pool, script[1], false) && !is_at(d->pool, script[1], true))
			sched_yield();
		while (!soon && (pid = process_of(d->pool)) == 0 && !is_at(d->pool, script[1], true))
			sched_yield();
		if (!soon && CHECK(pid > 0)) {
			pool_hold(d->pool, true);
			while (!is_stopped(pid) && is_at(d->pool, script[1], false))
				sched_yield();
			CHECK(is_stopped(pid));
			pool_hold(d->pool, false);
		}
		start = now_seconds();
		device_close(d);
		CHECK(now_seconds() - start < 30); /* a hang is for ever */
		CHECK(fixture_no_children());
	}
}

/* A helper that has no device takes no jobs, which the caller can do. */
static void helpers_without_a_device_end(void)
{
	struct device_options o = {.backend = "/nowhere/plugin.so", .jobs = 1};
	struct pool *p = pool_open(&o, NULL, 0, false);
	struct agenda agenda = {0};
	struct buf module = {0};
	struct helped helped = {.helpers = 1};

	if (!CHECK(p))
		return;
	fixture_program("us=20", &module);
	agenda_add(&agenda, &module, 1);
	pool_expect(p, &agenda);
	while (helped.helpers && !is_at(p, "us=20", true)) {
		sched_yield();
		pool_account(p, &helped);
	}
	CHECK_INT(helped.helpers, 0);
	CHECK(!is_at(p, "us=20", true));
	agenda_release(&agenda);
	pool_close(p);
}

int main(void)
{
	if (!fixture_begin()) {
		printf("skip: workers that compile ahead: no fake plugin without the plugin's header\n");
		return test_done();
	}
	setenv("VANTAGE_SHARE_CORES", "1", 1);
	RUN(closing_does_not_wait);
	RUN(workers_that_follow_are_signalled);
	RUN(helpers_without_a_device_end);
	fixture_end();
	return test_done();
}
