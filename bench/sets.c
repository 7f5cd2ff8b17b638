/*
 * sets.c - what rewriting is worth in whole programs: many sets of places, each against the program as it is.
 *
 *	build/release/bench/sets [--csv FILE] [--where CONDITION] [--device NAME] [--core N] GRAPH...
 *	build/release/bench/sets --summary --csv FILE
 *
 * A search prices most places by small modules, and the others only as far as its time allows. This bench has patience
 * instead. It writes whole programs with a set of places rewritten, compiles them, and runs each alternately with the
 * program as it is. The sets are: all places of a rule and variant; those of them for which a condition on the rule's
 * measures holds ("taps * channels <= 80"); each class of places alone; and at last all classes that gained more than
 * twice their error, together. The last set says whether gains add up.
 *
 * Each set is a row that is appended to the CSV file and flushed. Rows that are there are skipped, so the bench can be
 * stopped at any time and run again. Of 40 sets without effect, one is expected to gain more than twice its error.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/io.h"
#include "base/opt.h"
#include "base/stat.h"
#include "cost/cost.h"
#include "ready/subject.h"
#include "space/rewrite/own.h"

#define HEADER "graph,set,sites,outcome,default,ratio,se\n"
#define ROWS_LIMIT ((size_t)64 << 20)
#define SURE 2.0 /* standard errors */

struct settings {
	const char *csv, *where, *device, *only;
	int64_t core, instances;
	double seconds, target;
	bool summary, gainers;
};

struct row {
	char graph[64], set[160], outcome[20];
	uint32_t sites;
	double dflt, ratio, se;
};

struct rows {
	struct row *v;
	size_t n, cap;
};

struct bench {
	const struct settings *set;
	struct rows rows;
	FILE *f;
	struct subject subject;
	struct cost *cost;
	uint8_t *config, *none;
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
		if (sscanf(line + 1, "%63[^,],%159[^,],%u,%19[^,],%lf,%lf,%lf", r.graph, r.set, &r.sites, r.outcome,
			    &r.dflt, &r.ratio, &r.se) != 7) {
			rc = err_set(err, "%s holds a row that this bench did not write: %.60s", path, line + 1);
			break;
		}
		MEM_GROW(&rows->v, &rows->cap, rows->n + 1);
		rows->v[rows->n++] = r;
	}
	buf_release(&text);
	return rc;
}

static const struct row *row_of(const struct bench *b, const char *set)
{
	for (size_t i = 0; i < b->rows.n; i++)
		if (strcmp(b->rows.v[i].graph, b->subject.name) == 0 && strcmp(b->rows.v[i].set, set) == 0)
			return &b->rows.v[i];
	return NULL;
}

static void print_row(const struct row *r)
{
	printf("%-14s %-58s %3u  ", r->graph, r->set, r->sites);
	if (strcmp(r->outcome, "ok") != 0)
		printf("%s\n", r->outcome);
	else
		printf("%+6.2f%% +- %.2f%s\n", 100 * expm1(r->ratio), 100 * r->se,
			fabs(r->ratio) > SURE * r->se ? r->ratio < 0 ? "  gain" : "  loss" : "");
	fflush(stdout);
}

/* Prices the set that stands in b->config, unless it has a row, and leaves the configuration empty. */
static int price(struct bench *b, const char *name, struct err *err)
{
	struct precision p = {.target = b->set->target, .max_seconds = b->set->seconds, .give_up = -1,
		.instances = (uint32_t)b->set->instances};
	struct row r = {0};
	struct timing t = {0};
	uint32_t n = b->subject.space->n_sites;
	int rc;

	snprintf(r.graph, sizeof r.graph, "%s", b->subject.name);
	snprintf(r.set, sizeof r.set, "%s", name);
	for (uint32_t i = 0; i < n; i++)
		r.sites += b->config[i] != 0;
	if (r.sites == 0 || row_of(b, r.set) || strncmp(name, b->set->only, strlen(b->set->only)) != 0) {
		memset(b->config, 0, n);
		return 0;
	}
	rc = cost_whole(b->cost, b->none, b->config, &p, &t, err);
	memset(b->config, 0, n);
	if (rc < 0)
		return -1;
	snprintf(r.outcome, sizeof r.outcome, "%s", t.identical ? "identical" : outcome_name(t.outcome));
	r.dflt = t.seconds_a;
	r.ratio = t.ratio;
	r.se = t.ratio_se;
	fprintf(b->f, "%s,%s,%u,%s,%.9g,%.6g,%.6g\n", r.graph, r.set, r.sites, r.outcome, r.dflt, r.ratio, r.se);
	fflush(b->f);
	MEM_GROW(&b->rows.v, &b->rows.cap, b->rows.n + 1);
	b->rows.v[b->rows.n++] = r;
	print_row(&r);
	timing_release(&t);
	return 0;
}

