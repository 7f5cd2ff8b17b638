/*
 * data.c - see data.h. Features are computed once, while samples arrive: training reads every example many times, and
 * the space's scratch memory cannot be used by many threads. An example is about 50 rows of 11 numbers, 2 to 3 KB.
 */
#include "learn/data.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "base/stat.h"
#include "learn/row.h"
#include "space/part.h"
#include "store/sum.h"

void data_init(struct data *d, uint32_t radius)
{
	*d = (struct data){.radius = radius};
}

uint32_t data_graph(struct data *d, const char *name, struct space *s)
{
	struct data_graph *g;

	MEM_GROW(&d->graph, &d->cap_graphs, d->n_graphs + 1);
	for (size_t i = 0; i < d->n_graphs; i++) /* they may have moved */
		d->graph[i].maker.scene = &d->graph[i].scene;
	g = &d->graph[d->n_graphs];
	*g = (struct data_graph){.name = mem_strdup(name), .weight = 1};
	feature_open(&g->scene, s);
	g->grain = space_grain(s, d->quantity);
	g->part_share = part_share(s);
	g->hood = MEM_NEW(s->n_sites, struct hood *);
	hood_maker_init(&g->maker, &g->scene, d->radius);
	return (uint32_t)d->n_graphs++;
}

static bool usable(const struct choice_cost *c)
{
	return c->outcome == OUTCOME_OK && isfinite(c->delta) && isfinite(c->se) && c->se >= 0;
}

/* Fills a label, `se` being the error of the difference; false if nothing is known of that. */
static bool compare(const struct choice_cost *from, const struct choice_cost *to, double se, struct flip_label *out)
{
	if (!usable(from) || !usable(to))
		return false;
	out->advantage = to->delta - from->delta;
	out->se = se;
	out->bound = from->bound || to->bound;
	return choice_tells(to, out->advantage, 1) && choice_tells(from, out->advantage, -1);
}

static struct hood *hood_of(struct data *d, struct data_graph *g, uint32_t site)
{
	if (!g->hood[site])
		g->hood[site] = hood_make(&g->maker, g->scene.space->site[site].node, &d->mem);
	return g->hood[site];
}

/* One example; `config` has the sample's site at `from`, where the sample was taken it was `present`. */
static bool add_example(struct data *d, uint32_t graph, uint8_t *config, const struct sample *x, uint8_t present,
	uint8_t from)
{
	struct data_graph *g = &d->graph[graph];
	const struct site *site = &g->scene.space->site[x->site];
	struct flip_label label[SPACE_CHOICES] = {0};
	struct example *e;
	uint8_t n = 0;
	uint32_t rows;

	for (uint8_t to = 0; to < site->choices; to++) {
		double se = sample_se(x, present, from, to);
		if (to == from || !compare(&x->choice[from], &x->choice[to], se, &label[n]))
			continue;
		label[n].to = to;
		label[n].away = to != site->dflt;
		label[n++].measured = from == present;
	}
	if (n == 0)
		return false;
	MEM_GROW(&d->example, &d->cap_examples, d->n_examples + 1);
	e = &d->example[d->n_examples++];
	*e = (struct example){.graph = graph, .site = x->site, .from = from, .n_flips = n,
		.hood = hood_of(d, g, x->site), .config = config_hash(g->scene.space, config),
		.picked = d->picked};
	rows = e->hood->n[d->radius];
	e->context = ARENA_NEW(&d->mem, (size_t)rows * NODE_CONTEXT, real);
	e->flip = ARENA_NEW(&d->mem, (size_t)n * FLIP_FEATURES, real);
	e->label = arena_dup(&d->mem, label, n * sizeof *label);
	feature_context(&g->scene, config, e->hood->node, rows, e->context, NODE_CONTEXT);
	for (uint8_t i = 0; i < n; i++)
		e->label[i].advantage += d->part_seconds * g->part_share *
			feature_flip(&g->scene, config, x->site, label[i].to, e->flip + (size_t)i * FLIP_FEATURES);
	return true;
}

void data_sample(struct data *d, uint32_t graph, const uint8_t *config, const struct sample *x)
{
	struct data_graph *g = &d->graph[graph];
	uint32_t n_sites = g->scene.space->n_sites;
	uint8_t *copy, current;
	bool any = false;

	if (x->site >= n_sites || x->n_choices != g->scene.space->site[x->site].choices) {
		g->n_skipped++;
		return;
	}
	current = config[x->site];
	copy = mem_alloc(n_sites);
	memcpy(copy, config, n_sites);
	for (uint8_t from = 0; from < x->n_choices; from++) {
		copy[x->site] = from;
		any |= add_example(d, graph, copy, x, current, from);
	}
	mem_free(copy);
	g->n_samples += any;
	g->n_skipped += !any;
}

