/*
 * advice.c - see advice.h. Graphs of one name are one program and are dealt into the same part.
 */
#include "learn/advice.h"

#include <string.h>

void advice_release(struct advice *a)
{
	mem_free(a->first);
	mem_free(a->out);
	*a = (struct advice){0};
}

static void ask(const struct trees *t, const struct data *d, uint32_t example, struct advice *a)
{
	const struct example *e = &d->example[example];
	float row[ROW_COLUMNS];

	for (uint8_t k = 0; k < e->n_flips; k++) {
		example_row(d, e, k, row);
		trees_predict(t, row, 1, a->out + (a->first[example] + k) * OUT_COUNT);
	}
}

void advice_by(const struct trees *t, const struct data *d, const uint32_t *example, size_t n, struct advice *out)
{
	size_t flips = 0;

	out->first = MEM_NEW(d->n_examples + 1, size_t);
	for (size_t i = 0; i < n; i++) {
		out->first[example[i]] = flips;
		flips += d->example[example[i]].n_flips;
	}
	out->out = MEM_NEW(flips * OUT_COUNT + 1, real);
	for (size_t i = 0; i < n; i++)
		ask(t, d, example[i], out);
}

/* The part of each graph that is trained on, ADVICE_PARTS for the others; returns how many parts there are. */
static uint32_t deal(const struct data *d, const bool *held, uint32_t *part)
{
	uint32_t n = 0;

	for (size_t i = 0; i < d->n_graphs; i++) {
		size_t k = 0;
		part[i] = ADVICE_PARTS;
		if ((held && held[i]) || d->graph[i].n_examples == 0)
			continue;
		while (k < i && (part[k] == ADVICE_PARTS || strcmp(d->graph[k].name, d->graph[i].name) != 0))
			k++;
		part[i] = k < i ? part[k] : n++ % ADVICE_PARTS;
	}
	return n < ADVICE_PARTS ? n : ADVICE_PARTS;
}

int advice_crossed(const struct trees *t, const struct data *d, const bool *held, double unit,
	const struct boost_options *o, struct advice *out, struct err *err)
{
	uint32_t *all = MEM_NEW(d->n_examples + 1, uint32_t), *part = MEM_NEW(d->n_graphs + 1, uint32_t), parts;
	bool *without = MEM_NEW(d->n_graphs + 1, bool);
	int rc = 0;

	for (uint32_t i = 0; i < d->n_examples; i++)
		all[i] = i;
	advice_by(t, d, all, d->n_examples, out);
	parts = deal(d, held, part);
	for (uint32_t p = 0; p < parts && parts > 1 && rc == 0; p++) { /* of one program nothing is left to grow on */
		struct trees other = {0};
		struct boost_result r;
		for (size_t i = 0; i < d->n_graphs; i++)
			without[i] = (held && held[i]) || part[i] == p;
		rc = boost(d, without, unit, o, &other, &r, err);
		for (uint32_t i = 0; i < d->n_examples && rc == 0; i++)
			if (part[d->example[i].graph] == p && !d->example[i].apart)
				ask(&other, d, i, out);
		trees_release(&other);
	}
	mem_free(all), mem_free(part), mem_free(without);
	return rc;
}
