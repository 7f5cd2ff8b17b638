/*
 * dot.h - draws a graph, or the surroundings of one node, for Graphviz.
 */
#ifndef GRAPH_DOT_H
#define GRAPH_DOT_H

#include "graph/graph.h"

#define DOT_LIMIT 1000 /* nodes in one drawing: nobody can read a larger one */

/*
 * Draws the whole graph, or, if around is not NONE, the nodes within `hops` steps of that node along operands,
 * users and calls. Refuses more than DOT_LIMIT nodes. Pipe the result into `dot -Tsvg`.
 */
int graph_dot(const struct graph *g, uint32_t around, uint32_t hops, struct buf *out, struct err *err);

#endif
