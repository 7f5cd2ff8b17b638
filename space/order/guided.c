/*
 * guided.c - strategies that the learnt scheduler (policy.h) guides.
 *
 * guided: first orders are drawn with the learnt weights, then with weights that differ a little from the best so far,
 * because programs differ. Each that is better gives its weights to those after it. Annealing then goes on from the
 * best order (tune.h). If laying out the heap takes long, there is time for few orders, and annealing gets all of it.
 *
 * regal: brkga with mutants from distributions that the learnt scheduler gives. Half of them are orders that it draws,
 * with weights that stray. The keys of the others come from a normal distribution for each step, with the mean and the
 * deviation of the step's places in such orders. (All from normal distributions, as in the paper, found 0.8% less in
 * 5,000 evaluations: keys drawn one by one lose what goes together.)
 */
#include <math.h>
#include <string.h>
#include "base/mem.h"
#include "base/progress.h"
#include "space/order/heap.h"
#include "space/order/policy.h"
#include "space/order/trial.h"

#define DRAWS 0.15	/* of a search by guided: the share for drawing orders ... */
#define DRAWS_MOST 2000 /* ... and the most orders */
#define STRAY 0.3	/* how far weights stray, as a share of their own size, and ... */
#define STRAY_LEAST 0.1 /* ... besides */
#define CALM 0.3	/* how hot half of the orders are drawn */
#define PLAIN 8		/* orders drawn with the learnt weights as they are */
#define SAMPLES 24	/* orders by which regal gets its distributions */
#define LEAST_SPREAD 0.01 /* no deviation is below this share of a computation */

static struct policy **open_policies(struct program *p)
{
	struct policy **k = MEM_NEW(p->graph->n_comps, struct policy *);

	for (uint32_t c = 0; c < p->graph->n_comps; c++)
		if (program_line(p, c)->n)
			k[c] = policy_new(program_line(p, c), p->order[c]);
	return k;
}

static void close_policies(struct policy **k, const struct program *p)
{
	for (uint32_t c = 0; c < p->graph->n_comps; c++)
		policy_free(k[c]);
	mem_free(k);
}

/* Draws orders of all computations, callees first as they are listed, and returns the program's bytes. */
static uint64_t draw(struct trial *t, struct policy **k, const double *weight, double heat)
{
	for (uint32_t c = 0; c < t->p->graph->n_comps; c++)
		if (k[c])
			policy_draw(k[c], weight, heat, t->rng, t->p->order[c]);
	return trial_bytes(t);
}

/* Is there time to draw another order? */
static bool more_draws(struct trial *t)
{
	const struct tune_options *o = t->o;
	double share = o->moves ? (double)t->out->moves / (double)o->moves : (now_seconds() - t->began) / o->seconds;

	return trial_more(t) && share < DRAWS && t->out->moves < DRAWS_MOST;
}

static void stray(double *weight, const double *from, struct rng *r)
{
	for (int w = 0; w < POLICY_WEIGHTS; w++)
		weight[w] = from[w] + rng_normal(r) * (STRAY * fabs(from[w]) + STRAY_LEAST);
}

static void draw_orders(struct trial *t)
{
	struct policy **k = open_policies(t->p);
	double best[POLICY_WEIGHTS], weight[POLICY_WEIGHTS];
	uint64_t bytes = UINT64_MAX;

	memcpy(best, policy_learnt, sizeof best);
	for (uint64_t i = 0; i == 0 || more_draws(t); i++) {
		uint64_t now;
		if (i < PLAIN)
			memcpy(weight, best, sizeof weight);
		else
			stray(weight, best, t->rng);
		now = draw(t, k, weight, i == 0 ? 0 : i < PLAIN ? 1 : i % 2 ? CALM : 0);
		if (now > bytes)
			continue;
		bytes = now;
		memcpy(best, weight, sizeof best);
	}
	close_policies(k, t->p);
}

void guided_run(struct program *p, const struct tune_options *o, struct rng *r, struct tune_result *out)
{
	struct tune_options rest = *o;
	struct tune_result drawn, tuned;
	struct trial t;
	double began = now_seconds();

	program_settle(p);
	if (heap_work(p) > TUNE_DEAR) {
		tune(p, o, r, out);
		return;
	}
	trial_begin(&t, p, o, r, &drawn);
	draw_orders(&t);
	trial_end(&t);
	rest.moves = o->moves > drawn.moves ? o->moves - drawn.moves : o->moves > 0;
	rest.seconds = fmax(o->seconds - (now_seconds() - began), 0);
	rest.began = o->seconds > 0 ? 1 - rest.seconds / o->seconds : DRAWS;
	tune(p, &rest, r, &tuned);
	*out = tuned;
	out->before = drawn.before;
	out->moves += drawn.moves;
	out->seconds = now_seconds() - began;
}

/* Draws orders of all computations, with weights that stray from what was learnt, and gives the places of the steps. */
static void draw_places(const struct prior *prior, struct trial *t, double *key)
{
	struct program *p = t->p;
	struct policy **k = prior->with;
	double weight[POLICY_WEIGHTS];

	stray(weight, policy_learnt, t->rng);
	for (uint32_t c = 0; c < p->graph->n_comps; key += program_line(p, c)->n, c++) {
		uint32_t n = program_line(p, c)->n;
		if (k[c])
			policy_draw(k[c], weight, rng_unit(t->rng) < 0.5 ? CALM : 1, t->rng, p->order[c]);
		for (uint32_t i = 0; i < n; i++)
			key[p->order[c][i]] = (double)i / n;
	}
}

/* Sets mean and deviation of each step's place, from orders drawn by the learnt scheduler. */
static void find_prior(struct trial *t, struct policy **k, struct prior *prior)
{
	struct program *p = t->p;
	uint32_t all = 0, n = 0;

	for (uint32_t c = 0; c < p->graph->n_comps; c++)
		all += program_line(p, c)->n;
	*prior = (struct prior){MEM_NEW(all, double), MEM_NEW(all, double), draw_places, k};
	for (; n < SAMPLES && (n == 0 || trial_more(t)); n++) {
		double *mean = prior->mean, *square = prior->spread;
		draw(t, k, policy_learnt, n == 0 ? 0 : 1);
		for (uint32_t c = 0; c < p->graph->n_comps; mean += program_line(p, c)->n,
			square += program_line(p, c)->n, c++)
			for (uint32_t i = 0; i < program_line(p, c)->n; i++) {
				double x = (double)i / program_line(p, c)->n;
				mean[p->order[c][i]] += x;
				square[p->order[c][i]] += x * x;
			}
	}
	for (uint32_t i = 0; i < all; i++) {
		prior->mean[i] /= n;
		prior->spread[i] = sqrt(fmax(prior->spread[i] / n - prior->mean[i] * prior->mean[i], 0)) + LEAST_SPREAD;
	}
}

void regal_run(struct trial *t)
{
	struct policy **k = open_policies(t->p);
	struct prior prior;

	find_prior(t, k, &prior);
	brkga_with(t, &(struct brkga_options)BRKGA_DEFAULTS, &prior);
	mem_free(prior.mean);
	mem_free(prior.spread);
	close_policies(k, t->p);
}
