/*
 * nights.c - gathers what a page about the nights shows (nights.h): one pass over the stints, one replay of every run.
 *
 * The replay gives coverage, errors and sums of costs. The sums of chains (sum.h) tell the best configuration that was
 * passed through, findings the best that was kept; both are put beside the default's own cost at that time.
 */
#include "store/nights.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "base/stat.h"
#include "store/code.h"
#include "store/sum.h"

struct pile { /* a program while it is gathered */
	uint8_t *seen;	 /* per site */
	double *error;	 /* of every price */
	size_t n, cap, clear, clock_cap;
	double regions, cached;
};

struct gathering {
	struct store *s;
	struct nights *out;
	struct pile *pile; /* as many as programs */
	size_t cap_programs, cap_piles, cap_stretches;
};

static int read_stretches(struct gathering *g, struct err *err)
{
	struct nights *n = g->out;
	sqlite3_stmt *q = sql_query(g->s, err, "SELECT t.run, r.kind, t.program, t.host, t.state, e.version,"
		" t.first_step, t.started / 1e6, t.ended / 1e6, (SELECT max(at) FROM region WHERE environment = e.id)"
		" / 1e6, json_extract(iif(json_valid(t.summary), t.summary, '{}'), '$.cached_share'),"
		" json_extract(iif(json_valid(t.summary), t.summary, '{}'), '$.regions'), e.id FROM stint t JOIN run r"
		" ON r.id = t.run JOIN environment e ON e.id = r.environment ORDER BY t.run, t.n", "");
	int rc;

	if (!q)
		return -1;
	while ((rc = sql_step(g->s, q, err)) == 1) {
		struct stretch t = {.run = sqlite3_column_int64(q, 0), .kind = arena_strdup(&n->mem, sql_text(q, 1)),
			.program = arena_strdup(&n->mem, sql_text(q, 2)),
			.host = arena_strdup(&n->mem, sql_text(q, 3)),
			.state = arena_strdup(&n->mem, sql_text(q, 4)),
			.version = arena_strdup(&n->mem, sql_text(q, 5)),
			.first = (uint32_t)sqlite3_column_int64(q, 6), .started = sql_real(q, 7),
			.ended = sql_real(q, 8), .cached = sql_real(q, 10), .regions = sql_real(q, 11),
			.environment = sqlite3_column_int64(q, 12)};
		t.open = isnan(t.ended);
		if (t.open)
			t.ended = fmax(t.started, sql_real(q, 9));
		MEM_GROW(&n->stretch, &g->cap_stretches, n->n_stretches + 1);
		n->stretch[n->n_stretches++] = t;
	}
	return rc;
}

/* A stretch ends where the next of its run begins. */
static void set_ends(struct nights *n, const struct run_info *r)
{
	for (size_t i = 0; i < n->n_stretches; i++) {
		struct stretch *t = &n->stretch[i];
		bool last = i + 1 == n->n_stretches || t[1].run != t->run;
		if (t->run == r->id)
			t->end = last ? (r->steps > t->first ? r->steps : t->first) : t[1].first;
		if (t->run == r->id && !last && t->open)
			t->ended = fmin(t->ended, t[1].started);
	}
}

static double when(const struct nights *n, int64_t run, uint32_t step)
{
	for (size_t i = n->n_stretches; i-- > 0;) {
		const struct stretch *t = &n->stretch[i];
		double share = t->end > t->first ? ((double)step - t->first) / ((double)t->end - t->first) : 0;
		if (t->run == run && step >= t->first)
			return t->started + fmin(share, 1) * (t->ended - t->started);
	}
	return NAN;
}

/* The place of a program; it is made if it is new. */
static int find_program(struct gathering *g, int64_t space, int64_t environment, size_t *at, struct err *err)
{
	struct nights *n = g->out;
	sqlite3_stmt *q;
	struct watched w = {.space = space, .environment = environment, .best = NAN, .cached = NAN};
	size_t i = 0;

	for (i = 0; i < n->n_programs; i++)
		if (n->program[i].space == space && n->program[i].environment == environment)
			return *at = i, 0;
	q = sql_query(g->s, err, "SELECT g.name, p.sites, e.version, e.quantity FROM space p JOIN graph g ON g.id ="
		" p.graph, environment e WHERE p.id = ? AND e.id = ?", "ii", space, environment);
	if (!q || sql_step(g->s, q, err) != 1)
		return err_set(err, "%s lacks a program or an environment: see `store verify`", store_path(g->s));
	w.name = arena_strdup(&n->mem, sql_text(q, 0));
	w.n_sites = (uint32_t)sqlite3_column_int64(q, 1);
	w.version = arena_strdup(&n->mem, sql_text(q, 2));
	w.quantity = quantity_find(sql_text(q, 3));
	sql_done(q);
	MEM_GROW(&n->program, &g->cap_programs, i + 1);
	MEM_GROW(&g->pile, &g->cap_piles, i + 1);
	n->program[i] = w;
	g->pile[i] = (struct pile){.seen = MEM_NEW(w.n_sites + 1, uint8_t)};
	n->n_programs++;
	*at = i;
	return 0;
}

