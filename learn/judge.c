/*
 * judge.c - see judge.h.
 *
 * A draw of the bootstrap gives each surroundings a count, and a flip counts as often as its surroundings. The lists
 * are sorted once; each draw is then one pass over each list. Flips of equal score share the middle of their places.
 */
#include "learn/judge.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "base/stat.h"
#include "learn/eval.h"
#include "learn/predict.h"

#define DRAWS 1000

struct entry { /* a flip in a model's list */
	float score;
	uint32_t unit;	/* its surroundings: a number */
	double gain;	/* seconds; 0 unless it is clear of its error */
};

struct list { /* of one program */
	struct entry *by[2]; /* sorted: by the new model, by the old */
	size_t n;
	double weight;
};

struct bench {
	struct arena mem;
	struct list *list;
	uint32_t n_lists, n_units;
	uint32_t *count; /* per unit */
};

float *judge_predict(const struct data *d, const struct judge_list *list, const struct model *m, struct team *team)
{
	struct guess *all = MEM_NEW(list->n_flips + 1, struct guess);
	float *gain = MEM_NEW(list->n_flips + 1, float);

	predict_examples(m, d, list->example, list->n, team, all);
	for (size_t i = 0; i < list->n_flips; i++)
		gain[i] = all[i].gain;
	mem_free(all);
	return gain;
}

const char *judgement_name(enum judgement j)
{
	static const char *const name[] = {"better", "worse", "within noise"};
	return name[j];
}

static int by_falling_score(const void *a, const void *b)
{
	const struct entry *x = a, *y = b;

	return (x->score < y->score) - (x->score > y->score);
}

static int by_number(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

/* All different surroundings of the list, ascending: a unit is a place in there. */
static uint64_t *units_of(const struct data *d, const struct judge_list *list, struct arena *mem, uint32_t *n)
{
	uint64_t *v = ARENA_NEW(mem, list->n + 1, uint64_t);
	uint32_t k = 0;

	for (size_t i = 0; i < list->n; i++)
		v[i] = d->example[list->example[i]].around;
	qsort(v, list->n, sizeof *v, by_number);
	for (size_t i = 0; i < list->n; i++)
		if (i == 0 || v[i] != v[i - 1])
			v[k++] = v[i];
	*n = k;
	return v;
}

static double gain_of(const struct flip_label *l)
{
	return l->advantage < -l->se ? -l->advantage : 0;
}

/* A score that is not a number promises nothing. */
static float score_at(const float *score, size_t i)
{
	return !score ? 0 : isnan(score[i]) ? -INFINITY : score[i];
}

/* The flips of one program, unsorted, with the scores of both. */
static void fill(struct bench *b, const struct data *d, const struct judge_list *list, uint32_t graph,
	const uint64_t *unit, const float *const score[2])
{
	struct list *l = &b->list[graph];
	size_t at = 0, n = 0;

	for (size_t i = 0; i < list->n; i++)
		l->n += d->example[list->example[i]].graph == graph ? d->example[list->example[i]].n_flips : 0;
	for (int m = 0; m < 2; m++)
		l->by[m] = ARENA_NEW(&b->mem, l->n + 1, struct entry);
	l->weight = sqrt((double)l->n);
	for (size_t i = 0; i < list->n; at += d->example[list->example[i++]].n_flips) {
		const struct example *e = &d->example[list->example[i]];
		const uint64_t *u;
		if (e->graph != graph)
			continue;
		u = bsearch(&e->around, unit, b->n_units, sizeof *unit, by_number);
		for (uint8_t k = 0; k < e->n_flips; k++, n++)
			for (int m = 0; m < 2; m++)
				l->by[m][n] = (struct entry){score_at(score[m], at + k), (uint32_t)(u - unit),
					gain_of(&e->label[k])};
	}
	for (int m = 0; m < 2; m++)
		qsort(l->by[m], l->n, sizeof *l->by[m], by_falling_score);
}

static double depth(const struct entry *v, size_t n, const uint32_t *count)
{
	double before = 0, sum = 0, gain = 0;

	for (size_t i = 0; i < n;) { /* runs of equal score */
		double here = 0, gained = 0;
		float score = v[i].score;
		for (; i < n && v[i].score == score; i++) {
			here += count[v[i].unit];
			gained += count[v[i].unit] * v[i].gain;
		}
		sum += gained * (before + here / 2);
		gain += gained;
		before += here;
	}
	return gain > 0 ? sum / (gain * before) : NAN;
}

/* The mean depths of both under the present counts; returns the number of programs in which something improves. */
static uint32_t depths(const struct bench *b, double out[2])
{
	double sum[2] = {0}, weight = 0;
	uint32_t n = 0;

	for (uint32_t i = 0; i < b->n_lists; i++) {
		const struct list *l = &b->list[i];
		double x = depth(l->by[0], l->n, b->count), y = depth(l->by[1], l->n, b->count);
		if (isnan(x))
			continue;
		sum[0] += l->weight * x;
		sum[1] += l->weight * y;
		weight += l->weight;
		n++;
	}
	out[0] = sum[0] / weight; /* not a number where nothing improves */
	out[1] = sum[1] / weight;
	return n;
}

static void interval(struct bench *b, struct judged *out)
{
	double *difference = MEM_NEW(DRAWS, double), pair[2];
	struct rng r;
	size_t n = 0;

	rng_seed(&r, b->n_units);
	for (int t = 0; t < DRAWS; t++) {
		memset(b->count, 0, b->n_units * sizeof *b->count);
		for (uint32_t i = 0; i < b->n_units; i++)
			b->count[rng_below(&r, b->n_units)]++;
		if (depths(b, pair) > 0)
			difference[n++] = pair[1] - pair[0];
	}
	out->low = n ? stat_quantile(difference, n, 0.025) : NAN;
	out->high = n ? stat_quantile(difference, n, 0.975) : NAN;
	mem_free(difference);
}

static uint32_t count_gaining(const struct bench *b)
{
	uint32_t n = 0;

	memset(b->count, 0, b->n_units * sizeof *b->count);
	for (uint32_t i = 0; i < b->n_lists; i++)
		for (size_t k = 0; k < b->list[i].n; k++)
			if (b->list[i].by[0][k].gain > 0)
				b->count[b->list[i].by[0][k].unit] = 1;
	for (uint32_t i = 0; i < b->n_units; i++)
		n += b->count[i];
	return n;
}

void judge(const struct data *d, const struct judge_list *list, const float *fresh, const float *old,
	struct judged *out)
{
	const float *const score[2] = {fresh, old};
	struct bench b = {.n_lists = (uint32_t)d->n_graphs};
	uint64_t *unit = units_of(d, list, &b.mem, &b.n_units);

	b.list = ARENA_NEW(&b.mem, b.n_lists + 1, struct list);
	b.count = ARENA_NEW(&b.mem, b.n_units + 1, uint32_t);
	for (uint32_t g = 0; g < b.n_lists; g++)
		fill(&b, d, list, g, unit, score);
	*out = (struct judged){.verdict = JUDGED_ALIKE, .low = NAN, .high = NAN, .surroundings = b.n_units,
		.gaining = count_gaining(&b), .flips = list->n_flips};
	for (uint32_t i = 0; i < b.n_units; i++)
		b.count[i] = 1;
	out->graphs = depths(&b, out->depth);
	if (out->gaining > 0)
		interval(&b, out);
	if (out->gaining >= JUDGE_LEAST && out->low > 0)
		out->verdict = JUDGED_BETTER;
	if (out->gaining >= JUDGE_LEAST && out->high < 0)
		out->verdict = JUDGED_WORSE;
	arena_release(&b.mem);
}
