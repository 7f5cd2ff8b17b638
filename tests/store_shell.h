/*
 * store_shell.h - the program `store`, called as a user calls it, on made-up stores in a folder of their own.
 */
#ifndef TESTS_STORE_SHELL_H
#define TESTS_STORE_SHELL_H

#include <sqlite3.h>
#include <stdarg.h>
#include <sys/wait.h>
#include "tests/store_fixture.h"
#include "tests/test.h"

static char *folder;
static struct buf said; /* what the last call printed, both streams */

static inline const char *at(const char *name)
{
	return made_path(folder, name);
}

/* Changes a store in ways that the program never would. The sqlite3 command is not on every machine. */
static inline int alter(const char *name, const char *sql)
{
	sqlite3 *db;
	int rc = sqlite3_open(at(name), &db);

	if (rc == SQLITE_OK)
		rc = sqlite3_exec(db, sql, NULL, NULL, NULL);
	sqlite3_close(db);
	return rc;
}

/* Runs a shell command in the folder, with $S the program; gives its exit status. */
static inline int sh(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
static inline int sh(const char *fmt, ...)
{
	struct buf cmd = {0};
	char part[4096];
	size_t n;
	va_list ap;
	FILE *f;

	va_start(ap, fmt);
	buf_addf(&cmd, "exec 2>&1; cd %s || exit 99; ", folder);
	buf_vaddf(&cmd, fmt, ap);
	va_end(ap);
	buf_reset(&said);
	f = popen(cmd.data, "r");
	while ((n = fread(part, 1, sizeof part, f)) > 0)
		buf_add(&said, part, n);
	buf_adds(&said, "");
	buf_release(&cmd);
	n = (size_t)pclose(f);
	return WIFEXITED((int)n) ? WEXITSTATUS((int)n) : 128 + WTERMSIG((int)n);
}

static inline bool says(const char *text)
{
	return said.data && strstr(said.data, text) != NULL;
}

#define CHECK_SAYS(text) (says(text) ? true : CHECK_STR(said.data, text))

/* Makes a store with `runs` runs of `n` samples each, with seeds from `first` on. Returns whether that went well. */
static inline bool make(const char *name, uint64_t first, int runs, uint32_t n, const char *graph)
{
	struct err err = {0};
	struct store *s = store_open(at(name), STORE_CREATE, NULL, &err);
	struct made m = {0};
	bool ok = s && made_facts(s, graph, 40, 3, &m, &err) == 0;

	for (int i = 0; ok && i < runs; i++) {
		uint64_t key[2] = {first, (uint64_t)i};
		struct region_cost c = {1e-6, 1e-9, 1e-5, 1e-5, OUTCOME_OK, COST_MODELLED, 10, {0, 0, 0}};
		float raw[2] = {(float)first, (float)i};
		struct measurement q = {.key = {1, 2}, .raw = raw, .n_raw = sizeof raw, .pairs = 1};
		struct failure f = {OUTCOME_CRASHED, 11, "it, said \"no\"", {0, 0}};
		struct run *run = made_run(s, &m, first + (uint64_t)i, n, &err);

		ok = run && run_measured(run, &q, &err) == 0 && run_failed(run, &f, &err) == 0 &&
			store_region_put(s, m.environment, key, &c, &err) == 0 &&
			run_end(run, RUN_STOPPED, "{\"samples\":1}", &err) == 0;
		run_free(run);
	}
	store_close(s);
	made_release(&m);
	return CHECK_STR(err.text, "") && ok;
}

/* Continues the run with this seed for n samples. */
static inline bool grow(const char *name, uint64_t seed, uint32_t n)
{
	struct err err = {0};
	struct store *s = store_open(at(name), STORE_WRITE, NULL, &err);
	struct made m = {0};
	struct run_spec spec;
	struct run *run = NULL;
	char other[37];
	struct rng r;
	size_t size;
	bool ok = s && made_facts(s, "g", 40, 3, &m, &err) == 0;

	spec = made_spec(&m, seed);
	ok = ok && run_resume(s, &spec, &run, other, &err) == 1;
	if (ok)
		memcpy(&r, run_state(run, &size), sizeof r);
	for (uint32_t i = 0; ok && i < n; i++) {
		struct sample x = made_sample(&r, &m, 0, false);
		ok = run_sample(run, &x, &r, sizeof r, &err) == 0;
	}
	ok = ok && run_end(run, RUN_FINISHED, NULL, &err) == 0;
	run_free(run);
	store_close(s);
	made_release(&m);
	return CHECK_STR(err.text, "") && ok;
}

/* To be called first, and last. */
static inline void shell_open(void)
{
	char *bin = realpath(getenv("BIN") ? getenv("BIN") : "bin", NULL);
	char program[4200];

	folder = made_folder();
	snprintf(program, sizeof program, "%s/store", bin ? bin : "bin");
	setenv("S", program, 1);
	free(bin);
}

static inline int shell_close(void)
{
	struct err ignored;

	io_remove_tree(folder, &ignored);
	mem_free(folder);
	buf_release(&said);
	return test_done();
}

#endif
