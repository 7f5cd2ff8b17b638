/*
 * chain.c - steps, sweeps and anchors of one chain.
 */
#include <math.h>
#include <string.h>
#include "collect/chain.h"

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

void chain_order(struct chain *c)
{
	struct rng r;

	memcpy(c->sites, c->visited, c->n_sites * sizeof *c->sites);
	stream(c, STREAM_ORDER, c->at.sweep, &r);
	rng_shuffle(&r, c->sites, c->n_sites);
}

int chain_step(struct chain *c, struct sample *x, bool *swept, struct err *err)
{
	struct estimate moved;
	struct rng r;
	uint32_t site = c->sites[c->at.pos];

	stream(c, STREAM_DRAW, c->at.steps, &r);
	*x = (struct sample){.chain = c->number};
	if (gibbs_step(c->lab->cost, c->lab->space, c->config, site, c->at.tau * c->at.default_seconds, &r, x,
		    &moved, err) < 0)
		return -1;
	c->config[site] = x->chosen;
	c->at.running += moved.value;
	c->at.running_var += moved.se * moved.se;
	c->best = fmin(c->best, c->at.running);
	c->at.steps++;
	*swept = ++c->at.pos == c->n_sites;
	if (*swept) {
		c->at.pos = 0;
		c->at.sweep++;
		chain_order(c);
	}
	return 0;
}

int chain_anchor(struct chain *c, struct anchor *a, struct err *err)
{
	const struct space *s = c->lab->space;
	uint8_t *dflt = mem_alloc(s->n_sites);
	struct precision p = {.instances = 2, .give_up = -1};
	struct timing t = {0};
	double apart, allowed;
	int rc;

	space_default(s, dflt);
	rc = cost_whole(c->lab->cost, dflt, c->config, &p, &t, err);
	mem_free(dflt);
	if (rc < 0)
		return -1;
	*a = (struct anchor){.chain = c->number, .sweep = c->at.sweep, .outcome = t.outcome, .kind = t.kind,
		.default_seconds = c->at.default_seconds, .whole = t.delta, .whole_se = t.delta_se,
		.running = c->at.running, .running_se = sqrt(c->at.running_var)};
	apart = fabs(t.delta - c->at.running);
	allowed = 3 * sqrt(t.delta_se * t.delta_se + c->at.running_var) + DRIFT_BOUND * c->at.default_seconds;
	a->reanchored = t.outcome == OUTCOME_OK && apart > allowed;
	if (a->reanchored) {
		c->at.running = t.delta;
		c->at.running_var = t.delta_se * t.delta_se;
	}
	timing_release(&t);
	return 0;
}

void chain_save(const struct chain *c, struct buf *out)
{
	buf_u32(out, c->at.sweep);
	buf_u32(out, c->at.pos);
	buf_u32(out, c->at.steps);
	buf_f64(out, c->at.tau);
	buf_f64(out, c->at.default_seconds);
	buf_f64(out, c->at.running);
	buf_f64(out, c->at.running_var);
	buf_f64(out, c->best);
}

int chain_load(struct chain *c, struct cursor *in, struct err *err)
{
	c->at.sweep = cursor_u32(in);
	c->at.pos = cursor_u32(in);
	c->at.steps = cursor_u32(in);
	c->at.tau = cursor_f64(in);
	c->at.default_seconds = cursor_f64(in);
	c->at.running = cursor_f64(in);
	c->at.running_var = cursor_f64(in);
	c->best = cursor_f64(in);
	if (in->bad || c->at.pos >= c->n_sites)
		return err_set(err, "the saved state of chain %u does not fit its program", c->number);
	chain_order(c);
	return 0;
}
