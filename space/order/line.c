/*
 * line.c - builds lines. What is added is collected as pairs; line_finish sorts the pairs and makes lists of them.
 */
#include "space/order/line.h"

#include <stdlib.h>
#include <string.h>
#include "base/mem.h"

static void pairs_add(struct line_pairs *p, uint32_t a, uint32_t b)
{
	MEM_GROW(&p->v, &p->cap, p->n + 1);
	p->v[p->n++] = (struct line_pair){a, b};
}

void line_init(struct line *l, uint32_t steps)
{
	*l = (struct line){.n = steps};
	l->inside = MEM_NEW(steps, int64_t);
	l->pinned = MEM_NEW(steps, uint8_t);
}

void line_pin(struct line *l, uint32_t step)
{
	l->n_pinned += !l->pinned[step];
	l->pinned[step] = 1;
}

void line_after(struct line *l, uint32_t a, uint32_t b)
{
	if (a != b)
		pairs_add(&l->edges, a, b);
}

uint32_t line_value(struct line *l, uint32_t maker, uint64_t bytes)
{
	MEM_GROW(&l->value, &l->cap_values, (size_t)l->n_values + 1);
	l->value[l->n_values] = (struct line_value){maker, bytes};
	return l->n_values++;
}

void line_reads(struct line *l, uint32_t step, uint32_t value)
{
	if (step == l->value[value].maker)
		return;
	pairs_add(&l->uses, step, value);
	line_after(l, l->value[value].maker, step);
}

void line_shares(struct line *l, uint32_t made, uint32_t read)
{
	pairs_add(&l->shares, made, read);
}

static int by_pair(const void *x, const void *y)
{
	const struct line_pair *a = x, *b = y;

	if (a->a != b->a)
		return a->a < b->a ? -1 : 1;
	return (a->b > b->b) - (a->b < b->b);
}

/* Sorts pairs, drops repetitions, and makes a list for each of `n` owners. */
static void lay_out(struct line_pairs *p, uint32_t n, struct line_list *out)
{
	size_t kept = 0;

	if (p->n)
		qsort(p->v, p->n, sizeof *p->v, by_pair);
	out->first = MEM_NEW((size_t)n + 1, uint32_t);
	out->item = mem_alloc(p->n * sizeof *out->item);
	for (size_t i = 0; i < p->n; i++) {
		if (i > 0 && by_pair(&p->v[i], &p->v[i - 1]) == 0)
			continue;
		out->item[kept++] = p->v[i].b;
		out->first[p->v[i].a + 1]++;
	}
	for (uint32_t i = 0; i < n; i++)
		out->first[i + 1] += out->first[i];
}

static void swap_ends(struct line_pairs *p)
{
	for (size_t i = 0; i < p->n; i++)
		p->v[i] = (struct line_pair){p->v[i].b, p->v[i].a};
}

void line_finish(struct line *l)
{
	struct line_pairs made = {0};

	for (uint32_t i = 0; i < l->n_values; i++)
		pairs_add(&made, l->value[i].maker, i);
	lay_out(&made, l->n, &l->makes);
	lay_out(&l->edges, l->n, &l->after);
	swap_ends(&l->edges);
	lay_out(&l->edges, l->n, &l->before);
	lay_out(&l->uses, l->n, &l->reads);
	swap_ends(&l->uses);
	lay_out(&l->uses, l->n_values, &l->readers);
	lay_out(&l->shares, l->n_values, &l->twins);
	mem_free(made.v);
	mem_free(l->edges.v);
	mem_free(l->uses.v);
	mem_free(l->shares.v);
	l->edges = l->uses = l->shares = (struct line_pairs){0};
}

static void list_release(struct line_list *l)
{
	mem_free(l->first);
	mem_free(l->item);
}

void line_release(struct line *l)
{
	mem_free(l->value);
	mem_free(l->inside);
	mem_free(l->pinned);
	mem_free(l->edges.v);
	mem_free(l->uses.v);
	mem_free(l->shares.v);
	list_release(&l->before);
	list_release(&l->after);
	list_release(&l->reads);
	list_release(&l->makes);
	list_release(&l->readers);
	list_release(&l->twins);
	*l = (struct line){0};
}

bool line_legal(const struct line *l, const uint32_t *order)
{
	uint8_t *seen = MEM_NEW(l->n, uint8_t);
	bool legal = true;

	for (uint32_t p = 0; p < l->n && legal; p++) {
		uint32_t v = order[p];
		legal = v < l->n && !seen[v];
		for (uint32_t k = legal ? l->before.first[v] : 0; legal && k < l->before.first[v + 1]; k++)
			legal = seen[l->before.item[k]];
		if (legal)
			seen[v] = 1;
	}
	mem_free(seen);
	return legal;
}

void line_settle(const struct line *l, uint32_t *order)
{
	uint32_t *old = mem_alloc(l->n * sizeof *old), front = 0, back = l->n_pinned;

	memcpy(old, order, l->n * sizeof *old);
	for (uint32_t p = 0; p < l->n; p++)
		order[l->pinned[old[p]] ? front++ : back++] = old[p];
	mem_free(old);
}
