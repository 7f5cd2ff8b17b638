/*
 * eval.c - see eval.h. A figure that has no meaning (a gain where nothing improves) is NAN and stays out
 * of the means.
 */
#include "learn/eval.h"

#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include "base/stat.h"
#include "learn/team.h"
#include "learn/predict.h"

#define REPEATS 20 /* second measurements drawn for the ceiling */

const double eval_share[SHARES] = {0.01, 0.05, 0.1, 0.2};

const char *rival_name(enum rival r)
{
	static const char *const names[RIVALS] = {"model", "opcode mean", "elements", "promise", "constant",
		"measured twice"};
	return names[r];
}

struct scored {
	double score, value;
};

static int by_falling_score(const void *a, const void *b)
{
	const struct scored *x = a, *y = b;

	return (x->score < y->score) - (x->score > y->score);
}

static size_t part_of(size_t n, double part)
{
	size_t k = (size_t)ceil(part * (double)n - 1e-9);

	return k < 1 ? 1 : k > n ? n : k;
}

double share_found(const double *score, const double *value, size_t n, double part)
{
	struct scored *v;
	size_t k = n ? part_of(n, part) : 0;
	double total = 0, found = 0;

	if (n == 0)
		return NAN;
	v = MEM_NEW(n, struct scored);
	for (size_t i = 0; i < n; i++) {
		v[i] = (struct scored){isnan(score[i]) ? -INFINITY : score[i], value[i]};
		total += value[i];
	}
	qsort(v, n, sizeof *v, by_falling_score);
	for (size_t i = 0; i < k;) { /* runs of equal score */
		size_t e = i;
		double sum = 0;
		for (; e < n && v[e].score == v[i].score; e++)
			sum += v[e].value;
		found += e <= k ? sum : sum * (double)(k - i) / (double)(e - i);
		i = e;
	}
	mem_free(v);
	return total > 0 ? found / total : NAN;
}

static int by_falling_number(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x < y) - (x > y);
}

/* 1 for the items with the `part` largest values, and for their equals; else 0. */
static void mark_top(const double *x, size_t n, double part, double *mark)
{
	double least;

	memcpy(mark, x, n * sizeof *mark);
	qsort(mark, n, sizeof *mark, by_falling_number);
	least = mark[part_of(n, part) - 1];
	for (size_t i = 0; i < n; i++)
		mark[i] = x[i] >= least;
}

static double recall(const double *score, const double *size, size_t n, double part)
{
	double *mark = MEM_NEW(n, double), members = 0, found;

	mark_top(size, n, part, mark);
	for (size_t i = 0; i < n; i++)
		members += mark[i];
	found = share_found(score, mark, n, part) * members / (double)part_of(n, part);
	mem_free(mark);
	return found > 1 ? 1 : found;
}

/* What the opcode of a site tells, learnt from the known graphs: mean magnitude and mean gain, in sigmas. */
struct opcode_means {
	double size[OP_COUNT + 1], gain[OP_COUNT + 1], n[OP_COUNT + 1];
};

static uint16_t opcode_at(const struct data *d, const struct example *e)
{
	const struct scene *g = &d->graph[e->graph].scene;

	return g->opcode[g->space->site[e->site].node];
}

static void learn_opcodes(const struct data *d, const bool *known, struct opcode_means *m)
{
	memset(m, 0, sizeof *m);
	for (size_t i = 0; i < d->n_examples; i++) {
		const struct example *e = &d->example[i];
		double sigma = d->graph[e->graph].sigma;
		uint16_t op = opcode_at(d, e);
		if (!known[e->graph] || !e->label[0].measured)
			continue;
		for (uint8_t k = 0; k < e->n_flips; k++) {
			m->size[op] += log1p(fabs(e->label[k].advantage) / sigma);
			m->gain[op] += fmax(0, -e->label[k].advantage) / sigma;
			m->n[op]++;
		}
	}
	for (int i = 0; i <= OP_COUNT; i++)
		if (m->n[i] > 0) {
			m->size[i] /= m->n[i];
			m->gain[i] /= m->n[i];
		}
}

/* Columns over the items of one graph: what each rival says, and the truth. */
struct columns {
	double *size, *gain; /* truth: |advantage|; improvement, 0 within its error */
	double *by_size[RIVALS], *by_gain[RIVALS], *by_magnitude, *by_sign, *by_certainty;
};

