/*
 * store.c - measures what a sample costs: bytes on disk, and time to append, merge, list and replay.
 *
 *	build/release/bench/store [SAMPLES [FOLDER]]
 *
 * It makes ten shards with a tenth of the samples each (a million in all): two chains on the binary sites of a graph of
 * 1,000. They are committed without sync, to save time; appends with full sync are timed separately. Merging, listing
 * and verifying are timed as the program `store`, from start to exit.
 */
#include <inttypes.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include "base/progress.h"
#include "store/sql.h"
#include "tests/store_fixture.h"

#define SHARDS 10

static char *folder;

static void must(bool ok, const struct err *err)
{
	if (!ok) {
		fprintf(stderr, "bench/store: %s\n", err->text);
		exit(1);
	}
}

static void path_of(char *out, size_t n, const char *name, int i)
{
	snprintf(out, n, "%s/%s%d.sqlite", folder, name, i);
}

static double size_of(const char *path)
{
	struct stat st = {0};

	stat(path, &st);
	return (double)st.st_size;
}

/* A run of n samples on two chains in turns; seconds it took. */
static double write_run(const char *path, uint64_t seed, uint32_t n, bool sync)
{
	struct err err = {0};
	struct store *s = store_open(path, STORE_CREATE, NULL, &err);
	struct made m;
	struct run *run;
	struct rng r;
	double start;
	uint32_t chain;

	must(s && made_facts(s, "bench", 1000, 2, &m, &err) == 0, &err);
	must(store_commit(s, &err) == 0 && (sync || sql_exec(s, "PRAGMA synchronous = OFF", &err) == 0), &err);
	struct run_spec spec = made_spec(&m, seed);
	struct chain_spec c = {.space = m.space, .start = "default", .config = m.dflt, .base_seconds = 1e-3};
	rng_seed(&r, seed);
	must(run_begin(s, &spec, &run, &err) == 0 && run_chain(run, &c, &chain, &err) == 0 &&
		run_chain(run, &c, &chain, &err) == 0, &err);
	start = now_seconds();
	for (uint32_t i = 0; i < n; i++) {
		struct sample x = made_sample(&r, &m, i % 2, false);

		if (i / 2 % m.n_sites == 0)
			must(run_keyframe(run, i % 2, i / 2 / m.n_sites, &err) == 0, &err);
		must(run_sample(run, &x, &r, sizeof r, &err) == 0, &err);
	}
	start = now_seconds() - start;
	must(run_end(run, RUN_FINISHED, NULL, &err) == 0, &err);
	run_free(run);
	store_close(s);
	made_release(&m);
	return start;
}

static double shell(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
static double shell(const char *fmt, ...)
{
	struct buf b = {0};
	struct err err = {0};
	va_list ap;
	double start;

	va_start(ap, fmt);
	buf_vaddf(&b, fmt, ap);
	va_end(ap);
	err_set(&err, "failed: %s", b.data);
	start = now_seconds();
	must(system(b.data) == 0, &err);
	start = now_seconds() - start;
	buf_release(&b);
	return start;
}

static void replay_all(const char *path)
{
	struct err err = {0};
	struct store *s = store_open(path, STORE_READ, NULL, &err);
	struct run_info *v;
	struct step t;
	size_t n = 0;
	uint64_t steps = 0;
	double start = now_seconds();

	must(s && store_runs(s, &v, &n, &err) == 0, &err);
	for (size_t i = 0; i < n; i++) {
		struct replay *p = replay_open(s, v[i].id, &err);
		while (p && replay_next(p, &t, &err) == 1)
			steps++;
		replay_close(p);
	}
	must(!err.text[0], &err);
	start = now_seconds() - start;
	printf("replay in the library: %.0f samples/s\n", (double)steps / start);
	run_infos_free(v, n);
	store_close(s);
}

static void look(const char *bin, const char *out, uint32_t total)
{
	double t = shell("%s/store ls %s >/dev/null", bin, out);

	printf("ls: %.3f s; ", t);
	t = shell("%s/store ls --json %s >/dev/null", bin, out);
	printf("again: %.3f s\n", t);
	t = shell("%s/store verify --quiet %s", bin, out);
	printf("verify: %.2f s, %.0f samples/s\n", t, total / t);
	replay_all(out);
	t = shell("%s/store rebuild %s >/dev/null", bin, out);
	printf("rebuild: %.2f s\n", t);
}

int main(int argc, char **argv)
{
	uint32_t total = argc > 1 ? (uint32_t)strtoul(argv[1], NULL, 10) : 1000000, each = total / SHARDS;
	const char *bin = getenv("BIN") ? getenv("BIN") : "bin";
	char path[400], out[400];
	struct err err = {0};
	struct buf shards = {0};
	double small, seconds = 0, bytes = 0, t;

	if (argc > 2)
		setenv("TMPDIR", argv[2], 1);
	folder = made_folder();
	path_of(path, sizeof path, "empty", 0);
	write_run(path, 1, 0, false);
	small = size_of(path);
	path_of(path, sizeof path, "sync", 0);
	t = write_run(path, 1, 2000, true);
	printf("append with full sync: %.0f us each\n", t / 2000 * 1e6);
	for (int i = 0; i < SHARDS; i++) {
		path_of(path, sizeof path, "shard", i);
		seconds += write_run(path, (uint64_t)i, each, false);
		bytes += size_of(path) - small;
		buf_addf(&shards, " %s", path);
	}
	printf("append without sync: %.1f us each\n", seconds / total * 1e6);
	printf("a store without samples: %.0f bytes; per binary sample with keyframes: %.1f bytes\n", small,
		bytes / total);
	path_of(out, sizeof out, "out", 0);
	t = shell("%s/store merge --quiet %s%s", bin, out, shards.data);
	printf("merge of %d shards, %u samples: %.2f s, %.0f samples/s\n", SHARDS, total, t, total / t);
	t = shell("%s/store merge --quiet %s%s", bin, out, shards.data);
	printf("merge again, nothing new: %.3f s\n", t);
	printf("merged: %.1f bytes per sample\n", (size_of(out) - small) / total);
	look(bin, out, total);
	must(io_remove_tree(folder, &err) == 0, &err);
	buf_release(&shards);
	mem_free(folder);
	return 0;
}
