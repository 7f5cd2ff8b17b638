/*
 * predict.c - runs the model's network and trees on examples, and mixes their outputs.
 */
#include "learn/predict.h"

#include "learn/train.h"

void predict_mix(real *out, const real *other, size_t flips)
{
	for (size_t i = 0; i < flips * OUT_COUNT; i++)
		out[i] = (out[i] + other[i]) / 2;
}

static void by_trees(const struct trees *t, const struct data *d, const uint32_t *example, size_t n, real *out)
{
	float row[ROW_COLUMNS];

	for (size_t i = 0; i < n; i++) {
		const struct example *e = &d->example[example[i]];
		const struct scene *g = &d->graph[e->graph].scene;
		for (uint8_t k = 0; k < e->n_flips; k++, out += OUT_COUNT) {
			row_fill(g->fixed + (size_t)e->hood->node[0] * NODE_FIXED, e->context,
				e->flip + (size_t)k * FLIP_FEATURES, row);
			trees_predict(t, row, 1, out);
		}
	}
}

void predict_examples(const struct model *m, const struct data *d, const uint32_t *example, size_t n,
	struct team *team, struct guess *out)
{
	size_t flips = 0, at = 0;
	real *raw, *other;

	for (size_t i = 0; i < n; i++)
		flips += d->example[example[i]].n_flips;
	raw = MEM_NEW(flips * OUT_COUNT + 1, real);
	other = MEM_NEW(flips * OUT_COUNT + 1, real);
	if (m->net.size.layers)
		train_predict(&m->net, d, example, n, team, raw);
	if (m->trees.n_columns)
		by_trees(&m->trees, d, example, n, m->net.size.layers ? other : raw);
	if (m->net.size.layers && m->trees.n_columns)
		predict_mix(raw, other, flips);
	for (size_t i = 0; i < n; i++) {
		const struct example *e = &d->example[example[i]];
		double times = m->unit > 0 ? example_units(d, e) : 1;
		for (uint8_t k = 0; k < e->n_flips; k++, at++)
			out[at] = guess_of(raw + at * OUT_COUNT, times);
	}
	mem_free(raw);
	mem_free(other);
}
