/*
 * region.c - tests whether regions tell the truth: prices single flips from the compiler's default by region and by
 * whole programs.
 *
 *	build/release/bench/region [--flips N] [--csv FILE] [--device cpu] GRAPH...
 *	build/release/bench/region --summary --csv FILE
 *
 * Half of the flips are at sites drawn evenly; most of these make less difference than the whole program's noise. The
 * other half are drawn from the tenth of the sites with the most elements, where there is something to see. The seed
 * decides which.
 *
 * Each flip is a row that is appended to the CSV file and flushed. Rows that are already there are skipped, so the
 * bench can be stopped at any time and run again. The summary is computed from the file.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/io.h"
#include "base/opt.h"
#include "base/progress.h"
#include "base/stat.h"
#include "cost/cost.h"
#include "ready/subject.h"

#define HEADER "graph,sites,flip,site,node,opcode,from,to,default,region_outcome,region,region_se,region_wall," \
	       "whole_outcome,whole,whole_se,whole_wall\n"
#define ROWS_LIMIT ((size_t)64 << 20)

struct settings {
	int64_t flips, seed, instances;
	double whole_seconds;
	const char *csv, *device;
	bool summary;
};

struct row {
	char graph[64], node[80], opcode[32], region_outcome[20], whole_outcome[20];
	uint32_t sites, flip, site, from, to;
	double dflt, region, region_se, region_wall, whole, whole_se, whole_wall;
};

struct rows {
	struct row *v;
	size_t n, cap;
};

static int read_rows(const char *path, struct rows *rows, struct err *err)
{
	struct buf text = {0};
	int rc = 0;

	if (!io_exists(path))
		return 0;
	if (io_read_file(path, ROWS_LIMIT, &text, err) < 0)
		return -1;
	for (char *line = strchr(text.data, '\n'); line && line[1]; line = strchr(line + 1, '\n')) {
		struct row r = {0};
		if (sscanf(line + 1,
			"%63[^,],%u,%u,%u,%79[^,],%31[^,],%u,%u,%lf,%19[^,],%lf,%lf,%lf,%19[^,],%lf,%lf,%lf",
			    r.graph, &r.sites, &r.flip, &r.site, r.node, r.opcode, &r.from, &r.to, &r.dflt,
			    r.region_outcome, &r.region, &r.region_se, &r.region_wall, r.whole_outcome, &r.whole,
			    &r.whole_se, &r.whole_wall) != 17) {
			rc = err_set(err, "%s holds a row that this bench did not write: %.60s", path, line + 1);
			break;
		}
		MEM_GROW(&rows->v, &rows->cap, rows->n + 1);
		rows->v[rows->n++] = r;
	}
	buf_release(&text);
	return rc;
}

static bool is_done(const struct rows *rows, const char *graph, uint32_t flip)
{
	for (size_t i = 0; i < rows->n; i++)
		if (strcmp(rows->v[i].graph, graph) == 0 && rows->v[i].flip == flip)
			return true;
	return false;
}

static const struct space *sorting; /* qsort has no context */

static int by_elements(const void *a, const void *b)
{
	const struct site *x = &sorting->site[*(const uint32_t *)a], *y = &sorting->site[*(const uint32_t *)b];
	uint64_t p = sorting->graph->node[x->node].elements, q = sorting->graph->node[y->node].elements;

	if (p != q)
		return p < q ? 1 : -1;
	return (x->node > y->node) - (x->node < y->node);
}

/* The sites to flip: even numbers drawn from all, odd ones from the tenth with the most elements. */
static void draw_sites(const struct space *s, int64_t seed, uint32_t n, uint32_t *out)
{
	uint32_t *all = MEM_NEW(s->n_sites, uint32_t), *top = MEM_NEW(s->n_sites, uint32_t);
	uint32_t n_top = s->n_sites / 10 > n ? s->n_sites / 10 : s->n_sites < n ? s->n_sites : n;
	struct rng r;

	rng_seed(&r, (uint64_t)seed);
	for (uint32_t i = 0; i < s->n_sites; i++)
		all[i] = top[i] = i;
	sorting = s;
	qsort(top, s->n_sites, sizeof *top, by_elements);
	rng_shuffle(&r, all, s->n_sites);
	rng_shuffle(&r, top, n_top);
	for (uint32_t i = 0; i < n; i++)
		out[i] = i % 2 ? top[i / 2 % n_top] : all[i / 2 % s->n_sites];
	mem_free(all);
	mem_free(top);
}

static int measure(struct cost *c, const uint8_t *a, const uint8_t *b, const struct precision *whole,
	struct row *row, struct err *err)
{
	struct delta d;
	struct timing t = {0};
	double start = now_seconds();

