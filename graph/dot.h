/*
 * dot.h - a graph, or the surroundings of one node, as a drawing for Graphviz.
 */
#ifndef GRAPH_DOT_H
#define GRAPH_DOT_H

#include "graph/graph.h"

#define DOT_LIMIT 1000 /* nodes in one drawing: more is no picture any more */

/*
 * With around != NONE: what lies within `hops` operands or users of that node, calls included. Refuses
 * more than DOT_LIMIT nodes. Pipe into `dot -Tsvg`.
 */
int graph_dot(const struct graph *g, uint32_t around, uint32_t hops, struct buf *out, struct err *err);

#endif