static void take_sample(struct watched *w, struct pile *p, const struct sample *x)
{
	w->samples++;
	w->failed += x->choice[0].outcome != OUTCOME_OK;
	w->covered += !p->seen[x->site];
	p->seen[x->site] = 1;
	for (int k = 0; k < x->n_choices; k++) {
		const struct choice_cost *c = &x->choice[k];
		if (c->outcome != OUTCOME_OK || c->bound || (c->delta == 0 && c->se == 0))
			continue;
		MEM_GROW(&p->error, &p->cap, p->n + 1);
		p->error[p->n++] = c->se;
		p->clear += fabs(c->delta) > 2 * c->se;
	}
}

static void take_clock(struct watched *w, struct pile *p, double at, double seconds)
{
	if (!(seconds > 0) || isnan(at))
		return;
	MEM_GROW(&w->clock, &p->clock_cap, w->n_clock + 1);
	w->clock[w->n_clock++] = (struct clocked){at, seconds};
}

static void offer(struct watched *w, double delta, double base)
{
	if (base > 0 && delta < 0 && !(delta / base >= w->best))
		w->best = delta / base;
}

static int replay_run(struct gathering *g, const struct run_info *r, struct err *err)
{
	struct replay *p = replay_open(g->s, r->id, err);
	struct sums sums = {0};
	struct sum *sum;
	struct step t;
	size_t i;
	int rc = p ? sums_open(&sums, g->s, r, err) : -1;

	while (rc == 0 && (rc = replay_next(p, &t, err)) == 1) {
		sum = sums_before(&sums, &t, err);
		rc = sum ? find_program(g, t.space, r->environment, &i, err) : -1;
		if (rc < 0)
			break;
		if (t.is_trial)
			g->out->program[i].trials++;
		else
			take_sample(&g->out->program[i], &g->pile[i], &t.sample);
		sums_take(&sums, &t);
		if (sum->known)
			offer(&g->out->program[i], sum->value, sum->base);
	}
	sums_close(&sums);
	replay_close(p);
	return rc;
}

/* The default's own cost: when a run began, with every anchor, and with every finding; findings offer bests, too. */
static int read_clocks(struct gathering *g, const struct run_info *r, struct err *err)
{
	sqlite3_stmt *q = sql_query(g->s, err, "SELECT 0, space, min(base_seconds), NULL FROM chain WHERE run = ?1"
		" GROUP BY 2 UNION ALL SELECT a.step, c.space, a.default_seconds, NULL FROM anchor a JOIN chain c ON"
		" c.run = a.run AND c.number = a.chain WHERE a.run = ?1 AND a.outcome = 0 UNION ALL SELECT f.step,"
		" c.space, f.default_seconds, f.delta FROM finding f JOIN chain c ON c.run = f.run AND c.number ="
		" f.chain WHERE f.run = ?1", "i",
			r->id);
	size_t i;
	int rc;

	if (!q)
		return -1;
	while ((rc = sql_step(g->s, q, err)) == 1) {
		double base = sql_real(q, 2);
		rc = find_program(g, sqlite3_column_int64(q, 1), r->environment, &i, err);
		if (rc < 0)
			break;
		take_clock(&g->out->program[i], &g->pile[i],
			when(g->out, r->id, (uint32_t)sqlite3_column_int64(q, 0)), base);
		offer(&g->out->program[i], sql_real(q, 3), base);
	}
	sql_done(q);
	return rc;
}

