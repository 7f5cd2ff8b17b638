/*
 * shrink.h - the net while it is being made smaller. Only reduced.c uses this; all others use reduced.h.
 *
 * Each node of the net begins as a slot with the same number. In the end a slot is a variable of the model, or it is
 * gone: it was merged into another slot, or parted. To part a slot is to eliminate it and to remember what is needed to
 * find its choice later (struct parted).
 */
#ifndef SPACE_NET_SHRINK_H
#define SPACE_NET_SHRINK_H

#include "space/net/reduced.h"

struct slot {
	uint32_t choices;
	double *cost; /* [choices] */
	uint32_t n_nodes;
	uint32_t *node;
	uint16_t *choice; /* [n_nodes][choices] the node's choice, for each choice of the slot */
	uint32_t *edge;	  /* [n_edges] numbers of edges */
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
	struct reduced *model; /* what is decided goes here: cost, parted, hopeless */
};

/* Makes a slot of each node. m->net and m->scale must be set, and m->parted must have room for all nodes. */
void shrink_init(struct shrink *s, struct reduced *m);
/* Shrinks as far as it goes. Worth another call once the memory of more nodes does not matter (`live`). */
void shrink_run(struct shrink *s);
void shrink_release(struct shrink *s);
/* The cost of choice k of slot `from`, one end of the edge, together with choice l of the other end. */
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
void shrink_enqueue(struct shrink *s, uint32_t v); /* does nothing if the slot waits already, or is gone */
void shrink_enqueue_neighbours(struct shrink *s, uint32_t v);
struct shrunk_edge *shrink_edge_between(struct shrink *s, uint32_t a, uint32_t b); /* NULL if there is none */
/*
 * Adds an edge. `cost` is [choices of a][choices of b]; the function takes over its memory. If the two slots have an
 * edge already, the costs are added to those of that edge.
 */
void shrink_add_edge(struct shrink *s, uint32_t a, uint32_t b, double *cost);
void shrink_remove_edge(struct shrink *s, uint32_t number);
void shrink_detach(struct slot *v, uint32_t edge); /* removes the edge from the slot's list; the edge stays */

#endif
