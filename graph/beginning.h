/*
 * beginning.h - the beginning of a program as a program of its own.
 */
#ifndef GRAPH_BEGINNING_H
#define GRAPH_BEGINNING_H

#include "graph/graph.h"

/*
 * Writes a program with g's parameters that computes the first n instructions of its entry, in the order of its nodes, and
 * no others. All that none of them reads is its result, so that a compiler has to compute each. False if there is no result.
 */
bool beginning_program(const struct graph *g, uint32_t n, struct buf *out);

#endif
