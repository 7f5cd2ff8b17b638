/*
 * space.c - measures how fast our own part of a decision is.
 *
 *	build/release/bench/space [--repeat N] GRAPH...
 *
 * It takes programs as they are in the file, without a compiler, and times: opening the space; the region of one flip
 * from the default, over 2,000 random sites; the regions of moves of 1% and of a third of all sites; applying a
 * configuration and serialising the program. It prints the best and the median of N, in milliseconds. The best is what
 * the work takes; the rest is other work on the machine.
 */
#include <stdio.h>
#include <string.h>
#include "base/opt.h"
#include "base/progress.h"
#include "base/stat.h"
#include "ready/subject.h"

#define FLIPS 2000u

struct run {
	struct space *s;
	uint8_t *from, *to;
	struct rng r;
	double bytes;
};

static void row(const char *what, double *ms, size_t n, double each)
{
	for (size_t i = 0; i < n; i++)
		ms[i] *= 1e3 / each;
	printf("  %-34s best %8.3f ms, median %8.3f ms, worst %8.3f ms\n", what, stat_quantile(ms, n, 0),
		stat_median(ms, n), stat_quantile(ms, n, 1));
}

static void flip(struct run *w, uint32_t site)
{
	w->to[site] = (uint8_t)((w->to[site] + 1 + rng_below(&w->r, w->s->site[site].choices - 1u)) %
		w->s->site[site].choices);
}

static int time_region(struct run *w, double *seconds, struct err *err)
{
	struct regions out = {0};
	double began = now_seconds();
	int rc = w->s->ops->region(w->s, w->from, w->to, &out, err);

	*seconds = now_seconds() - began;
	regions_release(&out);
	return rc;
}

static int flips(struct run *w, struct err *err)
{
	double *t = MEM_NEW(FLIPS, double);
	int rc = 0;

	for (uint32_t i = 0; i < FLIPS && rc == 0; i++) {
		memcpy(w->to, w->from, w->s->n_sites);
		flip(w, (uint32_t)rng_below(&w->r, w->s->n_sites));
		rc = time_region(w, &t[i], err);
	}
	if (rc == 0)
		row("region of one flip", t, FLIPS, 1);
	mem_free(t);
	return rc;
}

static int moves(struct run *w, double share, double *t, size_t n, struct err *err)
{
	char what[60];
	int rc = 0;

	for (size_t i = 0; i < n && rc == 0; i++) {
		memcpy(w->to, w->from, w->s->n_sites);
		for (uint32_t k = 0; k < w->s->n_sites; k++)
			if (rng_unit(&w->r) < share)
				flip(w, k);
		rc = time_region(w, &t[i], err);
	}
	snprintf(what, sizeof what, "regions of a move of %.0f%%", 100 * share);
	if (rc == 0)
		row(what, t, n, 1);
	return rc;
}

static int applies(struct run *w, double *t, size_t n, struct err *err)
{
	struct buf module = {0};
	char what[60];
	int rc = 0;

	for (size_t i = 0; i < n && rc == 0; i++) {
		double began = now_seconds();
		buf_reset(&module);
		rc = w->s->ops->apply(w->s, w->from, &module, err);
		t[i] = now_seconds() - began;
	}
	snprintf(what, sizeof what, "apply and serialise, %.1f MB", (double)module.len / 1e6);
	if (rc == 0) {
		row(what, t, n, 1);
		row("... per 5,000 sites", t, n, 1e3 * w->s->n_sites / 5000.0);
	}
	buf_release(&module);
	return rc;
}

static int try_program(const char *path, size_t n, struct err *err)
{
	struct subject s = {0};
	struct run w = {0};
	double *t = MEM_NEW(n, double);
	int rc = subject_open(&s, path, "fusion", NULL, err);

	for (size_t i = 0; i < n && rc == 0; i++) {
		double began = now_seconds();
		struct space *again = space_open("fusion", "cpu", &s.graph, NULL, 0, err);
		t[i] = now_seconds() - began;
		rc = again ? 0 : -1;
		space_free(again);
	}
	if (rc == 0) {
		w = (struct run){.s = s.space, .from = mem_alloc(s.space->n_sites + 1),
			.to = mem_alloc(s.space->n_sites + 1)};
		rng_seed(&w.r, 1);
		space_default(w.s, w.from);
		printf("%s: %u sites, %u instructions\n", s.name, w.s->n_sites, s.graph.n_nodes);
		row("open the space", t, n, 1);
		rc = flips(&w, err);
	}
	if (rc == 0)
		rc = moves(&w, 0.01, t, n, err);
	if (rc == 0)
		rc = moves(&w, 0.33, t, n, err);
	if (rc == 0)
		rc = applies(&w, t, n, err);
	mem_free(t);
	mem_free(w.from);
	mem_free(w.to);
	subject_release(&s);
	return rc;
}

int main(int argc, char **argv)
{
	int64_t repeat = 15;
	const struct opt table[] = {OPT_INT(0, "repeat", &repeat, 1, 10000, "times each"), OPT_END};
	const struct opt_program prog = {"space", "[OPTIONS] GRAPH...", "Times what needs no compiler.", table};
	struct err err = {0};
	int n = 0, rc;

	err_program("space");
	rc = opt_parse(&prog, argc, argv, &n, &err);
	for (int i = 0; rc == 0 && i < n; i++)
		rc = try_program(argv[i], (size_t)repeat, &err);
	return rc < 0 ? err_exit(&err) : 0;
}
