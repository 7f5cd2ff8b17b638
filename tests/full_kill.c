/*
 * full_kill.c - kills the worker 200 times at random points of a round of requests. Every round ends, the next request
 * works, and in the end no zombie and no file is left.
 */
#include <pthread.h>
#include <signal.h>
#include <time.h>
#include "base/rng.h"
#include "tests/device_fixture.h"

#define ROUNDS 200

struct shot {
	double after; /* seconds */
	bool hit;
};

/* Returns the direct child of this process, or 0. */
static pid_t worker_pid(void)
{
	DIR *proc = opendir("/proc");
	pid_t found = 0, self = getpid();
	for (struct dirent *e; proc && !found && (e = readdir(proc));) {
		char path[300], state;
		int pid = atoi(e->d_name), parent = 0;
		if (pid <= 0)
			continue;
		snprintf(path, sizeof path, "/proc/%d/stat", pid);
		FILE *f = fopen(path, "re");
		if (f && fscanf(f, "%*d (%*[^)]) %c %d", &state, &parent) == 2 && parent == self &&
			state != 'Z')
			found = pid;
		if (f)
			fclose(f);
	}
	if (proc)
		closedir(proc);
	return found;
}

static void *shoot(void *ctx)
{
	struct shot *s = ctx;
	pid_t pid = worker_pid();
	struct timespec nap = {0, (long)(s->after * 1e9)};
	nanosleep(&nap, NULL);
	s->hit = pid && kill(pid, SIGKILL) == 0;
	return NULL;
}

/* Makes every request that a device takes; each answer must be ok or crashed. */
static int round_of_requests(struct device *d, enum outcome *worst)
{
	struct compiled a, b;
	struct timing t = {0};
	struct comparison c = {0};
	struct extracted e = {0};
	struct buf program = {0};
	struct precision p = {.max_seconds = 0.002, .instances = 2, .raw = true};
	struct err err = {{0}};
	int rc = 0;
	*worst = OUTCOME_OK;
	fixture_program("us=30;noise=1;print=5000", &program);
	rc |= device_extract(d, "hlo", program.data, program.len, &e, &err);
	*worst = e.outcome > *worst ? e.outcome : *worst;
	rc |= device_compile(d, COMPILE_DEFAULT, "hlo", program.data, program.len, 7, &a, &err);
	*worst = a.outcome > *worst ? a.outcome : *worst;
	rc |= device_compile(d, COMPILE_APPLIED, "hlo", program.data, program.len, 7, &b, &err);
	*worst = b.outcome > *worst ? b.outcome : *worst;
	rc |= device_pair(d, &a, &b, &p, &t, &err);
	*worst = t.outcome > *worst ? t.outcome : *worst;
	rc |= device_compare(d, &a, &b, NULL, &c, &err);
	comparison_release(&c);
	*worst = c.outcome > *worst ? c.outcome : *worst;
	rc |= device_drop(d, &a, &err);
	rc |= device_drop(d, &b, &err);
	if (rc < 0)
		printf("%s\n", err.text);
	compiled_release(&a);
	compiled_release(&b);
	extracted_release(&e);
	timing_release(&t);
	buf_release(&program);
	return rc;
}

static void killed_at_random_points(void)
{
	struct device *d = fixture_open();
	struct rng r;
	enum outcome o;
	int hits = 0, crashed = 0;
	double start = now_seconds();
	CHECK_INT(d ? round_of_requests(d, &o) : 0, 0);
	double whole = now_seconds() - start; /* what a round that nobody disturbs takes on this machine, or more */
	rng_seed(&r, (uint64_t)getpid());
	for (int i = 0; d && i < ROUNDS; i++) {
		struct shot s = {.after = fmin(whole, 0.9) * rng_unit(&r) * rng_unit(&r)};
		pthread_t thread;
		CHECK(pthread_create(&thread, NULL, shoot, &s) == 0);
		CHECK_INT(round_of_requests(d, &o), 0);
		CHECK(o == OUTCOME_OK || o == OUTCOME_CRASHED);
		pthread_join(thread, NULL);
		hits += s.hit;
		crashed += o == OUTCOME_CRASHED;
		/* A shot after the last answer hits the next request, which is allowed to notice.
		 */
		if (round_of_requests(d, &o) < 0 || o != OUTCOME_OK)
			CHECK(round_of_requests(d, &o) == 0 && o == OUTCOME_OK);
	}
	printf("killed %d times, %d noticed within the round\n", hits, crashed);
	CHECK(hits > ROUNDS / 2);
	device_close(d);
	CHECK(fixture_no_children());
	CHECK_INT(fixture_leftovers(), 0);
}

int main(void)
{
	if (fixture_begin())
		RUN(killed_at_random_points);
	else
		printf("skip: kill: no fake plugin: it is built once the plugin's header is there "
		       "(make deps)\n");
	fixture_end();
	return test_done();
}
