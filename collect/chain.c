/*
 * chain.c - steps, sweeps and anchors of one chain.
 *
 * An anchor measures two instances of each side, because two loads of one program differ by more than the
 * times of one load show. It never gives up on a slow side, because it needs the cost, not a bound.
 */
#include <math.h>
#include <string.h>
#include "collect/chain.h"

#define ANCHOR_PAIRS 4 /* at least; a slow configuration is not run more often than that */

/* How many modules are compiled ahead: AHEAD_EACH for each helper, and AHEAD_LEAST more. */
#define AHEAD_EACH 3
#define AHEAD_LEAST 4

/* Purposes of random streams, so that none overlaps another. */
enum { STREAM_ORDER = 1, STREAM_DRAW = 2 };

static void stream(const struct chain *c, uint64_t purpose, uint32_t n, struct rng *r)
{
	rng_seed2(r, hash_mix(c->seed, purpose), (uint64_t)c->number << 32 | n);
}

void chain_init(struct chain *c, struct lab *lab, uint64_t seed, uint32_t number, const uint32_t *visited,
	uint32_t n)
{
	*c = (struct chain){.lab = lab, .seed = seed, .number = number, .n_sites = n};
	c->config = mem_alloc(lab->space->n_sites);
	c->visited = mem_alloc(n * sizeof *c->visited);
	c->sites = mem_alloc(n * sizeof *c->sites);
	memcpy(c->visited, visited, n * sizeof *visited);
}

void chain_release(struct chain *c)
{
	mem_free(c->config);
	mem_free(c->visited);
	mem_free(c->sites);
	*c = (struct chain){0};
}

/* Moves the sites that are dear behind the others. Among themselves both keep their order. */
static void put_dear_last(struct chain *c)
{
	const struct space *s = c->lab->space;
	uint32_t *dear = mem_alloc(c->n_sites * sizeof *dear), n = 0, m = 0;

	for (uint32_t i = 0; i < c->n_sites; i++)
		if (s->ops->dear && s->ops->dear(s, c->sites[i]))
			dear[m++] = c->sites[i];
		else
			c->sites[n++] = c->sites[i];
	memcpy(c->sites + n, dear, m * sizeof *dear);
	mem_free(dear);
}

void chain_order(struct chain *c)
{
	struct rng r;

	memcpy(c->sites, c->visited, c->n_sites * sizeof *c->sites);
	stream(c, STREAM_ORDER, c->at.sweep, &r);
	rng_shuffle(&r, c->sites, c->n_sites);
	put_dear_last(c);
}

/* After the anchor `t`: is the sum still right? If it has drifted, it goes on from the anchor. */
static bool reanchor(struct chain_state *at, const struct timing *t)
{
	double apart = fabs(t->delta - at->running);
	double allowed = 3 * sqrt(t->delta_se * t->delta_se + at->running_var) + DRIFT_BOUND * at->default_seconds;

	if (t->outcome != OUTCOME_OK)
		return false;
	at->best = fmin(at->known ? at->best : 0, t->delta);
	if (at->known && apart <= allowed)
		return false;
	at->known = true;
	at->running = t->delta;
	at->running_var = t->delta_se * t->delta_se;
	return true;
}

int chain_anchor(const struct chain *c, struct chain_state *at, struct anchor *a, bool *cut, struct err *err)
{
	const struct space *s = c->lab->space;
	uint8_t *dflt = mem_alloc(s->n_sites);
	struct precision p = {.instances = 2, .give_up = -1, .min_pairs = ANCHOR_PAIRS};
	struct timing t = {0};
	int rc;

	space_default(s, dflt);
	rc = cost_whole(c->lab->cost, dflt, c->config, &p, &t, err);
	mem_free(dflt);
	if (rc < 0)
		return -1;
	*a = (struct anchor){.chain = c->number, .sweep = at->sweep, .outcome = t.outcome, .kind = t.kind,
		.default_seconds = t.outcome == OUTCOME_OK && t.seconds_a > 0 ? t.seconds_a : at->default_seconds,
		.whole = t.delta, .whole_se = t.delta_se,
		.running = at->running, .running_se = sqrt(at->running_var)};
	a->reanchored = reanchor(at, &t);
	*cut = t.cut;
	timing_release(&t);
	return 0;
}