	/* a confirmation, so that no row is served by the cache */
	if (cost_confirm(c, a, b, NULL, &d, err) < 0)
		return -1;
	row->region_wall = now_seconds() - start;
	start = now_seconds();
	if (cost_whole(c, a, b, whole, &t, err) < 0)
		return -1;
	row->whole_wall = now_seconds() - start;
	snprintf(row->region_outcome, sizeof row->region_outcome, "%s", outcome_name(d.outcome));
	snprintf(row->whole_outcome, sizeof row->whole_outcome, "%s", outcome_name(t.outcome));
	row->region = d.seconds;
	row->region_se = d.se;
	row->whole = t.delta;
	row->whole_se = t.delta_se;
	timing_release(&t);
	return 0;
}

static void write_row(FILE *f, const struct row *r)
{
	fprintf(f, "%s,%u,%u,%u,%s,%s,%u,%u,%.9g,%s,%.9g,%.6g,%.4g,%s,%.9g,%.6g,%.4g\n", r->graph, r->sites, r->flip,
		r->site, r->node, r->opcode, r->from, r->to, r->dflt, r->region_outcome, r->region, r->region_se,
		r->region_wall, r->whole_outcome, r->whole, r->whole_se, r->whole_wall);
	fflush(f);
	fprintf(stderr, "%s %u: %s %.40s, region %+.3f +- %.3f us (%.2f s), whole %+.3f +- %.3f us (%.2f s)\n",
		r->graph, r->flip, r->opcode, r->node, r->region * 1e6, r->region_se * 1e6, r->region_wall,
		r->whole * 1e6, r->whole_se * 1e6, r->whole_wall);
}

static int flip_one(const struct settings *set, struct subject *s, struct cost *c, uint32_t site, struct row *row,
	struct err *err)
{
	struct space *sp = s->space;
	const struct site *x = &sp->site[site];
	uint8_t *a = mem_alloc(sp->n_sites), *b = mem_alloc(sp->n_sites);
	struct precision whole = {.target = 0.002, .max_seconds = set->whole_seconds,
		.instances = (uint32_t)set->instances, .give_up = -1};
	struct rng r;
	int rc;

	rng_seed2(&r, (uint64_t)set->seed, row->flip);
	space_default(sp, a);
	space_default(sp, b);
	b[site] = (uint8_t)((b[site] + 1 + rng_below(&r, x->choices - 1u)) % x->choices);
	row->site = site;
	row->from = a[site];
	row->to = b[site];
	snprintf(row->node, sizeof row->node, "%s", s->graph.node[x->node].proto->name);
	snprintf(row->opcode, sizeof row->opcode, "%s", opcode_name(s->graph.node[x->node].opcode));
	rc = measure(c, a, b, &whole, row, err);
	mem_free(a);
	mem_free(b);
	return rc;
}

static int flip_many(const struct settings *set, struct subject *s, struct cost *c, const struct rows *done,
	FILE *f, struct err *err)
{
	uint32_t n = (uint32_t)set->flips, *site = MEM_NEW(n, uint32_t);
	double dflt = 0;
	int rc = 0;

	draw_sites(s->space, set->seed, n, site);
	for (uint32_t i = 0; i < n && rc == 0; i++) {
		struct row row = {.flip = i, .sites = s->space->n_sites};
		snprintf(row.graph, sizeof row.graph, "%s", s->name);
		if (is_done(done, row.graph, i))
			continue;
		rc = cost_default_seconds(c, &dflt, NULL, err);
		row.dflt = dflt;
		if (rc == 0)
			rc = flip_one(set, s, c, site[i], &row, err);
		if (rc == 0)
			write_row(f, &row);
	}
	mem_free(site);
	return rc;
}

static int run_graph(const struct settings *set, const char *path, struct device *d, const struct rows *done,
	FILE *f, struct err *err)
{
	struct subject s = {0};
	struct cost_options o = {.seed = (uint64_t)set->seed, .part_seconds = -1};
	struct cost *c = NULL;
	int rc = subject_open(&s, path, "fusion", d, err);

	if (rc == 0 && s.space->n_sites == 0)
		rc = err_set(err, "%s has no site", s.name);
	if (rc == 0) {
		fprintf(stderr, "%s: %u sites; %s\n", s.name, s.space->n_sites, s.decoded);
		c = cost_new(s.space, d, &o, err);
		rc = c ? flip_many(set, &s, c, done, f, err) : -1;
	}
	cost_free(c);
	subject_release(&s);
	return rc;
}

struct columns { /* of the rows of one graph where both ways worked */
	double *region, *whole, *region_se, *whole_se, *region_wall, *whole_wall;
	size_t n;
};

static void correlate(const char *what, const double *x, const double *y, size_t n)
{
	printf("  %-34s %3zu flips, Pearson %.3f, Spearman %.3f\n", what, n, stat_pearson(x, y, n),
		stat_spearman(x, y, n));
}

