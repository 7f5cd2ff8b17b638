/*
 * work.h - counts the operations of a node, weighted: an addition is 1, see schemas/opcode.def.
 */
#ifndef GRAPH_WORK_H
#define GRAPH_WORK_H

#include "graph/graph.h"

void graph_work(struct graph *g); /* fills node->flops; needs trip counts */

/* The operations of one run of the program; a loop whose turns are unknown counts as one turn. */
double graph_operations(const struct graph *g);

#endif