/*
 * Updates the state after a step whose drawn choice cost `moved`. A sum of measured steps drifts, and the lowest of
 * many such sums is low by chance, so only anchors say what was best; exact sums do, too.
 */
static void advance(struct chain_state *at, uint32_t n_sites, const struct estimate *moved, bool exact)
{
	at->running += moved->value;
	at->running_var += moved->se * moved->se;
	if (at->known && exact)
		at->best = fmin(at->best, at->running);
	at->steps++;
	if (++at->pos == n_sites) {
		at->pos = 0;
		at->sweep++;
	}
}

/* Tells the device's helpers which choices come next, as far as the present ones are drawn again. */
static int expect(const struct chain *c, struct err *err)
{
	const struct space *s = c->lab->space;
	uint32_t helpers = c->lab->device ? device_info(c->lab->device)->helpers : 0,
		n = AHEAD_LEAST + AHEAD_EACH * helpers;
	struct agenda agenda = {0};
	uint8_t *other;
	int rc = 0;

	if (!helpers)
		return 0;
	other = mem_alloc(s->n_sites);
	memcpy(other, c->config, s->n_sites);
	for (uint32_t i = c->at.pos; i < c->n_sites && agenda.n < n && rc == 0; i++) {
		uint32_t site = c->sites[i];
		for (uint8_t k = 0; k < s->site[site].choices && rc == 0; k++) {
			other[site] = k;
			rc = cost_expect(c->lab->cost, c->config, other, 0, &agenda, err);
		}
		other[site] = c->config[site];
	}
	device_expect(c->lab->device, &agenda);
	agenda_release(&agenda);
	mem_free(other);
	return rc;
}

int chain_try(const struct chain *c, bool anchors, struct chain_step *t, struct err *err)
{
	struct estimate moved;
	struct rng r;
	int rc;

	*t = (struct chain_step){.x.chain = c->number, .after = c->at, .sweep = c->at.sweep,
		.begins = c->at.pos == 0};
	t->anchored = anchors && t->begins && c->at.steps > 0;
	if (t->anchored && chain_anchor(c, &t->after, &t->a, &t->cut, err) < 0)
		return -1;
	if (t->cut)
		return 0;
	stream(c, STREAM_DRAW, c->at.steps, &r);
	rc = expect(c, err);
	if (rc == 0)
		rc = gibbs_step(c->lab->cost, c->lab->space, c->config, c->sites[c->at.pos],
			c->at.tau * c->at.default_seconds, &r, &t->x, &moved, err);
	t->cut = rc == 1;
	if (rc == 0)
		advance(&t->after, c->n_sites, &moved, cost_exact(c->lab->cost));
	return rc < 0 ? -1 : 0;
}

void chain_take(struct chain *c, const struct chain_step *t)
{
	c->at = t->after;
	c->config[t->x.site] = t->x.chosen;
	if (c->at.pos == 0)
		chain_order(c);
}

#define STATE(F) \
	F(u32, sweep) F(u32, pos) F(u32, steps) F(u8, known) F(f64, tau) F(f64, default_seconds) F(f64, noise) \
	F(f64, running) F(f64, running_var) F(f64, best)

void chain_save(const struct chain_state *at, struct buf *out)
{
	STATE(FIELD_SAVE)
}

int chain_load(struct chain *c, struct cursor *in, struct err *err)
{
	struct chain_state *at = &c->at;

	STATE(FIELD_LOAD)
	if (in->bad || at->pos >= c->n_sites || !(at->tau > 0 && at->default_seconds >= 0))
		return err_set(err, "the saved state of chain %u does not fit its program", c->number);
	chain_order(c);
	return 0;
}