void data_move(struct data *d, uint32_t graph, const uint8_t *from, const uint8_t *to, const struct choice_cost *cost)
{
	struct data_graph *g = &d->graph[graph];
	struct space *s = g->scene.space;
	struct choice_cost here = {.outcome = OUTCOME_OK};
	uint32_t lead = feature_lead(s, from, to), rows;
	struct flip_label label = {0};
	struct example *e;

	if (lead == NONE || !compare(&here, cost, cost->se, &label)) {
		g->n_skipped++;
		return;
	}
	label.to = to[lead];
	label.away = to[lead] != s->site[lead].dflt;
	label.measured = true;
	MEM_GROW(&d->example, &d->cap_examples, d->n_examples + 1);
	e = &d->example[d->n_examples++];
	*e = (struct example){.graph = graph, .site = lead, .from = from[lead], .n_flips = 1,
		.hood = hood_of(d, g, lead), .config = config_hash(s, from), .picked = d->picked};
	rows = e->hood->n[d->radius];
	e->context = ARENA_NEW(&d->mem, (size_t)rows * NODE_CONTEXT, real);
	e->flip = ARENA_NEW(&d->mem, FLIP_FEATURES, real);
	e->label = arena_dup(&d->mem, &label, sizeof label);
	feature_context(&g->scene, from, e->hood->node, rows, e->context, NODE_CONTEXT);
	feature_move(&g->scene, from, to, e->flip);
	g->n_samples++;
}

static double size_of(const struct example *e)
{
	double most = 0;

	for (uint8_t i = 0; i < e->n_flips; i++)
		most = fmax(most, label_size(&e->label[i]));
	return most;
}

static bool is_gain(const struct example *e)
{
	for (uint8_t i = 0; i < e->n_flips; i++)
		if (e->label[i].away && e->label[i].advantage < -2 * e->label[i].se)
			return true;
	return false;
}

struct ranked {
	double size;
	uint32_t example;
};

static int by_falling_size(const void *a, const void *b)
{
	const struct ranked *x = a, *y = b;

	if (x->size != y->size)
		return x->size < y->size ? 1 : -1;
	return (x->example > y->example) - (x->example < y->example);
}

/*
 * The median, 0 without sizes. Where costs are estimated, most flips may cost exactly nothing; then it is the median of
 * the others. If all are 0 there is no scale at all, and any will do.
 */
static double scale_of(double *sizes, size_t n)
{
	double median = n ? stat_median(sizes, n) : 0;
	size_t some = 0;

	for (size_t i = 0; i < n && median == 0; i++)
		if (sizes[i] > 0)
			sizes[some++] = sizes[i];
	if (some)
		median = stat_median(sizes, some);
	return n ? fmax(median, 1e-12) : 0;
}

static void finish_graph(struct data *d, uint32_t graph)
{
	struct data_graph *g = &d->graph[graph];
	struct ranked *r = MEM_NEW(d->n_examples, struct ranked);
	double *sizes = NULL;
	size_t n = 0, cap = 0, flips = 0;

	for (size_t i = 0; i < d->n_examples; i++) {
		const struct example *e = &d->example[i];
		if (e->graph != graph)
			continue;
		r[n++] = (struct ranked){size_of(e), (uint32_t)i};
		MEM_GROW(&sizes, &cap, flips + e->n_flips);
		for (uint8_t k = 0; k < e->n_flips; k++)
			sizes[flips++] = fabs(e->label[k].advantage);
	}
	qsort(r, n, sizeof *r, by_falling_size);
	g->n_examples = (uint32_t)n;
	g->by_size = ARENA_NEW(&d->mem, n, uint32_t);
	g->gains = ARENA_NEW(&d->mem, n, uint32_t);
	for (size_t i = 0; i < n; i++) {
		g->by_size[i] = r[i].example;
		if (is_gain(&d->example[r[i].example]))
			g->gains[g->n_gains++] = r[i].example;
	}
	g->sigma = scale_of(sizes, flips);
	mem_free(sizes);
	mem_free(r);
}

void data_finish(struct data *d)
{
	for (uint32_t g = 0; g < d->n_graphs; g++)
		finish_graph(d, g);
}

void data_release(struct data *d)
{
	for (size_t i = 0; i < d->n_graphs; i++) {
		mem_free(d->graph[i].name);
		mem_free(d->graph[i].hood);
		hood_maker_release(&d->graph[i].maker);
		feature_release(&d->graph[i].scene);
	}
	mem_free(d->graph);
	mem_free(d->example);
	arena_release(&d->mem);
	*d = (struct data){0};
}

void example_row(const struct data *d, const struct example *e, uint8_t flip, float *row)
{
	const real *fixed = d->graph[e->graph].scene.fixed + (size_t)e->hood->node[0] * NODE_FIXED;

	row_fill(fixed, e->context, e->flip + (size_t)flip * FLIP_FEATURES, row);
}
