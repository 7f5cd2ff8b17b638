/*
 * check_store_kill.c - a writer is killed with -9 at random moments. No more than the step in flight is lost, and the
 * same run goes on afterwards. full_store_kill.c does this more often, with more data.
 */
#include "tests/test.h"
#include "tests/store_fixture.h"
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include "store/sql.h"

#ifndef KILLS
#define KILLS 12
#define STEPS 3000
#define MERGE_RUNS 30
#define MERGE_STEPS 40
#define WRITE_TIME 0.012 /* seconds of work until a kill, at most */
#define MERGE_TIME 0.012
#define MERGE_KILLS 12
#endif

static char *folder;
static volatile uint32_t *acknowledged; /* steps the writer saw committed; shared with the child */

static const char *at(const char *name)
{
	return made_path(folder, name);
}

/* Writes one step and the facts that belong to it, all drawn from r. */
static int one_step(struct store *s, struct run *run, const struct made *m, struct rng *r, struct err *err)
{
	struct failure f = {OUTCOME_CRASHED, 11, "lost its mind", {1, 2}};
	struct region_cost c = {1e-6, 1e-8, 1e-5, 1e-5, OUTCOME_OK, COST_MODELLED, 3, {0, 0, 0}};
	uint64_t key[2] = {rng_u64(r), 1};
	struct sample x = made_sample(r, m, 0, true);

	if ((rng_below(r, 5) == 0 && run_failed(run, &f, err) < 0) ||
		(rng_below(r, 3) == 0 && store_region_put(s, m->environment, key, &c, err) < 0) ||
		(run_chain_steps(run, 0) % 50 == 0 && run_keyframe(run, 0, run_chain_steps(run, 0) / 50, err) < 0))
		return -1;
	return run_sample(run, &x, r, sizeof *r, err);
}

static int64_t number(const char *path, const char *sql)
{
	struct err err = {0};
	struct store *s = store_open(path, STORE_READ, NULL, &err);
	sqlite3_stmt *q = NULL;
	int64_t n = -1;

	if (s && sql_prepare(s, sql, &q, &err) == 0 && sql_step(s, q, &err) == 1)
		n = sqlite3_column_int64(q, 0);
	sqlite3_finalize(q);
	store_close(s);
	return n;
}

/* Continues the run, or begins it. Returns 1 if it has ended already: a kill can come after the last commit. */
static int continue_run(struct store *s, const char *path, const struct made *m, struct run **run, struct rng *r,
	struct err *err)
{
	struct run_spec spec = made_spec(m, 3);
	struct chain_spec c = {.space = m->space, .start = "default", .config = m->dflt};
	uint32_t chain;
	char other[37];
	size_t n;
	int rc = run_resume(s, &spec, run, other, err);

	if (rc == 1) {
		memcpy(r, run_state(*run, &n), sizeof *r);
		*acknowledged = run_steps(*run);
		return 0;
	}
	if (rc < 0 || number(path, "SELECT count(*) FROM run") > 0)
		return rc < 0 ? -1 : 1;
	rng_seed(r, 3);
	return run_begin(s, &spec, run, err) < 0 || run_chain(*run, &c, &chain, err) < 0 ? -1 : 0;
}

/* Works on the run until it has STEPS steps. Returns 0 when it has them. */
static int writer(const char *path)
{
	struct err err = {0};
	struct store *s = store_open(path, STORE_CREATE, NULL, &err);
	struct made m = {0};
	struct run *run = NULL;
	struct rng r;
	int rc = s ? made_facts(s, "g", 50, 4, &m, &err) : -1;

	if (rc == 0)
		rc = continue_run(s, path, &m, &run, &r, &err);
	while (rc == 0 && run_steps(run) < STEPS && (rc = one_step(s, run, &m, &r, &err)) == 0)
		*acknowledged = run_steps(run);
	if (rc == 0)
		rc = run_end(run, RUN_FINISHED, "{}", &err);
	if (rc < 0)
		fprintf(stderr, "%s\n", err.text);
	run_free(run);
	store_close(s);
	made_release(&m);
	return rc < 0 ? 1 : 0;
}

