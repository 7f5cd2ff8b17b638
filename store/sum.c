/*
 * sum.c - follows the chains of a run, and keeps a sum and its variance for each.
 */
#include "store/sum.h"
#include <math.h>
#include <string.h>
#include "base/hash.h"
#include "base/mem.h"
#include "store/code.h"

static int load_chain(struct sums *u, const struct run_info *r, uint32_t number, struct err *err)
{
	sqlite3_stmt *q = sql_query(u->s, err, "SELECT space, base_seconds FROM chain WHERE run = ? AND number = ?",
		"ii", r->id, (int64_t)number);
	struct stored_space p;
	int64_t space;
	int rc = q ? sql_step(u->s, q, err) : -1;

	if (rc != 1)
		return rc < 0 ? -1 : err_set(err, "%s: run %s lacks chain %u: the file is damaged", u->s->path, r->uuid,
			number);
	space = sqlite3_column_int64(q, 0);
	u->chain[number].base = sqlite3_column_double(q, 1);
	sql_done(q);
	if (store_get_space(u->s, space, &p, err) < 0)
		return -1;
	u->chain[number].dflt = hash_choices(p.dflt, p.n_sites);
	stored_space_release(&p);
	return 0;
}

int sums_open(struct sums *u, struct store *s, const struct run_info *r, struct err *err)
{
	*u = (struct sums){.s = s, .chain = MEM_NEW(r->chains, struct sum), .n_chains = r->chains};
	for (uint32_t c = 0; c < r->chains; c++)
		if (load_chain(u, r, c, err) < 0)
			return -1;
	if (sql_prepare(s, "SELECT step, chain, whole, whole_se, "
		"default_seconds FROM anchor WHERE run = ? AND reanchored AND"
		" outcome = 0 ORDER BY step, n", &u->anchor, err) < 0)
		return -1;
	sqlite3_bind_int64(u->anchor, 1, r->id);
	u->has_anchor = sql_step(s, u->anchor, err);
	return u->has_anchor < 0 ? -1 : 0;
}

void sums_close(struct sums *u)
{
	sqlite3_finalize(u->anchor);
	mem_free(u->chain);
	memset(u, 0, sizeof *u);
}

static void reanchor(struct sums *u)
{
	int64_t c = sqlite3_column_int64(u->anchor, 1);

	if (c < 0 || c >= u->n_chains || sqlite3_column_type(u->anchor, 2) == SQLITE_NULL)
		return;
	u->chain[c].known = true;
	u->chain[c].value = sqlite3_column_double(u->anchor, 2);
	u->chain[c].variance = pow(sqlite3_column_double(u->anchor, 3), 2);
	u->chain[c].base = sqlite3_column_double(u->anchor, 4);
}

struct sum *sums_before(struct sums *u, const struct step *t, struct err *err)
{
	struct sum *s = &u->chain[t->chain];

	if (t->hash != s->expected) /* the first step, or a jump */
		s->known = false;
	while (u->has_anchor && sqlite3_column_int64(u->anchor, 0) <= t->step) {
		reanchor(u);
		u->has_anchor = sql_step(u->s, u->anchor, err);
		if (u->has_anchor < 0)
			return NULL;
	}
	if (t->hash == s->dflt) {
		s->known = true;
		s->value = s->variance = 0;
	}
	return s;
}

/*
 * Is a sum still known after a move that cost so much? Where measuring ended because the place left was much slower,
 * it is what the chain costs at most. Where the place reached was, nobody knows how much slower.
 */
static bool still_known(const struct choice_cost *from, const struct choice_cost *to, double moved)
{
	if (from->outcome != OUTCOME_OK || to->outcome != OUTCOME_OK)
		return false;
	if (!from->bound && !to->bound)
		return true;
	return moved < 0 && choice_tells(to, moved, 1) && choice_tells(from, moved, -1);
}

/*
 * Errors are kept in eight bits, so of a variance that another is taken from, what is less than this share of the other
 * is not known.
 */
#define ROUNDING 0x1p-8

/* The variance of a choice against the present one. If that is not the reference, the reference alone has error 0. */
static double own_variance(const struct sample *x, uint8_t present, uint8_t k)
{
	double shared = pow(x->choice[present].se, 2), all = pow(x->choice[k].se, 2);

	if (!isfinite(shared))
		return all;
	if (k == present)
		return 0;
	return all > 0 ? fmax(all - shared, ROUNDING * shared) : shared;
}

double sample_se(const struct sample *x, uint8_t present, uint8_t from, uint8_t to)
{
	return sqrt(own_variance(x, present, from) + own_variance(x, present, to));
}

static void take_sample(struct sum *s, const struct step *t)
{
	uint8_t now = t->config[t->sample.site], next = t->sample.chosen;
	const struct choice_cost *a = &t->sample.choice[now], *b = &t->sample.choice[next];

	s->expected = hash_change(t->hash, t->sample.site, now, next);
	if (now == next)
		return;
	s->known = s->known && still_known(a, b, b->delta - a->delta);
	s->value += b->delta - a->delta;
	s->variance += pow(sample_se(&t->sample, now, now, next), 2);
}

static void take_trial(struct sum *s, const struct step *t)
{
	const struct choice_cost here = {.outcome = OUTCOME_OK},
				 there = {t->trial.delta, t->trial.se, t->trial.outcome, t->trial.bound};

	s->expected = t->hash;
	if (!t->trial.taken)
		return;
	for (uint32_t i = 0; i < t->trial.n_flips; i++)
		s->expected = hash_change(s->expected, t->trial.flip[i].site, t->config[t->trial.flip[i].site],
			t->trial.flip[i].choice);
	s->known = s->known && still_known(&here, &there, t->trial.delta);
	s->value += t->trial.delta;
	s->variance += t->trial.se * t->trial.se;
}

void sums_take(struct sums *u, const struct step *t)
{
	if (t->is_trial)
		take_trial(&u->chain[t->chain], t);
	else
		take_sample(&u->chain[t->chain], t);
}

void step_after(const struct step *t, uint8_t *out)
{
	memcpy(out, t->config, t->n_sites);
	if (!t->is_trial)
		out[t->sample.site] = t->sample.chosen;
	for (uint32_t i = 0; t->is_trial && t->trial.taken && i < t->trial.n_flips; i++)
		out[t->trial.flip[i].site] = t->trial.flip[i].choice;
}
