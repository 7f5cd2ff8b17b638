/*
 * derive.c - the derived tables, computed from the facts from the start each time.
 *
 * sigma: the median magnitude of all advantages (cost of a choice minus cost of the first) of a
 * space in an environment. Samples whose first choice failed have no advantages.
 *
 * best: the lowest cost against the default, of the findings, and of what the chains passed through.
 * A chain's cost is a running sum: known once it stands at the default or a whole-graph anchor has
 * set it anew, and unknown again after a jump elsewhere.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "base/io.h"
#include "base/mem.h"
#include "base/stat.h"
#include "store/code.h"
#include "store/replay.h"
#include "store/sql.h"

struct tally { /* of one space in one environment */
	int64_t space, environment;
	double *adv;
	size_t n, cap;
	uint64_t samples;
};

struct best {
	int64_t space, environment, run;
	char how[8];
	uint32_t step, n_sites;
	double delta, se, base;
	uint8_t *config;
};

struct derive {
	struct store *s;
	struct tally *tally;
	size_t n_tallies, cap_tallies;
	struct best *best;
	size_t n_bests, cap_bests;
	int64_t steps;
};

struct sum { /* of a chain */
	bool known;
	double value, variance, base;
	uint64_t dflt; /* hash of the space's default */
};

static struct tally *tally_of(struct derive *d, int64_t space, int64_t environment)
{
	for (size_t i = 0; i < d->n_tallies; i++)
		if (d->tally[i].space == space && d->tally[i].environment == environment)
			return &d->tally[i];
	MEM_GROW(&d->tally, &d->cap_tallies, d->n_tallies + 1);
	d->tally[d->n_tallies] = (struct tally){.space = space, .environment = environment};
	return &d->tally[d->n_tallies++];
}

static void count(struct tally *t, const struct sample *x)
{
	t->samples++;
	if (x->choice[0].outcome != OUTCOME_OK)
		return;
	for (int i = 1; i < x->n_choices; i++)
		if (x->choice[i].outcome == OUTCOME_OK && isfinite(x->choice[i].delta)) {
			MEM_GROW(&t->adv, &t->cap, t->n + 1);
			t->adv[t->n++] = fabs(x->choice[i].delta);
		}
}

static struct best *best_of(struct derive *d, int64_t space, int64_t environment, const char *how)
{
	struct best *b;

	for (size_t i = 0; i < d->n_bests; i++) {
		b = &d->best[i];
		if (b->space == space && b->environment == environment && strcmp(b->how, how) == 0)
			return b;
	}
	MEM_GROW(&d->best, &d->cap_bests, d->n_bests + 1);
	b = &d->best[d->n_bests++];
	*b = (struct best){.space = space, .environment = environment, .delta = INFINITY};
	strncpy(b->how, how, sizeof b->how - 1);
	return b;
}

/* What the step does to the chain's cost; afterwards `known` may be false. */
static void add_step(struct sum *sum, const struct step *t)
{
	if (t->is_trial) {
		if (!t->trial.taken)
			return;
		sum->known = sum->known && t->trial.outcome == OUTCOME_OK && !t->trial.bound;
		sum->value += t->trial.delta;
		sum->variance += t->trial.se * t->trial.se;
		return;
	}
	const struct choice_cost *a = &t->sample.choice[t->config[t->sample.site]];
	const struct choice_cost *b = &t->sample.choice[t->sample.chosen];

	if (a == b)
		return;
	sum->known = sum->known && a->outcome == OUTCOME_OK && b->outcome == OUTCOME_OK && !a->bound && !b->bound;
	sum->value += b->delta - a->delta;
	sum->variance += a->se * a->se + b->se * b->se;
}

/* The configuration after the step, if it is the cheapest yet. */
static void offer(struct derive *d, const struct run_info *r, const struct sum *sum, const struct step *t)
{
	struct best *b = best_of(d, t->space, r->environment, "chain");

	if (!sum->known || sum->value >= 0 || sum->value >= b->delta)
		return;
	b->run = r->id;
	b->step = t->step;
	b->delta = sum->value;
	b->se = sqrt(sum->variance);
	b->base = sum->base;
	b->n_sites = t->n_sites;
	b->config = mem_realloc(b->config, t->n_sites, 1);
	memcpy(b->config, t->config, t->n_sites);
	if (!t->is_trial)
		b->config[t->sample.site] = t->sample.chosen;
	for (uint32_t i = 0; t->is_trial && i < t->trial.n_flips; i++)
		b->config[t->trial.flip[i].site] = t->trial.flip[i].choice;
}

static int load_sums(struct derive *d, const struct run_info *r, struct sum *sum, struct err *err)
{
	for (uint32_t c = 0; c < r->chains; c++) {
		sqlite3_stmt *q = sql_query(d->s, err, "SELECT space, base_seconds FROM chain WHERE run = ? AND number = ?",
			"ii", r->id, (int64_t)c);
		struct stored_space p;
		int64_t space;

		if (!q || sql_step(d->s, q, err) != 1)
			return err_set(err, "%s: run %s lacks chain %u", d->s->path, r->uuid, c);
		space = sqlite3_column_int64(q, 0);
		sum[c].base = sqlite3_column_double(q, 1);
		sql_done(q);
		if (store_get_space(d->s, space, &p, err) < 0)
			return -1;
		sum[c].dflt = code_hash(p.dflt, p.n_sites);
		stored_space_release(&p);
	}
	return 0;
}

