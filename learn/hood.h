/*
 * hood.h - finds the neighbourhood of a site: all nodes that its prediction can depend on.
 *
 * It holds the nodes within `radius` steps of the site, the target, over the learner's edges (feature.h), ordered by
 * distance, and the neighbour lists of all but the outermost nodes, in local numbers. It depends only on the graph, so
 * all samples of a site share one.
 */
#ifndef LEARN_HOOD_H
#define LEARN_HOOD_H

#include "learn/feature.h"
#include "learn/net.h"

struct hood {
	uint32_t n[NET_LAYERS + 1];	      /* nodes within distance r; n[0] is 1 */
	uint32_t *node;			      /* n[radius]: numbers in the graph */
	uint32_t *op_first, *op_to;	      /* CSR of the first n[radius - 1]: operands, */
	uint32_t *user_first, *user_to;	      /* ... users */
};

/* Scratch for one graph: which local number a node has. */
struct hood_maker {
	const struct scene *scene;
	uint32_t radius;
	uint32_t *local; /* n_nodes; NONE outside the hood being made */
};
void hood_maker_init(struct hood_maker *m, const struct scene *g, uint32_t radius);
void hood_maker_release(struct hood_maker *m);
/* In the arena. */
struct hood *hood_make(struct hood_maker *m, uint32_t node, struct arena *mem);

#endif
