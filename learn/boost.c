/*
 * boost.c - makes rows and labels of the examples, and grows the three forests on them.
 */
#include "learn/boost.h"

#include <math.h>
#include <string.h>
#include "base/progress.h"
#include "base/stop.h"
#include "learn/grow.h"
#include "learn/team.h"
#include "learn/train.h"

struct booster {
	const struct boost_options *o;
	struct trees *trees;
	struct bins bins;
	float *target[OUT_COUNT], *weight[OUT_COUNT]; /* per row; weight 0: no part in this forest */
	bool *bound;
	bool stopped[OUT_COUNT];
};

static bool wanted(const struct example *e, const bool *held)
{
	return !e->apart && !(held && held[e->graph]) && e->label[0].measured;
}

/* The rows of one example from `at` on: their numbers, labels and weights. */
static void take(struct booster *b, const struct data *d, const struct example *e, double unit, double weight,
	uint32_t at, float *x)
{
	for (uint8_t k = 0; k < e->n_flips; k++, at++) {
		struct target y = target_of(&e->label[k], label_unit(d, e, unit));
		example_row(d, e, k, x + (size_t)at * ROW_COLUMNS);
		b->target[OUT_MAGNITUDE][at] = b->target[OUT_SIZE][at] = (float)y.size;
		b->target[OUT_SIGN][at] = (float)y.improves;
		b->weight[OUT_MAGNITUDE][at] = (float)(weight * y.weight);
		b->weight[OUT_SIGN][at] = (float)(weight * y.sign_weight);
		b->weight[OUT_SIZE][at] = (float)(weight * y.size_weight);
		b->bound[at] = e->label[k].bound;
	}
}

static uint32_t gather(struct booster *b, const struct data *d, const bool *held, double unit)
{
	double *flips = MEM_NEW(d->n_graphs + 1, double), total = 0, weight = 0;
	uint32_t n = 0;
	float *x;

	for (size_t i = 0; i < d->n_examples; i++)
		if (wanted(&d->example[i], held))
			flips[d->example[i].graph] += d->example[i].n_flips;
	for (size_t g = 0; g < d->n_graphs; g++) {
		total += flips[g];
		weight += sqrt(flips[g]);
	}
	n = (uint32_t)total;
	x = MEM_NEW((size_t)n * ROW_COLUMNS + 1, float);
	for (int k = 0; k < OUT_COUNT; k++) {
		b->target[k] = MEM_NEW(n + 1, float);
		b->weight[k] = MEM_NEW(n + 1, float);
	}
	b->bound = MEM_NEW(n + 1, bool);
	for (size_t i = 0, at = 0; i < d->n_examples; i++) {
		const struct example *e = &d->example[i];
		if (!wanted(e, held))
			continue;
		take(b, d, e, unit, d->graph[e->graph].weight * total / weight / sqrt(flips[e->graph]), (uint32_t)at,
			x);
		at += e->n_flips;
	}
	bins_make(&b->bins, x, n, ROW_COLUMNS);
	mem_free(x);
	mem_free(flips);
	return n;
}

/* The prediction for every row before the first tree: the weighted mean, as a logit for the sign. */
static float base_of(const struct booster *b, int out)
{
	double sum = 0, weight = 0, mean;

	for (uint32_t i = 0; i < b->bins.n_rows; i++) {
		sum += (double)(b->weight[out][i] * b->target[out][i]);
		weight += (double)b->weight[out][i];
	}
	mean = weight > 0 ? sum / weight : 0;
	if (out != OUT_SIGN)
		return (float)mean;
	mean = fmin(fmax(weight > 0 ? mean : 0.5, 0.001), 0.999);
	return (float)log(mean / (1 - mean));
}

static void slopes(const struct booster *b, int out, const float *predicted, float *g, float *h)
{
	for (uint32_t i = 0; i < b->bins.n_rows; i++) {
		float w = b->weight[out][i], off = predicted[i] - b->target[out][i], p;
		g[i] = w * off;
		h[i] = w;
		if (out == OUT_MAGNITUDE && b->bound[i] && off > 0) /* it is at least that */
			g[i] = 0;
		if (out != OUT_SIGN)
			continue;
		p = (float)logistic((real)predicted[i]);
		g[i] = w * (p - b->target[out][i]);
		h[i] = w * p * (1 - p);
	}
}

/* The most time for one forest: with fewer threads than forests they are grown one after the other. */
static double time_of_forest(const struct boost_options *o)
{
	return o->seconds > 0 ? o->seconds / ceil(OUT_COUNT / fmax(o->threads, 1)) : INFINITY;
}

/* Grows one of the forests; a piece of work for a thread. */
static void grow_forest(void *ctx, uint32_t out, uint32_t member)
{
	struct booster *b = ctx;
	const struct boost_options *o = b->o;
	struct grow_options go = {o->leaves, o->least, o->lambda, o->columns, o->rate};
	struct forest *f = &b->trees->forest[out];
	struct grower *w = grower_new(&b->bins, &go);
	uint32_t n = b->bins.n_rows, *row = MEM_NEW(n + 1, uint32_t);
	float *g = MEM_NEW(n + 1, float), *h = MEM_NEW(n + 1, float), *predicted = MEM_NEW(n + 1, float);
	double end = now_seconds() + time_of_forest(o);
	bool late = false;
	struct rng r;

	(void)member;
	rng_seed2(&r, o->seed, 100 + out);
	f->base = base_of(b, (int)out);
	for (uint32_t i = 0; i < n; i++)
		predicted[i] = f->base;
	for (uint32_t t = 0; t < o->rounds && !b->stopped[out] && !late; t++) {
		struct grow_rows rows = {g, h, row, 0};
		for (uint32_t i = 0; i < n; i++) {
			bool drawn = rng_unit(&r) < o->rows;
			if (drawn && b->weight[out][i] > 0)
				row[rows.n++] = i;
		}
		slopes(b, (int)out, predicted, g, h);
		if (rows.n > 0)
			grow_tree(w, &rows, &r, f, predicted);
		b->stopped[out] = stop_asked();
		late = now_seconds() > end;
	}
	grower_free(w);
	mem_free(row), mem_free(g), mem_free(h), mem_free(predicted);
}

int boost(const struct data *d, const bool *held, double unit, const struct boost_options *o, struct trees *trees,
	struct boost_result *out, struct err *err)
{
	struct booster b = {.o = o, .trees = trees};
	struct team *team = team_new(o->threads);
	double start = now_seconds();

	*trees = (struct trees){.n_columns = ROW_COLUMNS};
	*out = (struct boost_result){0};
	out->rows = gather(&b, d, held, unit);
	if (out->rows > 0)
		team_run(team, grow_forest, &b, OUT_COUNT);
	out->seconds = now_seconds() - start;
	for (int k = 0; k < OUT_COUNT; k++) {
		out->stopped |= b.stopped[k];
		mem_free(b.target[k]);
		mem_free(b.weight[k]);
	}
	mem_free(b.bound);
	bins_release(&b.bins);
	team_free(team);
	if (out->rows == 0)
		return err_set(err, "nothing is left to train on: every graph with "
			"samples is held out, or none has usable samples");
	return 0;
}