/* What the kind itself promises of a flip; NAN if it does not. */
static double promised(const struct data *d, const struct example *e, uint8_t to)
{
	struct space *s = d->graph[e->graph].scene.space;

	return s->ops->promise ? s->ops->promise(s, e->site, to) - s->ops->promise(s, e->site, e->from) : NAN;
}

static struct columns make_columns(const struct data *d, const struct eval_graph *g, const struct opcode_means *m,
	struct arena *mem)
{
	struct columns c = {.size = ARENA_NEW(mem, g->n, double), .gain = ARENA_NEW(mem, g->n, double),
		.by_magnitude = ARENA_NEW(mem, g->n, double), .by_sign = ARENA_NEW(mem, g->n, double),
		.by_certainty = ARENA_NEW(mem, g->n, double)};

	for (int r = 0; r < RIVALS; r++) {
		c.by_size[r] = ARENA_NEW(mem, g->n, double);
		c.by_gain[r] = ARENA_NEW(mem, g->n, double);
	}
	for (size_t i = 0; i < g->n; i++) {
		const struct eval_item *x = &g->item[i];
		const struct example *e = &d->example[x->example];
		uint32_t v = d->graph[e->graph].scene.space->site[e->site].node;
		uint16_t op = opcode_at(d, e);
		c.size[i] = fabs(x->advantage);
		c.gain[i] = eval_gain(x);
		c.by_size[BY_MODEL][i] = c.by_magnitude[i] = x->magnitude;
		c.by_gain[BY_MODEL][i] = x->gain;
		c.by_sign[i] = x->p_improve;
		c.by_certainty[i] = fabs(x->p_improve - 0.5);
		c.by_size[BY_OPCODE][i] = m->size[op];
		c.by_gain[BY_OPCODE][i] = m->gain[op];
		c.by_size[BY_ELEMENTS][i] = c.by_gain[BY_ELEMENTS][i] =
			(double)d->graph[e->graph].scene.space->graph->node[v].elements;
		c.by_gain[BY_PROMISE][i] = promised(d, e, e->label[x->flip].to);
		c.by_size[BY_PROMISE][i] = fabs(c.by_gain[BY_PROMISE][i]);
	}
	return c;
}

static void rate_rivals(struct eval_graph *g, const struct columns *c)
{
	for (int r = 0; r < BY_REPEAT; r++) {
		bool says = !isnan(c->by_size[r][0]);
		for (int s = 0; s < SHARES; s++) {
			g->recall[r][s] = says ? recall(c->by_size[r], c->size, g->n, eval_share[s]) : NAN;
			g->gain[r][s] = says ? share_found(c->by_gain[r], c->gain, g->n, eval_share[s]) : NAN;
		}
		g->spearman[r] = says ? stat_spearman(c->by_size[r], c->size, g->n) : NAN;
	}
	for (int s = 0; s < SHARES; s++) {
		g->gain_by_magnitude[s] = share_found(c->by_magnitude, c->gain, g->n, eval_share[s]);
		g->recall_by_sign[s] = recall(c->by_certainty, c->size, g->n, eval_share[s]);
		g->gain_by_sign[s] = share_found(c->by_sign, c->gain, g->n, eval_share[s]);
	}
	g->gain_spearman = stat_spearman(c->by_gain[BY_MODEL], c->gain, g->n);
}

/* The ceiling: the same flips measured again, each drawn from its own error, mean of REPEATS draws. */
static void rate_repeats(struct eval_graph *g, const struct columns *c, uint64_t seed)
{
	double *size = c->by_size[BY_REPEAT], *gain = c->by_gain[BY_REPEAT];
	struct rng r;

	rng_seed2(&r, seed, 77);
	for (int t = 0; t < REPEATS; t++) {
		for (size_t i = 0; i < g->n; i++) {
			double again = g->item[i].advantage + g->item[i].se * rng_normal(&r);
			size[i] = fabs(again);
			gain[i] = again < 0 ? -again : 0;
		}
		for (int s = 0; s < SHARES; s++) {
			g->recall[BY_REPEAT][s] += recall(size, c->size, g->n, eval_share[s]) / REPEATS;
			g->gain[BY_REPEAT][s] += share_found(gain, c->gain, g->n, eval_share[s]) / REPEATS;
		}
		g->spearman[BY_REPEAT] += stat_spearman(size, c->size, g->n) / REPEATS;
	}
}

