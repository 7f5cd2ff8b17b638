/*
 * guided.c - strategies that the learnt scheduler (policy.h) guides.
 *
 * guided: first orders are drawn with the learnt weights, then with weights that differ a little from the best so far,
 * because programs differ. Each that is better gives its weights to those after it. Annealing and beams then go on from
 * the best order (tune.h). If laying out the heap takes long, there is time for few orders, and annealing gets it all.
 * If orders are counted, there are few: then some are not drawn, but are the best so far with steps shifted at random.
 * Programs differ in which of the two finds more, so the next order is made in the way that has found more so far.
 *
 * regal: brkga whose mutants are orders that the learnt scheduler draws. Their weights stray from the best so far, too,
 * so they come from a distribution that is the program's own. (Keys drawn one by one from a normal distribution for
 * each step, with mean and deviation of its places in such orders, as in the paper, lose what goes together: with half
 * of the mutants so, and all weights straying from the learnt ones, regal's orders need more.)
 */
#include <math.h>
#include <string.h>
#include "base/mem.h"
#include "base/progress.h"
#include "space/order/heap.h"
#include "space/order/policy.h"
#include "space/order/trial.h"

#define DRAWS_TIME 0.15	/* of a search by guided: the share of its time for drawing orders, ... */
#define DRAWS 0.4	/* ... or of its orders, of which one by annealing takes much less time; ... */
#define DRAWS_MOST 2000 /* ... and the most that are drawn */
#define STRAY 0.3	/* how far weights stray, as a share of their own size, and ... */
#define STRAY_LEAST 0.1 /* ... besides */
#define CALM 0.3	/* how hot half of the orders are drawn */
#define PLAIN 8		/* orders drawn with the learnt weights as they are */
#define HOPE 1e-3	/* what a way of making orders is thought to find before it is tried, in parts of the bytes */

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
	bool more = o->moves ? (double)t->out->moves < DRAWS * (double)o->moves
		: now_seconds() - t->began < DRAWS_TIME * o->seconds;

	return trial_more(t) && more && t->out->moves < DRAWS_MOST;
}

struct drawn { /* what is known from the orders drawn so far */
	struct policy **policy;
	double best[POLICY_WEIGHTS];
	uint64_t bytes;
};

static void stray(double *weight, const double *from, struct rng *r)
{
	for (int w = 0; w < POLICY_WEIGHTS; w++)
		weight[w] = from[w] + rng_normal(r) * (STRAY * fabs(from[w]) + STRAY_LEAST);
}

/* Draws the i-th order, and keeps its weights if it is the best that was drawn so far. */
static void draw_next(struct drawn *d, struct trial *t, uint64_t i)
{
	double weight[POLICY_WEIGHTS];
	uint64_t now;

	if (i < PLAIN)
		memcpy(weight, d->best, sizeof weight);
	else
		stray(weight, d->best, t->rng);
	now = draw(t, d->policy, weight, i == 0 ? 0 : i < PLAIN ? 1 : i % 2 ? CALM : 0);
	if (now > d->bytes)
		return;
	d->bytes = now;
	memcpy(d->best, weight, sizeof d->best);
}

struct way { /* of making an order */
	uint64_t tried;
	double found; /* by how much the best orders became better: the sum of logarithms */
};

/* What an order made in this way is expected to find. A way that found nothing is tried the less, the longer it has. */
static double expected(const struct way *w)
{
	return (w->found + HOPE) / (double)(w->tried + 1);
}

/* Is the next order to be a drawn one? If orders are few, it depends on what both ways have found. */
static bool is_drawn(const struct trial *t, const struct way *drawn, const struct way *shifted)
{
	double a = expected(drawn), b = expected(shifted);

	return !t->o->moves || drawn->tried == 0 || rng_unit(t->rng) * (a + b) < a;
}

static void draw_orders(struct trial *t)
{
	struct drawn d = {.policy = open_policies(t->p), .bytes = UINT64_MAX};
	double *shift = MEM_NEW(trial_longest(t), double);
	struct way drawn = {0}, shifted = {0};

	memcpy(d.best, policy_learnt, sizeof d.best);
	while (drawn.tried == 0 || more_draws(t)) {
		double before = log((double)t->bytes + 1);
		struct way *way = is_drawn(t, &drawn, &shifted) ? &drawn : &shifted;
		if (way == &drawn)
			draw_next(&d, t, drawn.tried);
		else
			trial_shift(t, shift);
		way->tried++;
		way->found += before - log((double)t->bytes + 1);
	}
	mem_free(shift);
	close_policies(d.policy, t->p);
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

struct foresight { /* where regal's mutants come from */
	struct policy **policy;
	double best[POLICY_WEIGHTS], last[POLICY_WEIGHTS];
	uint64_t bytes; /* that the best orders drawn so far need */
};

/* Draws orders of all computations, with weights that stray from the best so far, and gives the places of the steps. */
static void draw_places(void *with, struct trial *t, double *key)
{
	struct foresight *f = with;
	struct program *p = t->p;

	stray(f->last, f->best, t->rng);
	for (uint32_t c = 0; c < p->graph->n_comps; key += program_line(p, c)->n, c++) {
		uint32_t n = program_line(p, c)->n;
		if (f->policy[c])
			policy_draw(f->policy[c], f->last, rng_unit(t->rng) < 0.5 ? CALM : 1, t->rng, p->order[c]);
		for (uint32_t i = 0; i < n; i++)
			key[p->order[c][i]] = (double)i / n;
	}
}

static void keep_weights(void *with, uint64_t bytes)
{
	struct foresight *f = with;

	if (bytes > f->bytes)
		return;
	f->bytes = bytes;
	memcpy(f->best, f->last, sizeof f->best);
}

void regal_run(struct trial *t)
{
	struct foresight f = {.policy = open_policies(t->p), .bytes = UINT64_MAX};
	struct prior prior = {draw_places, keep_weights, &f};

	memcpy(f.best, policy_learnt, sizeof f.best);
	brkga_with(t, &(struct brkga_options)BRKGA_DEFAULTS, &prior);
	close_policies(f.policy, t->p);
}
