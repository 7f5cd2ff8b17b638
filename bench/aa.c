/*
 * aa.c - measures whether the intervals of measurements hold.
 *
 *	bench/aa [--repeat N] [--told N] [--instances N] [FILE...]
 *
 * It measures a program against itself, with both sides compiled and loaded anew in every repetition, and
 * counts how often the 95% interval covers 0. It does so for the built-in chain of about 1 ms and for every
 * FILE. Then it measures the chain against one that is 1% longer, with 8 instances of each side, and counts how
 * often the difference is told from 0.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/io.h"
#include "base/mem.h"
#include "base/opt.h"
#include "base/progress.h"
#include "base/stat.h"
#include "bench/programs.h"
#include "device/device.h"
#include "graph/graph.h"

#define LENGTH 300000

struct settings {
	int64_t repeat, told, instances, core;
	double seconds;
	bool no_chain;
};

static int compile(struct device *d, const char *format, const struct buf *b, struct compiled *c,
	struct err *err)
{
	if (device_compile(d, COMPILE_DEFAULT, format, b->data, b->len, 0, c, err) < 0)
		return -1;
	if (c->outcome != OUTCOME_OK)
		return err_set(err, "compiling: %s: %s", outcome_name(c->outcome), c->detail);
	return 0;
}

/* One repetition: both sides anew. */
static int once(struct device *d, const char *format, const struct buf *a, const struct buf *b,
	const struct precision *p, struct timing *t, struct err *err)
{
	struct compiled ca = {0}, cb = {0};
	int rc = -1;
	if (compile(d, format, a, &ca, err) < 0 || compile(d, format, b, &cb, err) < 0)
		goto out;
	rc = device_pair(d, &ca, &cb, p, t, err);
	if (rc == 0 && t->outcome != OUTCOME_OK)
		rc = err_set(err, "measuring: %s: %s", outcome_name(t->outcome), t->detail);
out:
	device_drop(d, &ca, err);
	device_drop(d, &cb, err);
	return rc;
}

static int coverage(struct device *d, const char *name, const char *format,
	const struct buf *program, const struct settings *s, uint32_t instances, int64_t repeat,
	struct err *err)
{
	struct precision p = {
		.even_identical = true, .instances = instances, .max_seconds = s->seconds};
	double *ratio = MEM_NEW(repeat, double), *se = MEM_NEW(repeat, double), seconds = 0,
	       wall = now_seconds();
	int64_t covered = 0, dropped = 0, pairs = 0;
	int rc = 0;
	for (int64_t i = 0; i < repeat && rc == 0; i++) {
		struct timing t;
		if ((rc = once(d, format, program, program, &p, &t, err)) < 0)
			break;
		ratio[i] = t.ratio;
		se[i] = t.ratio_se;
		seconds = t.seconds_a;
		covered += fabs(t.ratio) <= 1.96 * t.ratio_se;
		pairs += t.pairs;
		dropped += t.dropped;
	}
	if (rc == 0)
		printf("%-28s %8.3f ms  instances %u  covered %lld of %lld  ratio: median %+.2f%%, "
		       "sd %.2f%%; se median %.2f%%; "
		       "pairs %lld, dropped %lld; %.1f s\n",
			name, seconds * 1e3, instances, (long long)covered, (long long)repeat,
			100 * stat_median(ratio, (size_t)repeat),
			100 * sqrt(stat_var(ratio, (size_t)repeat)),
			100 * stat_median(se, (size_t)repeat), (long long)(pairs / repeat),
			(long long)(dropped / repeat), now_seconds() - wall);
	fflush(stdout);
	mem_free(ratio);
	mem_free(se);
	return rc;
}

static int one_percent(struct device *d, const struct settings *s, struct err *err)
{
	struct precision p = {.instances = (uint32_t)s->instances, .max_seconds = 1};
	struct buf a = {0}, b = {0};
	int64_t told = 0, wrong = 0;
	double sum = 0, se = 0;
	int rc = 0;
	chain_program(LENGTH, &a);
	chain_program(LENGTH + LENGTH / 100, &b);
	for (int64_t i = 0; i < s->told && rc == 0; i++) {
		struct timing t = {0};
		rc = once(d, "mlir", &a, &b, &p, &t, err);
		told += t.ratio > 1.96 * t.ratio_se;
		wrong += t.ratio < -1.96 * t.ratio_se;
		sum += t.ratio / (double)s->told;
		se += t.ratio_se / (double)s->told;
	}
	if (rc == 0)
		printf("chain against 1%% longer, instances %lld: told %lld of %lld, wrong way "
		       "%lld; mean %+.2f%%, mean se %.2f%%\n",
			(long long)s->instances, (long long)told, (long long)s->told,
			(long long)wrong, 100 * sum, 100 * se);
	buf_release(&a);
	buf_release(&b);
	return rc;
}

static int file(struct device *d, const char *path, const struct settings *s, struct err *err)
{
	struct graph g = {0};
	struct buf module = {0};
	const char *slash = strrchr(path, '/');
	int rc = graph_read(&g, path, err);
	if (rc == 0) {
		graph_write(&g, &module);
		rc = coverage(d, slash ? slash + 1 : path, "hlo", &module, s, 1, s->repeat, err);
	}
	buf_release(&module);
	graph_release(&g);
	return rc;
}

int main(int argc, char **argv)
{
	struct settings s = {.repeat = 100, .told = 10, .instances = 8, .core = -1, .seconds = 0.5};
	const struct opt table[] = {
		OPT_INT(0, "repeat", &s.repeat, 1, 100000, "A/A repetitions of each program"),
		OPT_INT(0, "told", &s.told, 0, 100000,
			"repetitions of the 1% difference, and of A/A with instances"),
		OPT_INT(0, "instances", &s.instances, 2, 64, "instances a side for that"),
		OPT_NUM(0, "seconds", &s.seconds, 0, 100, "running time of one A/A repetition"),
		OPT_INT(0, "core", &s.core, -1, 4095, "core to measure on; -1: the least loaded"),
		OPT_FLAG(0, "no-chain", &s.no_chain, "only the files"), OPT_END};
	const struct opt_program prog = {
		"aa", "[OPTIONS] [FILE...]", "Measures programs against themselves.", table};
	struct device_options o = {.wait = true};
	struct err err = {{0}};
	struct buf chain = {0};
	int n;
	err_program("aa");
	int rc = opt_parse(&prog, argc, argv, &n, &err);
	if (rc)
		return rc < 0 ? err_exit(&err) : 0;
	o.core = (int)s.core + 1;
	struct device *d = device_open(&o, &err);
	if (!d)
		return err_exit(&err);
	chain_program(LENGTH, &chain);
	if (!s.no_chain) {
		rc = coverage(d, "chain", "mlir", &chain, &s, 1, s.repeat, &err);
		if (rc == 0 && s.told)
			rc = coverage(d, "chain", "mlir", &chain, &s, (uint32_t)s.instances, s.told,
				&err);
		if (rc == 0 && s.told)
			rc = one_percent(d, &s, &err);
	}
	for (int i = 0; i < n && rc == 0; i++)
		rc = file(d, argv[i], &s, &err);
	buf_release(&chain);
	device_close(d);
	return rc < 0 ? err_exit(&err) : 0;
}
