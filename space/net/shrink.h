/*
 * shrink.h - the net while it is being made smaller. Only reduced.c uses this; others see reduced.h.
 *
 * Slots are numbered like the net's nodes. A slot is a variable, or it is gone: merged into another slot, or parted,
 * that is, eliminated, with what is needed to find its choice later.
 */
#ifndef SPACE_NET_SHRINK_H
#define SPACE_NET_SHRINK_H

#include "space/net/reduced.h"

struct slot {
	uint32_t choices;
	double *cost; /* [choices] */
	uint32_t n_nodes;
	uint32_t *node;
	uint16_t *choice; /* [n_nodes][choices] */
	uint32_t *edge;
	size_t n_edges, cap_edges;
	bool gone, queued;
};

struct shrunk_edge {
	uint32_t a, b; /* slots */
	double *cost;  /* [choices of a][choices of b]; NULL: gone */
};

struct shrink {
	const struct network *net;
	struct slot *slot;
	struct shrunk_edge *edge;
	size_t n_edges, cap_edges;
	uint32_t *queue;
	size_t n_queue, cap_queue;
	bool *live; /* per node: does its memory matter? */
	struct reduced *model; /* takes what is decided: cost, parted, hopeless */
};

/* `m` has its net, scale, and room for all nodes in parted. */
void shrink_init(struct shrink *s, struct reduced *m);
/* Looks at everything. Called again when the memory of more nodes has ceased to matter. */
void shrink_run(struct shrink *s);
void shrink_release(struct shrink *s);
/* The cost of a pair, seen from either end. */
static inline double shrink_pair(const struct shrink *s, const struct shrunk_edge *e, uint32_t from, uint32_t k,
	uint32_t l)
{
	size_t width = s->slot[e->b].choices;
	return e->a == from ? e->cost[k * width + l] : e->cost[l * width + k];
}

/* ---- shrink_edge.c, for shrink.c alone ---- */
static inline double shrink_capped(double cost) /* one value for all costs that mean "never" */
{
	return REDUCED_ALLOWED(cost) ? cost : REDUCED_NEVER;
}
static inline uint32_t shrink_other_end(const struct shrunk_edge *e, uint32_t v)
{
	return e->a == v ? e->b : e->a;
}
void shrink_enqueue(struct shrink *s, uint32_t v); /* unless it waits already, or is gone */
void shrink_enqueue_neighbours(struct shrink *s, uint32_t v);
struct shrunk_edge *shrink_edge_between(struct shrink *s, uint32_t a, uint32_t b); /* NULL if there is none */
/* Adds an edge with `cost`, a's choices by b's, and takes over that memory. If there is an edge, adds to its costs. */
void shrink_add_edge(struct shrink *s, uint32_t a, uint32_t b, double *cost);
void shrink_remove_edge(struct shrink *s, uint32_t number);
void shrink_detach(struct slot *v, uint32_t edge); /* takes the edge from the slot's list only */

#endif
