/*
 * predict.c - runs the model's network and trees on examples, and mixes their outputs.
 */
#include "learn/predict.h"

#include <string.h>
#include "learn/train.h"

void predict_mix(real *out, const real *other, size_t flips)
{
	for (size_t i = 0; i < flips * OUT_COUNT; i++)
		out[i] = (out[i] + other[i]) / 2;
}

static size_t flips_of(const struct data *d, const uint32_t *example, size_t n)
{
	size_t flips = 0;

	for (size_t i = 0; i < n; i++)
		flips += d->example[example[i]].n_flips;
	return flips;
}

void predict_outputs(const struct model *m, const struct data *d, const uint32_t *example, size_t n,
	struct team *team, real *out)
{
	size_t flips = flips_of(d, example, n);
	struct advice a = {0};

	if (m->trees.n_columns)
		advice_by(&m->trees, d, example, n, &a);
	if (m->net.size.layers)
		train_predict(&m->net, d, m->net.size.advised ? &a : NULL, example, n, team, out);
	else if (m->trees.n_columns)
		memcpy(out, a.out, flips * OUT_COUNT * sizeof *out);
	if (model_mixes(m))
		predict_mix(out, a.out, flips);
	advice_release(&a);
}

void predict_examples(const struct model *m, const struct data *d, const uint32_t *example, size_t n,
	struct team *team, struct guess *out)
{
	real *raw = MEM_NEW(flips_of(d, example, n) * OUT_COUNT + 1, real);
	size_t at = 0;

	predict_outputs(m, d, example, n, team, raw);
	for (size_t i = 0; i < n; i++) {
		const struct example *e = &d->example[example[i]];
		double times = m->unit > 0 ? example_units(d, e) : 1;
		for (uint8_t k = 0; k < e->n_flips; k++, at++)
			out[at] = guess_of(raw + at * OUT_COUNT, times);
	}
	mem_free(raw);
}