/* Anchors up to a step: where the sum was set anew. */
static int take_anchors(struct derive *d, sqlite3_stmt *q, int *has, uint32_t step, uint32_t chains,
	struct sum *sum, struct err *err)
{
	while (*has && sqlite3_column_int64(q, 0) <= step) {
		int64_t c = sqlite3_column_int64(q, 1);

		if (c >= 0 && c < chains) {
			sum[c].known = true;
			sum[c].value = sqlite3_column_double(q, 2);
			sum[c].variance = pow(sqlite3_column_double(q, 3), 2);
			sum[c].base = sqlite3_column_double(q, 4);
		}
		if ((*has = sql_step(d->s, q, err)) < 0)
			return -1;
	}
	return 0;
}

static int derive_steps(struct derive *d, const struct run_info *r, struct replay *p, struct sum *sum, struct err *err)
{
	sqlite3_stmt *q = sql_query(d->s, err, "SELECT step, chain, whole, whole_se, default_seconds FROM anchor"
		" WHERE run = ? AND reanchored AND outcome = 0 ORDER BY step, n", "i", r->id);
	uint64_t *expected = MEM_NEW(r->chains, uint64_t);
	struct step t;
	int rc = -1, has = q ? sql_step(d->s, q, err) : -1;

	while (has >= 0 && (rc = replay_next(p, &t, err)) == 1) {
		struct sum *u = &sum[t.chain];

		d->steps++;
		if (t.hash != expected[t.chain]) /* it jumped */
			u->known = false;
		if (take_anchors(d, q, &has, t.step, r->chains, sum, err) < 0)
			break;
		if (t.hash == u->dflt) {
			u->known = true;
			u->value = u->variance = 0;
		}
		if (!t.is_trial)
			count(tally_of(d, t.space, r->environment), &t.sample);
		add_step(u, &t);
		offer(d, r, u, &t);
		replay_config(p, t.chain, &expected[t.chain]);
	}
	if (has > 0)
		sql_done(q);
	mem_free(expected);
	return has < 0 ? -1 : rc;
}

static int derive_run(struct derive *d, const struct run_info *r, struct err *err)
{
	struct replay *p = replay_open(d->s, r->id, err);
	struct sum *sum = MEM_NEW(r->chains, struct sum);
	int rc = -1;

	if (p && load_sums(d, r, sum, err) == 0)
		rc = derive_steps(d, r, p, sum, err);
	replay_close(p);
	mem_free(sum);
	return rc;
}

static int write_tallies(struct derive *d, struct err *err)
{
	for (size_t i = 0; i < d->n_tallies; i++) {
		struct tally *t = &d->tally[i];

		if (t->n && sql_run(d->s, err, "INSERT INTO sigma VALUES (?, ?, ?, ?, ?)", "iiiid", t->space, t->environment,
				    (int64_t)t->samples, (int64_t)t->n, stat_median(t->adv, t->n)) < 0)
			return -1;
	}
	return 0;
}

static int write_bests(struct derive *d, struct err *err)
{
	struct buf pack = {0};
	int rc = 0;

	for (size_t i = 0; i < d->n_bests && rc == 0; i++) {
		struct best *b = &d->best[i];

		if (!b->config)
			continue;
		buf_reset(&pack);
		io_pack(b->config, b->n_sites, 0, &pack);
		rc = sql_run(d->s, err, "INSERT INTO best VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", "iitiidddib", b->space,
			b->environment, b->how, b->run, (int64_t)b->step, b->delta, b->se, b->base,
			(int64_t)code_hash(b->config, b->n_sites), pack.data, pack.len);
	}
	buf_release(&pack);
	return rc;
}

static int write_all(struct derive *d, struct err *err)
{
	if (sql_write(d->s, err) < 0 ||
		sql_exec(d->s, "DELETE FROM sigma; DELETE FROM best; DELETE FROM rebuilt", err) < 0 ||
		write_tallies(d, err) < 0 || write_bests(d, err) < 0 ||
		/* Findings are single rows: SQL picks the cheapest of each kind (bare columns of a min). */
		sql_run(d->s, err, "INSERT INTO best SELECT space, environment, how, run, step, delta, se, default_seconds, hash,"
			" config FROM (SELECT c.space, r.environment, f.how, f.run, f.step, min(f.delta) AS delta, f.se,"
			" f.default_seconds, f.hash, f.config FROM finding f JOIN run r ON r.id = f.run JOIN chain c ON"
			" c.run = f.run AND c.number = f.chain GROUP BY 1, 2, 3)", "") < 0 ||
		sql_run(d->s, err, "INSERT INTO rebuilt VALUES (?, ?)", "ii", sql_now(), d->steps) < 0)
		return -1;
	return store_commit(d->s, err);
}

int store_rebuild(struct store *s, struct err *err)
{
	struct derive d = {.s = s};
	struct run_info *runs;
	size_t n;
	int rc = store_commit(s, err);

	if (rc < 0 || store_runs(s, &runs, &n, err) < 0)
		return -1;
	for (size_t i = 0; i < n && rc == 0; i++)
		rc = derive_run(&d, &runs[i], err);
	if (rc == 0)
		rc = write_all(&d, err);
	for (size_t i = 0; i < d.n_tallies; i++)
		mem_free(d.tally[i].adv);
	for (size_t i = 0; i < d.n_bests; i++)
		mem_free(d.best[i].config);
	mem_free(d.tally);
	mem_free(d.best);
	run_infos_free(runs, n);
	return rc;
}

int store_sigma(struct store *s, int64_t space, int64_t environment, double *sigma, struct err *err)
{
	sqlite3_stmt *q = sql_query(s, err, "SELECT sigma FROM sigma WHERE space = ? AND environment = ?", "ii", space,
		environment);
	int rc = q ? sql_step(s, q, err) : -1;

	if (rc == 1) {
		*sigma = sqlite3_column_double(q, 0);
		sql_done(q);
	}
	return rc;
}
