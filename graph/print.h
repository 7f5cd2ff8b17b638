/*
 * print.h - writes a graph as HLO text that XLA's own parser accepts and that means the same.
 *
 * Large constants are written in full. A scheduled module is listed in the order of its schedule, any
 * other by ascending id. What the text form has no words for (see hlo_attr.def) is left out.
 */
#ifndef GRAPH_PRINT_H
#define GRAPH_PRINT_H

#include "base/buf.h"
#include "graph/graph.h"

void hlo_print(const struct graph *g, struct buf *out);

#endif
