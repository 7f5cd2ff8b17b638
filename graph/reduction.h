/*
 * reduction.h - tells how much a reduction folds, and whether threads can share it.
 */
#ifndef GRAPH_REDUCTION_H
#define GRAPH_REDUCTION_H

#include "graph/graph.h"

/* How many elements are folded into one of the result; 1 if v is no reduction of one array. */
uint64_t reduction_folds(const struct graph *g, uint32_t v);
/*
 * Is the reduction long and regular enough for many threads to share it? Then what it keeps, or what it folds, lies
 * together in memory and is enough for a group of 32 threads. Any other reduction is done by one thread, so it may also
 * be done inside another kernel.
 */
bool reduction_is_shared(const struct graph *g, uint32_t v);
/*
 * Does v put a reduction's results beside other values, or into an array, each once? It has more elements then, but
 * repeats none. XLA:GPU makes such kernels.
 */
bool reduction_is_put(const struct graph *g, uint32_t v);

#endif