/* What the ends of stretches say of single programs. */
static int read_summaries(struct gathering *g, const struct run_info *r, struct err *err)
{
	sqlite3_stmt *q = sql_query(g->s, err, "SELECT p.id, json_extract(j.value, '$.regions'), json_extract(j.value,"
		" '$.cached') FROM stint t, json_each(iif(json_valid(t.summary), t.summary, '{}'), '$.programs') j"
		" JOIN graph g ON g.name = json_extract(j.value, '$.name') JOIN space p ON p.graph = g.id WHERE t.run"
		" = ?1 AND p.id IN (SELECT space FROM chain WHERE run = ?1)", "i", r->id);
	size_t i;
	int rc;

	if (!q)
		return -1;
	while ((rc = sql_step(g->s, q, err)) == 1) {
		rc = find_program(g, sqlite3_column_int64(q, 0), r->environment, &i, err);
		if (rc < 0)
			break;
		if (isnan(sql_real(q, 1)))
			continue;
		g->pile[i].regions += sql_real(q, 1);
		g->pile[i].cached += sql_real(q, 2);
	}
	sql_done(q);
	return rc;
}

static int by_time(const void *a, const void *b)
{
	double x = ((const struct clocked *)a)->at, y = ((const struct clocked *)b)->at;

	return (x > y) - (x < y);
}

static int by_name(const void *a, const void *b)
{
	const struct watched *x = a, *y = b;
	int c = strcmp(x->name, y->name);

	return c ? c : (x->environment > y->environment) - (x->environment < y->environment);
}

static int by_start(const void *a, const void *b)
{
	double x = ((const struct stretch *)a)->started, y = ((const struct stretch *)b)->started;

	return (x > y) - (x < y);
}

static void finish(struct gathering *g)
{
	struct nights *n = g->out;

	for (size_t i = 0; i < n->n_programs; i++) {
		struct watched *w = &n->program[i];
		struct pile *p = &g->pile[i];
		w->error = p->n ? stat_median(p->error, p->n) : NAN;
		w->clear = p->n ? (double)p->clear / (double)p->n : NAN;
		w->cached = p->regions > 0 ? p->cached / p->regions : NAN;
		if (w->n_clock)
			qsort(w->clock, w->n_clock, sizeof *w->clock, by_time);
		n->samples += w->samples;
		n->trials += w->trials;
	}
	if (n->n_programs)
		qsort(n->program, n->n_programs, sizeof *n->program, by_name);
	if (n->n_stretches)
		qsort(n->stretch, n->n_stretches, sizeof *n->stretch, by_start);
}

int nights_read(struct store *s, struct nights *out, struct err *err)
{
	struct gathering g = {.s = s, .out = out};
	struct run_info *runs;
	size_t n;
	int rc = store_runs(s, &runs, &n, err);

	*out = (struct nights){0};
	if (rc == 0)
		rc = read_stretches(&g, err);
	for (size_t i = 0; i < n && rc == 0; i++) {
		set_ends(out, &runs[i]);
		if (replay_run(&g, &runs[i], err) < 0 || read_clocks(&g, &runs[i], err) < 0 ||
			read_summaries(&g, &runs[i], err) < 0)
			rc = -1;
	}
	if (rc == 0)
		finish(&g);
	for (size_t i = 0; i < out->n_programs; i++) {
		mem_free(g.pile[i].seen);
		mem_free(g.pile[i].error);
	}
	mem_free(g.pile);
	run_infos_free(runs, n);
	return rc;
}

void nights_release(struct nights *n)
{
	for (size_t i = 0; i < n->n_programs; i++)
		mem_free(n->program[i].clock);
	mem_free(n->program);
	mem_free(n->stretch);
	arena_release(&n->mem);
	*n = (struct nights){0};
}

/* The median of the clocks between two times. */
static double median_within(const struct watched *w, double from, double to)
{
	double *x = MEM_NEW(w->n_clock + 1, double), m;
	size_t n = 0;

	for (size_t i = 0; i < w->n_clock; i++)
		if (w->clock[i].at >= from && w->clock[i].at <= to)
			x[n++] = w->clock[i].seconds;
	m = n ? stat_median(x, n) : NAN;
	mem_free(x);
	return m;
}

double watched_median(const struct watched *w)
{
	return median_within(w, -INFINITY, INFINITY);
}

double nights_drift(const struct nights *n, const struct stretch *t)
{
	double *x = MEM_NEW(n->n_programs + 1, double), m;
	size_t k = 0;

	for (size_t i = 0; i < n->n_programs; i++) {
		double now = n->program[i].environment == t->environment ? median_within(&n->program[i], t->started,
			t->ended) : NAN;
		if (!isnan(now))
			x[k++] = now / watched_median(&n->program[i]) - 1;
	}
	m = k >= 3 ? stat_median(x, k) : NAN;
	mem_free(x);
	return m;
}