static void rate_signs(struct eval_graph *g)
{
	size_t right = 0, said = 0, both = 0;

	for (size_t i = 0; i < g->n; i++) {
		const struct eval_item *x = &g->item[i];
		if (fabs(x->advantage) <= 2 * x->se || x->advantage == 0)
			continue;
		g->n_significant++;
		g->n_improving += x->advantage < 0;
		said += x->p_improve > 0.5;
		both += x->p_improve > 0.5 && x->advantage < 0;
		right += (x->p_improve > 0.5) == (x->advantage < 0);
	}
	g->improving_precision = said ? (double)both / (double)said : NAN;
	g->improving_recall = g->n_improving ? (double)both / (double)g->n_improving : NAN;
	if (g->n_significant) {
		double better = (double)g->n_improving / (double)g->n_significant;
		g->signs = (double)right / (double)g->n_significant;
		g->signs_majority = better > 0.5 ? better : 1 - better;
	} else {
		g->signs = g->signs_majority = NAN;
	}
	for (size_t i = 0; i < g->n; i++)
		g->possible += eval_gain(&g->item[i]);
}

/* The measured flips of a graph and what the model says of them. */
static void make_items(const struct data *d, struct eval_graph *g, const struct model *m, struct team *team,
	struct arena *mem)
{
	const struct data_graph *dg = &d->graph[g->graph];
	uint32_t *list = MEM_NEW(dg->n_examples, uint32_t), n = 0;
	size_t flips = 0;
	struct guess *out;

	for (uint32_t i = 0; i < dg->n_examples; i++)
		if (d->example[dg->by_size[i]].label[0].measured) {
			flips += d->example[dg->by_size[i]].n_flips;
			list[n++] = dg->by_size[i];
		}
	out = MEM_NEW(flips + 1, struct guess);
	g->item = ARENA_NEW(mem, flips, struct eval_item);
	predict_examples(m, d, list, n, team, out);
	for (uint32_t i = 0; i < n; i++)
		for (uint8_t k = 0; k < d->example[list[i]].n_flips; k++, g->n++) {
			const struct flip_label *l = &d->example[list[i]].label[k];
			struct guess s = out[g->n];
			g->item[g->n] = (struct eval_item){list[i], k, l->advantage, l->se, (double)s.magnitude,
				(double)s.p_improve, (double)s.gain};
		}
	mem_free(out);
	mem_free(list);
}

/* Means of the figures that are numbers; figures are doubles from `recall` to the end of the struct. */
void evaluation_average(struct evaluation *e)
{
	size_t from = offsetof(struct eval_graph, recall), n = (sizeof(struct eval_graph) - from) / sizeof(double);
	double *mean = (double *)(void *)((char *)&e->mean + from);

	for (size_t k = 0; k < n; k++) {
		double count = 0;
		for (uint32_t i = 0; i < e->n_graphs; i++) {
			double x = ((double *)(void *)((char *)&e->graph[i] + from))[k];
			if (isnan(x))
				continue;
			mean[k] += x;
			count++;
		}
		mean[k] = count > 0 ? mean[k] / count : NAN;
	}
	for (uint32_t i = 0; i < e->n_graphs; i++) {
		e->mean.n += e->graph[i].n;
		e->mean.n_significant += e->graph[i].n_significant;
		e->mean.n_improving += e->graph[i].n_improving;
		e->mean.possible += e->graph[i].possible;
	}
}

void evaluate(const struct data *d, const bool *which, const bool *known, const struct model *m,
	struct team *team, struct evaluation *out)
{
	struct opcode_means means;

	*out = (struct evaluation){0};
	learn_opcodes(d, known, &means);
	out->graph = ARENA_NEW(&out->mem, d->n_graphs, struct eval_graph);
	for (uint32_t i = 0; i < d->n_graphs; i++) {
		struct eval_graph *g = &out->graph[out->n_graphs];
		struct columns c;
		if (!which[i])
			continue;
		*g = (struct eval_graph){.graph = i};
		make_items(d, g, m, team, &out->mem);
		if (g->n == 0)
			continue;
		c = make_columns(d, g, &means, &out->mem);
		rate_rivals(g, &c);
		rate_repeats(g, &c, i);
		rate_signs(g);
		out->n_graphs++;
	}
	evaluation_average(out);
}

void evaluation_release(struct evaluation *e)
{
	arena_release(&e->mem);
	*e = (struct evaluation){0};
}