/* Writes choice k into the configuration, wherever it is of this rule and variant and the condition holds. */
static void fill_rule(struct bench *b, uint32_t rule, uint32_t variant, const struct expr *where)
{
	const struct space *s = b->subject.space;
	struct found f;

	for (uint32_t i = 0; i < s->n_sites; i++)
		for (uint8_t k = 1; k < s->site[i].choices; k++) {
			const struct offer *o = rewrite_offer(s, i, k);
			if (o->rule != rule || o->variant != variant)
				continue;
			rewrite_found(s, i, o, &f);
			if (!where || expr_value(where, f.measure) != 0)
				b->config[i] = k;
		}
}

/* The places of a rule and variant for which each of the conditions holds, a;b;c. Other rules have other measures. */
static int price_where(struct bench *b, uint32_t rule, uint32_t variant, struct err *err)
{
	const struct rule *r = &rewrite_of(b->subject.space)->rules.rule[rule];
	char *list = mem_strdup(b->set->where), *rest = NULL, name[160];
	struct arena mem = {0};
	int rc = 0;

	for (char *one = strtok_r(list, ";", &rest); one && r->code && rc == 0; one = strtok_r(NULL, ";", &rest)) {
		struct err other = {0};
		struct expr *where = expr_parse(&mem, one, r->code->measures, &other);
		if (!where)
			continue;
		fill_rule(b, rule, variant, where);
		snprintf(name, sizeof name, "all %s/%u where %s", r->name, variant, one);
		rc = price(b, name, err);
	}
	arena_release(&mem);
	mem_free(list);
	return rc;
}

static int price_rules(struct bench *b, struct err *err)
{
	const struct rules *rules = &rewrite_of(b->subject.space)->rules;
	char name[160];
	int rc = 0;

	for (uint32_t i = 0; i < rules->n && rc == 0; i++)
		for (uint32_t v = 1; v <= rules->rule[i].n_variants && rc == 0; v++) {
			fill_rule(b, i, v, NULL);
			snprintf(name, sizeof name, "all %s/%u", rules->rule[i].name, v);
			rc = price(b, name, err);
			if (rc == 0)
				rc = price_where(b, i, v, err);
		}
	return rc;
}

static void class_name(const struct bench *b, uint32_t site, uint8_t k, char *name, size_t room)
{
	const struct space *s = b->subject.space;
	const struct offer *o = rewrite_offer(s, site, k);

	snprintf(name, room, "class %u: %s/%u %.60s", s->site[site].tie, rewrite_rule(s, o)->name, o->variant,
		s->graph->node[s->site[site].node].proto->name);
}

static bool leads(const struct space *s, uint32_t site)
{
	for (uint32_t i = 0; i < site; i++)
		if (s->site[i].tie == s->site[site].tie)
			return false;
	return true;
}

static void fill_class(struct bench *b, uint32_t site, uint8_t k)
{
	const struct space *s = b->subject.space;

	for (uint32_t i = site; i < s->n_sites; i++)
		if (s->site[i].tie == s->site[site].tie)
			b->config[i] = k;
}

struct alone { /* a class with one of its choices */
	uint32_t site;
	uint8_t choice;
	double promise; /* of all its places */
};

static int by_promise(const void *a, const void *b)
{
	const struct alone *x = a, *y = b;

	if (x->promise != y->promise)
		return x->promise < y->promise ? 1 : -1;
	return (x->site > y->site) - (x->site < y->site);
}

static struct alone *list_classes(const struct space *s, size_t *n)
{
	struct alone *v = NULL;
	size_t cap = 0;

	*n = 0;
	for (uint32_t i = 0; i < s->n_sites; i++)
		for (uint8_t k = 1; k < s->site[i].choices && leads(s, i); k++) {
			MEM_GROW(&v, &cap, *n + 1);
			v[*n] = (struct alone){i, k, 0};
			for (uint32_t j = i; j < s->n_sites; j++)
				if (s->site[j].tie == s->site[i].tie)
					v[*n].promise += rewrite_offer(s, j, k)->promise;
			(*n)++;
		}
	if (*n)
		qsort(v, *n, sizeof *v, by_promise);
	return v;
}

static int price_classes(struct bench *b, struct err *err)
{
	size_t n;
	struct alone *v = list_classes(b->subject.space, &n);
	char name[160];
	int rc = 0;

	for (size_t i = 0; i < n && rc == 0; i++) {
		class_name(b, v[i].site, v[i].choice, name, sizeof name);
		fill_class(b, v[i].site, v[i].choice);
		rc = price(b, name, err);
	}
	mem_free(v);
	return rc;
}

