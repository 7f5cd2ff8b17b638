/*
 * derive.c - computes the derived tables, each time from all the facts.
 *
 * sigma: the median magnitude of all advantages (cost of a choice minus cost of the first) of a
 * space in an environment. Samples whose first choice failed have no advantages.
 *
 * best: the lowest cost against the default, among the findings, and among the configurations that the
 * chains went through (sum.h).
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "base/io.h"
#include "base/mem.h"
#include "base/stat.h"
#include "store/code.h"
#include "store/sum.h"

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

/* Keeps the configuration after the step if it is the cheapest so far. */
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
	step_after(t, b->config);
}

static int derive_run(struct derive *d, const struct run_info *r, struct err *err)
{
	struct replay *p = replay_open(d->s, r->id, err);
	struct sums sums = {0};
	struct sum *sum;
	struct step t;
	int rc = p ? sums_open(&sums, d->s, r, err) : -1;

	while (rc == 0 && (rc = replay_next(p, &t, err)) == 1) {
		sum = sums_before(&sums, &t, err);
		if (!sum) {
			rc = -1;
			break;
		}
		d->steps++;
		if (!t.is_trial)
			count(tally_of(d, t.space, r->environment), &t.sample);
		sums_take(&sums, &t);
		offer(d, r, sum, &t);
		rc = 0;
	}
	sums_close(&sums);
	replay_close(p);
	return rc;
}

static int write_tallies(struct derive *d, struct err *err)
{
	for (size_t i = 0; i < d->n_tallies; i++) {
		struct tally *t = &d->tally[i];

		if (t->n && sql_run(d->s, err, "INSERT INTO sigma VALUES (?, ?, ?, ?, ?)", "iiiid", t->space,
			t->environment,
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
		rc = sql_run(d->s, err, "INSERT INTO best VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", "iitiidddib",
			b->space, b->environment, b->how, b->run, (int64_t)b->step, b->delta, b->se, b->base,
			(int64_t)hash_choices(b->config, b->n_sites), pack.data, pack.len);
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
		sql_run(d->s, err, "INSERT INTO best SELECT space, environment, "
		"how, run, step, delta, se, default_seconds, hash,"
			" config FROM (SELECT c.space, r.environment, "
			"f.how, f.run, f.step, min(f.delta) AS delta, f.se, f.default_seconds, f.hash, f.config FROM "
			"finding f JOIN run r ON r.id = f.run JOIN chain c ON"
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
