/*
 * beginning.h - the beginning of a program as a program of its own.
 */
#ifndef GRAPH_BEGINNING_H
#define GRAPH_BEGINNING_H

#include "graph/graph.h"

/*
 * Writes a program with g's parameters that computes the first n instructions of g's entry, in the order of the nodes,
 * and no others. Its result is every value that none of them reads, so that a compiler has to compute them all. Returns
 * false if there is no such value.
 */
bool beginning_program(const struct graph *g, uint32_t n, struct buf *out);

#endif