static void judge(const struct columns *c)
{
	double *x = MEM_NEW(c->n, double), *y = MEM_NEW(c->n, double);
	size_t seen = 0, apart = 0;

	for (size_t i = 0; i < c->n; i++) {
		double both = hypot(c->region_se[i], c->whole_se[i]);
		apart += fabs(c->region[i] - c->whole[i]) > 3 * both;
		if (fabs(c->whole[i]) > 2 * c->whole_se[i]) {
			x[seen] = c->region[i];
			y[seen++] = c->whole[i];
		}
	}
	correlate("all", c->region, c->whole, c->n);
	correlate("whole beyond 2 standard errors", x, y, seen);
	printf("  apart by more than 3 joint errors: %zu\n", apart);
	printf("  standard error, median: region %.3f us, whole %.3f us\n", stat_median(c->region_se, c->n) * 1e6,
		stat_median(c->whole_se, c->n) * 1e6);
	printf("  wall per evaluation, mean: region %.3f s, whole %.3f s: %.1f times\n",
		stat_mean(c->region_wall, c->n), stat_mean(c->whole_wall, c->n),
		stat_mean(c->whole_wall, c->n) / stat_mean(c->region_wall, c->n));
	mem_free(x);
	mem_free(y);
}

static void summarise(const struct rows *rows, const char *graph)
{
	struct columns c = {.n = 0};
	double *all = MEM_NEW(6 * rows->n, double), dflt = 0;
	size_t n = 0;
	uint32_t sites = 0;

	c.region = all;
	c.whole = all + rows->n;
	c.region_se = all + 2 * rows->n;
	c.whole_se = all + 3 * rows->n;
	c.region_wall = all + 4 * rows->n;
	c.whole_wall = all + 5 * rows->n;
	for (size_t i = 0; i < rows->n; i++) {
		const struct row *r = &rows->v[i];
		if (strcmp(r->graph, graph) != 0)
			continue;
		n++;
		sites = r->sites;
		dflt = r->dflt;
		if (strcmp(r->region_outcome, "ok") != 0 || strcmp(r->whole_outcome, "ok") != 0)
			continue;
		c.region[c.n] = r->region;
		c.whole[c.n] = r->whole;
		c.region_se[c.n] = r->region_se;
		c.whole_se[c.n] = r->whole_se;
		c.region_wall[c.n] = r->region_wall;
		c.whole_wall[c.n++] = r->whole_wall;
	}
	printf("%s: %u sites, default %.3f ms, %zu flips, %zu of them ok both ways\n", graph, sites, dflt * 1e3, n,
		c.n);
	if (c.n > 2)
		judge(&c);
	mem_free(all);
}

static int summary(const char *csv, struct err *err)
{
	struct rows rows = {0};
	int rc = read_rows(csv, &rows, err);

	for (size_t i = 0; i < rows.n && rc == 0; i++) {
		bool first = true;
		for (size_t k = 0; k < i && first; k++)
			first = strcmp(rows.v[k].graph, rows.v[i].graph) != 0;
		if (first)
			summarise(&rows, rows.v[i].graph);
	}
	mem_free(rows.v);
	return rc;
}

static int bench(const struct settings *set, char **paths, int n, struct err *err)
{
	struct device_options o = {.backend = set->device, .wait = true};
	struct rows done = {0};
	struct device *d = NULL;
	FILE *f = NULL;
	int rc = read_rows(set->csv, &done, err);

	if (rc == 0 && !(d = device_open(&o, err)))
		rc = -1;
	if (rc == 0 && !(f = fopen(set->csv, "a")))
		rc = err_errno(err, "cannot append to %s", set->csv);
	if (rc == 0 && ftell(f) == 0)
		fputs(HEADER, f);
	for (int i = 0; i < n && rc == 0; i++)
		rc = run_graph(set, paths[i], d, &done, f, err);
	if (f)
		fclose(f);
	device_close(d);
	mem_free(done.v);
	return rc == 0 ? summary(set->csv, err) : rc;
}

int main(int argc, char **argv)
{
	struct settings set = {.flips = 60, .seed = 1, .instances = 1, .whole_seconds = 1, .csv = "region.csv",
		.device = "cpu"};
	const struct opt table[] = {OPT_INT(0, "flips", &set.flips, 1, 100000, "flips of each graph"),
		OPT_STR(0, "csv", &set.csv, "FILE", "where rows are kept and added"),
		OPT_STR(0, "device", &set.device, "NAME", "cpu, sim, NAME@VERSION, or the path of a plugin"),
		OPT_INT(0, "instances", &set.instances, 1, 64, "of each whole program"),
		OPT_NUM(0, "whole-seconds", &set.whole_seconds, 0.01, 1000, "of running a whole pair at most"),
		OPT_INT(0, "seed", &set.seed, 0, INT64_MAX, "which flips"),
		OPT_FLAG(0, "summary", &set.summary, "of the rows there are; measure nothing"), OPT_END};
	const struct opt_program prog = {"region", "[OPTIONS] GRAPH...", "Regions against whole programs.", table};
	struct err err = {0};
	int n = 0, rc;

	err_program("bench/region");
	rc = opt_parse(&prog, argc, argv, &n, &err);
	if (rc > 0)
		return 0;
	if (rc == 0)
		rc = set.summary ? summary(set.csv, &err) : bench(&set, argv, n, &err);
	return rc < 0 ? err_exit(&err) : 0;
}
