/*
 * hood.c - see hood.h: a breadth-first walk in both directions, ring by ring.
 */
#include "learn/hood.h"

#include <string.h>

void hood_maker_init(struct hood_maker *m, const struct scene *g, uint32_t radius)
{
	*m = (struct hood_maker){.scene = g, .radius = radius, .local = MEM_NEW(g->n_nodes, uint32_t)};
	memset(m->local, 0xff, g->n_nodes * sizeof *m->local);
}

void hood_maker_release(struct hood_maker *m)
{
	mem_free(m->local);
	*m = (struct hood_maker){0};
}

struct list {
	uint32_t *v;
	size_t n, cap;
};

static void push(struct list *l, uint32_t v)
{
	MEM_GROW(&l->v, &l->cap, l->n + 1);
	l->v[l->n++] = v;
}

static void reach(struct hood_maker *m, struct list *l, uint32_t v)
{
	if (m->local[v] == NONE) {
		m->local[v] = (uint32_t)l->n;
		push(l, v);
	}
}

/* The rows' neighbour lists in local numbers. */
static void localise(const struct hood_maker *m, const struct list *l, uint32_t rows, const uint32_t *first,
	const uint32_t *to, struct arena *mem, uint32_t **out_first, uint32_t **out_to)
{
	uint32_t n = 0;

	*out_first = ARENA_NEW(mem, rows + 1, uint32_t);
	for (uint32_t i = 0; i < rows; i++)
		(*out_first)[i + 1] = (*out_first)[i] + first[l->v[i] + 1] - first[l->v[i]];
	*out_to = ARENA_NEW(mem, (*out_first)[rows], uint32_t);
	for (uint32_t i = 0; i < rows; i++)
		for (uint32_t e = first[l->v[i]]; e < first[l->v[i] + 1]; e++)
			(*out_to)[n++] = m->local[to[e]];
}

struct hood *hood_make(struct hood_maker *m, uint32_t node, struct arena *mem)
{
	const struct scene *g = m->scene;
	struct hood *h = ARENA_NEW(mem, 1, struct hood);
	struct list l = {0};
	uint32_t from = 0;

	reach(m, &l, node);
	h->n[0] = 1;
	for (uint32_t r = 1; r <= m->radius; r++) {
		uint32_t to = (uint32_t)l.n;
		for (uint32_t i = from; i < to; i++) {
			uint32_t v = l.v[i];
			for (uint32_t e = g->op_first[v]; e < g->op_first[v + 1]; e++)
				reach(m, &l, g->op_to[e]);
			for (uint32_t e = g->user_first[v]; e < g->user_first[v + 1]; e++)
				reach(m, &l, g->user_to[e]);
		}
		from = to;
		h->n[r] = (uint32_t)l.n;
	}
	h->node = arena_dup(mem, l.v, l.n * sizeof *l.v);
	localise(m, &l, h->n[m->radius - 1], g->op_first, g->op_to, mem, &h->op_first, &h->op_to);
	localise(m, &l, h->n[m->radius - 1], g->user_first, g->user_to, mem, &h->user_first, &h->user_to);
	for (size_t i = 0; i < l.n; i++)
		m->local[l.v[i]] = NONE;
	mem_free(l.v);
	return h;
}
