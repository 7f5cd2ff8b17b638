/*
 * pack.c - see pack.h. This runs once for every example of every batch: it is copying, in order.
 */
#include "learn/pack.h"

#include <string.h>
#include "learn/inputs.h"
#include "learn/row.h"

static uint32_t ring_first(const struct hood *h, uint32_t r)
{
	return r ? h->n[r - 1] : 0;
}

/* A local number as a row of the batch: base[r] is where the example's ring r begins. */
static uint32_t row_of(const struct hood *h, const uint32_t *base, uint32_t local)
{
	uint32_t r = 0;

	while (local >= h->n[r])
		r++;
	return base[r] + local - ring_first(h, r);
}

/* base[i * (radius + 1) + r]: the row where ring r of example i begins; and the batch's own bounds. */
static uint32_t *lay_out(struct pack *p, const struct data *d, const uint32_t *example, uint32_t n)
{
	uint32_t rings = d->radius + 1, at = 0, *base = arena_alloc(&p->mem, (n * rings + 1) * sizeof *base);

	for (uint32_t r = 0; r < rings; r++) {
		for (uint32_t i = 0; i < n; i++) {
			const struct hood *h = d->example[example[i]].hood;
			base[i * rings + r] = at;
			at += h->n[r] - ring_first(h, r);
		}
		p->batch.n[r] = at;
	}
	return base;
}

static void copy_nodes(const struct data *d, const struct example *e, const uint32_t *base,
	uint16_t *opcode, uint16_t *dtype, real *x)
{
	const struct scene *g = &d->graph[e->graph].scene;
	const struct hood *h = e->hood;

	for (uint32_t r = 0; r <= d->radius; r++)
		for (uint32_t i = ring_first(h, r), row = base[r]; i < h->n[r]; i++, row++) {
			uint32_t v = h->node[i];
			real *to = x + (size_t)row * NODE_FEATURES;
			opcode[row] = g->opcode[v];
			dtype[row] = g->dtype[v];
			memcpy(to, g->fixed + (size_t)v * NODE_FIXED, NODE_FIXED * sizeof *to);
			memcpy(to + NODE_FIXED, e->context + (size_t)i * NODE_CONTEXT, NODE_CONTEXT * sizeof *to);
		}
}

/* The neighbour lists of one direction, in the order of the batch's rows. */
static void copy_lists(struct pack *p, const struct data *d, const uint32_t *example, uint32_t n,
	const uint32_t *base, bool users, const uint32_t **out_first, const uint32_t **out_to)
{
	uint32_t rows = p->batch.n[d->radius - 1], rings = d->radius + 1, edges = 0, row = 0;
	uint32_t *first = arena_alloc(&p->mem, (rows + 1) * sizeof *first), *to;

	for (uint32_t i = 0; i < n; i++) {
		const struct hood *h = d->example[example[i]].hood;
		edges += (users ? h->user_first : h->op_first)[h->n[d->radius - 1]];
	}
	to = arena_alloc(&p->mem, (edges + 1) * sizeof *to);
	edges = 0;
	for (uint32_t r = 0; r < d->radius; r++)
		for (uint32_t i = 0; i < n; i++) {
			const struct hood *h = d->example[example[i]].hood;
			const uint32_t *from = users ? h->user_first : h->op_first, *list = users ? h->user_to
				: h->op_to;
			for (uint32_t k = ring_first(h, r); k < h->n[r]; k++) {
				first[row++] = edges;
				for (uint32_t e = from[k]; e < from[k + 1]; e++)
					to[edges++] = row_of(h, base + i * rings, list[e]);
			}
		}
	first[row] = edges;
	*out_first = first;
	*out_to = to;
}

static void copy_flips(struct pack *p, const struct data *d, const struct net *net, const struct advice *a,
	const uint32_t *example, uint32_t n)
{
	size_t width = net->size.flip_features;
	uint32_t flips = 0, *row;
	float known[ROW_COLUMNS];
	real *f;

	for (uint32_t i = 0; i < n; i++)
		flips += d->example[example[i]].n_flips;
	row = arena_alloc(&p->mem, (flips + 1) * sizeof *row);
	f = arena_alloc(&p->mem, (flips * width + 1) * sizeof *f);
	p->owner = arena_alloc(&p->mem, (flips + 1) * sizeof *p->owner);
	p->label = arena_alloc(&p->mem, (flips + 1) * sizeof *p->label);
	flips = 0;
	for (uint32_t i = 0; i < n; i++) {
		const struct example *e = &d->example[example[i]];
		for (uint8_t k = 0; k < e->n_flips; k++, flips++) {
			example_row(d, e, k, known);
			inputs_fill(net, known, a ? advice_on(a, example[i], k) : NULL, f + flips * width);
			row[flips] = i; /* ring 0 holds the targets, one each, in order */
			p->owner[flips] = i;
			p->label[flips] = &e->label[k];
		}
	}
	p->batch.n_flips = flips;
	p->batch.flip_row = row;
	p->batch.f = f;
}

void pack_examples(struct pack *p, const struct data *d, const struct net *net, const struct advice *a,
	const uint32_t *example, uint32_t n)
{
	uint32_t *base, rings = d->radius + 1;
	uint16_t *opcode, *dtype;
	real *x;

	arena_reset(&p->mem);
	p->batch = (struct batch){0};
	base = lay_out(p, d, example, n);
	opcode = arena_alloc(&p->mem, (p->batch.n[d->radius] + 1) * sizeof *opcode);
	dtype = arena_alloc(&p->mem, (p->batch.n[d->radius] + 1) * sizeof *dtype);
	x = arena_alloc(&p->mem, ((size_t)p->batch.n[d->radius] * NODE_FEATURES + 1) * sizeof *x);
	for (uint32_t i = 0; i < n; i++)
		copy_nodes(d, &d->example[example[i]], base + i * rings, opcode, dtype, x);
	p->batch.opcode = opcode;
	p->batch.dtype = dtype;
	p->batch.x = x;
	copy_lists(p, d, example, n, base, false, &p->batch.op_first, &p->batch.op_to);
	copy_lists(p, d, example, n, base, true, &p->batch.user_first, &p->batch.user_to);
	copy_flips(p, d, net, a, example, n);
}

void pack_release(struct pack *p)
{
	arena_release(&p->mem);
	*p = (struct pack){0};
}
