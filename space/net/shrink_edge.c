/*
 * shrink_edge.c - adds and removes edges between slots, and queues the slots that this changes.
 */
#include "space/net/shrink.h"

#include "base/mem.h"

void shrink_enqueue(struct shrink *s, uint32_t v)
{
	if (s->slot[v].queued || s->slot[v].gone)
		return;
	s->slot[v].queued = true;
	MEM_GROW(&s->queue, &s->cap_queue, s->n_queue + 1);
	s->queue[s->n_queue++] = v;
}

void shrink_enqueue_neighbours(struct shrink *s, uint32_t v)
{
	for (size_t i = 0; i < s->slot[v].n_edges; i++)
		shrink_enqueue(s, shrink_other_end(&s->edge[s->slot[v].edge[i]], v));
}

static void attach(struct slot *v, uint32_t edge)
{
	MEM_GROW(&v->edge, &v->cap_edges, v->n_edges + 1);
	v->edge[v->n_edges++] = edge;
}

void shrink_detach(struct slot *v, uint32_t edge)
{
	size_t i = 0;

	while (v->edge[i] != edge)
		i++;
	v->edge[i] = v->edge[--v->n_edges];
}

struct shrunk_edge *shrink_edge_between(struct shrink *s, uint32_t a, uint32_t b)
{
	uint32_t from = s->slot[a].n_edges < s->slot[b].n_edges ? a : b;

	for (size_t i = 0; i < s->slot[from].n_edges; i++) {
		struct shrunk_edge *e = &s->edge[s->slot[from].edge[i]];
		if (shrink_other_end(e, from) == (from == a ? b : a))
			return e;
	}
	return NULL;
}

void shrink_add_edge(struct shrink *s, uint32_t a, uint32_t b, double *cost)
{
	struct shrunk_edge *e = shrink_edge_between(s, a, b);
	size_t ka = s->slot[a].choices, kb = s->slot[b].choices;

	if (!e) {
		MEM_GROW(&s->edge, &s->cap_edges, s->n_edges + 1);
		s->edge[s->n_edges] = (struct shrunk_edge){a, b, cost};
		attach(&s->slot[a], (uint32_t)s->n_edges);
		attach(&s->slot[b], (uint32_t)s->n_edges++);
		return;
	}
	for (size_t k = 0; k < ka; k++)
		for (size_t l = 0; l < kb; l++) {
			double *at = e->a == a ? &e->cost[k * kb + l] : &e->cost[l * ka + k];
			*at = shrink_capped(*at + cost[k * kb + l]);
		}
	mem_free(cost);
}

void shrink_remove_edge(struct shrink *s, uint32_t number)
{
	struct shrunk_edge *e = &s->edge[number];

	shrink_detach(&s->slot[e->a], number);
	shrink_detach(&s->slot[e->b], number);
	mem_free(e->cost);
	e->cost = NULL;
}
