/*
 * node_ids.h - finds the nodes of a computation by the ids of their instructions.
 *
 *	struct node_ids ids = node_ids_of(g, comp);
 *	uint32_t at = node_ids_find(&ids, in->control_predecessor_ids[0]);
 *	node_ids_release(&ids);
 *
 * Operands and calls are numbers in a graph (graph.h). Schedules and control predecessors still are ids.
 */
#ifndef GRAPH_NODE_IDS_H
#define GRAPH_NODE_IDS_H

#include "graph/graph.h"

struct node_ids {
	struct node_id {
		int64_t id;
		uint32_t at;
	} *v; /* by id */
	uint32_t n;
};

struct node_ids node_ids_of(const struct graph *g, uint32_t comp);
/* Returns the node's place in its computation, counted from 0; NONE: no instruction of the computation has this id. */
uint32_t node_ids_find(const struct node_ids *ids, int64_t id);
void node_ids_release(struct node_ids *ids);

#endif