/* Returns the processor time of a child so far, in seconds. */
static double worked(pid_t pid)
{
	clockid_t clock;
	struct timespec t = {0};

	if (clock_getcpuclockid(pid, &clock) == 0)
		clock_gettime(clock, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Runs fn in a child, and kills it after so many seconds of work. Returns 1 if it ended by itself, -1 if it failed. */
static int kill_after(int (*fn)(const char *), const char *path, double seconds)
{
	const struct timespec moment = {0, 50000};
	int status;
	pid_t pid;

	fflush(stdout);
	pid = fork();
	if (pid == 0)
		_exit(fn(path));
	while (waitpid(pid, &status, WNOHANG) == 0) {
		if (worked(pid) >= seconds)
			kill(pid, SIGKILL);
		nanosleep(&moment, NULL);
	}
	return WIFSIGNALED(status) ? 0 : WEXITSTATUS(status) == 0 ? 1 : -1;
}

static bool sound(const char *path)
{
	char cmd[700];

	snprintf(cmd, sizeof cmd, "%s/store verify --quiet %s >%s.log 2>&1 || { cat %s.log; false; }",
		getenv("BIN") ? getenv("BIN") : "bin", path, path, path);
	return system(cmd) == 0;
}

/* Returns a hash of the whole run, of every step and the facts that belong to it. */
static uint64_t fingerprint(const char *path)
{
	static const char sql[] = "SELECT id, chain, site, chosen, costs FROM "
		"sample UNION ALL SELECT step, n, outcome, signal, detail FROM failure UNION ALL SELECT step, n, "
		"sweep, hash, config FROM keyframe UNION ALL SELECT key0, key1, pairs,"
		" kind, delta FROM region ORDER BY 1, 2, 3, 4, 5";
	struct err err = {0};
	struct store *s = store_open(path, STORE_READ, NULL, &err);
	sqlite3_stmt *q = NULL;
	uint64_t h = 0;

	if (s && sql_prepare(s, sql, &q, &err) == 0)
		while (sql_step(s, q, &err) == 1)
			for (int c = 0; c < 5; c++)
				h = hash64(sqlite3_column_blob(q, c), (size_t)sqlite3_column_bytes(q, c),
					hash_mix(h, (uint64_t)c));
	CHECK_STR(err.text, "");
	sqlite3_finalize(q);
	store_close(s);
	return h;
}

static void killed_and_resumed_is_the_same_run(void)
{
	const char *path = at("killed.sqlite");
	struct rng r;
	int rc = 0, kills = 0;

	rng_seed(&r, (uint64_t)time(NULL));
	for (int i = 0; i < KILLS * 10 && rc == 0 && kills < KILLS && !test_failed; i++) {
		int64_t steps;

		rc = kill_after(writer, path, 5e-4 + WRITE_TIME * rng_unit(&r));
		CHECK(rc >= 0);
		kills += rc == 0;
		if (!io_exists(path) || number(path, "SELECT count(*) FROM run") <= 0)
			continue; /* killed before the first step */
		steps = number(path, "SELECT count(*) FROM sample");
		CHECK(steps >= *acknowledged && steps <= *acknowledged + 1);
		CHECK(sound(path));
	}
	if (rc == 0)
		CHECK_INT(writer(path), 0);
	CHECK_INT(writer(at("whole.sqlite")), 0);
	CHECK(sound(path));
	CHECK_INT(number(path, "SELECT count(*) FROM sample"), STEPS);
	CHECK(fingerprint(path) == fingerprint(at("whole.sqlite")));
	printf("killed %d times\n", kills);
}

static int merger(const char *path)
{
	char program[500];

	snprintf(program, sizeof program, "%s/store", getenv("BIN") ? getenv("BIN") : "bin");
	if (!freopen("/dev/null", "w", stdout))
		return 1;
	execl(program, "store", "merge", "--quiet", path, at("shard.sqlite"), (char *)NULL);
	return 1;
}

static void a_killed_merge_goes_on(void)
{
	const char *out = at("out.sqlite");
	struct err err = {0};
	struct made m;
	struct store *s = store_open(at("shard.sqlite"), STORE_CREATE, NULL, &err);
	struct rng r;
	int rc = 0, kills = 0;

	CHECK_INT(made_facts(s, "g", 50, 2, &m, &err), 0);
	CHECK_INT(store_commit(s, &err), 0);
	CHECK_INT(sql_exec(s, "PRAGMA synchronous = OFF", &err), 0);
	for (int i = 0; i < MERGE_RUNS; i++) {
		struct run *run = made_run(s, &m, (uint64_t)i, MERGE_STEPS, &err);
		CHECK_INT(run_end(run, RUN_FINISHED, NULL, &err), 0);
		run_free(run);
	}
	store_close(s);
	made_release(&m);
	rng_seed(&r, (uint64_t)time(NULL));
	for (int i = 0; i < MERGE_KILLS * 4 && kills < MERGE_KILLS && rc >= 0; i++) {
		if (rc == 1) /* it was done: once more from the start */
			remove(out);
		rc = kill_after(merger, out, 5e-4 + MERGE_TIME * rng_unit(&r));
		CHECK(rc >= 0);
		kills += rc == 0;
		if (io_exists(out) && number(out, "SELECT count(*) FROM outcome") > 0)
			CHECK(sound(out));
	}
	if (rc == 0)
		rc = kill_after(merger, out, INFINITY);
	CHECK_INT(rc, 1);
	CHECK(sound(out));
	CHECK_INT(number(out, "SELECT count(*) FROM sample"), (int64_t)MERGE_RUNS * MERGE_STEPS);
	CHECK(fingerprint(out) == fingerprint(at("shard.sqlite")));
	printf("killed %d times\n", kills);
}

/* A run that commits rarely loses its last steps together, and goes on before them. Its end commits all. */
static void a_relaxed_run_loses_steps_together(void)
{
	struct err err = {0};
	struct made m;
	struct rng r;
	char other[37];

	for (int ends = 0; ends < 2; ends++) {
		struct store *s = store_open(at("relaxed.sqlite"), STORE_CREATE, NULL, &err);
		struct run_spec spec;
		struct run *run;
		CHECK_INT(made_facts(s, "g", 8, 2, &m, &err), 0);
		spec = made_spec(&m, 9);
		run = made_run(s, &m, 9, 3, &err);
		run_relax(run, 1e12);
		rng_seed(&r, 1);
		for (int i = 0; i < 2; i++) {
			struct sample x = made_sample(&r, &m, 0, false);
			CHECK_INT(run_sample(run, &x, &r, sizeof r, &err), 0);
		}
		CHECK_INT(ends ? run_end(run, RUN_STOPPED, NULL, &err) : 0, 0);
		run_free(run);
		store_close(s); /* to the file this is a kill: what was not committed is gone */
		s = store_open(at("relaxed.sqlite"), STORE_WRITE, NULL, &err);
		CHECK_INT(run_resume(s, &spec, &run, other, &err), 1);
		CHECK_INT(run_steps(run), ends ? 5 : 3);
		run_free(run);
		store_close(s);
		made_release(&m);
		CHECK_INT(remove(at("relaxed.sqlite")), 0);
	}
}

int main(void)
{
	struct err err = {0};

	folder = made_folder();
	acknowledged = mmap(NULL, sizeof *acknowledged, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	RUN(killed_and_resumed_is_the_same_run);
	RUN(a_killed_merge_goes_on);
	RUN(a_relaxed_run_loses_steps_together);
	io_remove_tree(folder, &err);
	mem_free(folder);
	return test_done();
}