/* All classes that surely gained alone, each by its best choice. */
static int price_gainers(struct bench *b, struct err *err)
{
	const struct space *s = b->subject.space;
	char name[160];

	for (uint32_t i = 0; i < s->n_sites; i++) {
		double best = 0;
		for (uint8_t k = 1; k < s->site[i].choices && leads(s, i); k++) {
			const struct row *r;
			class_name(b, i, k, name, sizeof name);
			r = row_of(b, name);
			if (r && strcmp(r->outcome, "ok") == 0 && r->ratio < -SURE * r->se && r->ratio < best) {
				best = r->ratio;
				fill_class(b, i, k);
			}
		}
	}
	return price(b, "all that gained alone", err);
}

static int run_graph(struct bench *b, const char *path, struct device *d, struct err *err)
{
	struct cost_options o = {.seed = 1, .part_seconds = -1};
	int rc = subject_open(&b->subject, path, "rewrite", d, err);

	if (rc == 0) {
		b->config = MEM_NEW(b->subject.space->n_sites + 1, uint8_t);
		b->none = MEM_NEW(b->subject.space->n_sites + 1, uint8_t);
		b->cost = cost_new(b->subject.space, d, &o, err);
		rc = b->cost ? 0 : -1;
	}
	if (rc == 0 && !b->set->gainers)
		rc = price_rules(b, err);
	if (rc == 0 && !b->set->gainers)
		rc = price_classes(b, err);
	if (rc == 0)
		rc = price_gainers(b, err);
	cost_free(b->cost);
	b->cost = NULL;
	mem_free(b->config);
	mem_free(b->none);
	subject_release(&b->subject);
	return rc;
}

static int run(const struct settings *set, char **paths, int n, struct err *err)
{
	struct device_options o = {.backend = set->device, .core = (int)set->core + 1, .wait = true,
		.kind = "rewrite"};
	struct bench b = {.set = set};
	struct device *d = NULL;
	int rc = read_rows(set->csv, &b.rows, err);

	if (set->summary)
		for (size_t i = 0; i < b.rows.n; i++)
			print_row(&b.rows.v[i]);
	if (rc == 0 && n > 0 && !(d = device_open(&o, err)))
		rc = -1;
	if (rc == 0 && n > 0 && !(b.f = fopen(set->csv, "a")))
		rc = err_errno(err, "cannot append to %s", set->csv);
	if (b.f && ftell(b.f) == 0)
		fputs(HEADER, b.f);
	for (int i = 0; i < n && rc == 0; i++)
		rc = run_graph(&b, paths[i], d, err);
	if (b.f)
		fclose(b.f);
	device_close(d);
	mem_free(b.rows.v);
	return rc;
}

int main(int argc, char **argv)
{
	struct settings set = {.csv = "sets.csv", .where = "", .device = "cpu", .only = "", .core = -1,
		.instances = 5, .seconds = 5, .target = 0.002};
	const struct opt table[] = {OPT_STR(0, "csv", &set.csv, "FILE", "where rows are kept and added"),
		OPT_STR(0, "where", &set.where, "A;B;C", "conditions; the places where one holds are sets"),
		OPT_STR(0, "only", &set.only, "TEXT", "only sets whose names begin so"),
		OPT_STR(0, "device", &set.device, "NAME", "cpu, NAME@VERSION, or the path of a plugin"),
		OPT_INT(0, "core", &set.core, -1, 4095, "the core to measure on; -1: the least loaded"),
		OPT_INT(0, "instances", &set.instances, 1, 64, "of each whole program"),
		OPT_NUM(0, "seconds", &set.seconds, 0.01, 1000, "of running a pair at most"),
		OPT_NUM(0, "target", &set.target, 0.0001, 1, "stop at this standard error of the logarithm"),
		OPT_FLAG(0, "gainers", &set.gainers, "only what gained alone, together"),
		OPT_FLAG(0, "summary", &set.summary, "print the rows there are, first"), OPT_END};
	const struct opt_program prog = {"sets", "[OPTIONS] GRAPH...", "Sets of rewritten places, by whole programs.",
		table};
	struct err err = {0};
	int n = 0, rc;

	err_program("bench/sets");
	rc = opt_parse(&prog, argc, argv, &n, &err);
	if (rc > 0)
		return 0;
	if (rc == 0)
		rc = run(&set, argv, n, &err);
	return rc < 0 ? err_exit(&err) : 0;
}
