/*
 * print.h - a graph as HLO text that XLA's own parser accepts and that means the same.
 *
 * Large constants are written in full. The order of instructions is that of the message, so for a
 * scheduled module it is the schedule. What the text form has no words for (see hlo_attr.def) is left out.
 */
#ifndef GRAPH_PRINT_H
#define GRAPH_PRINT_H

#include "base/buf.h"
#include "graph/graph.h"

void hlo_print(const struct graph *g, struct buf *out);

#endif
