/*
 * reduction.h - how a reduction lies in memory.
 */
#ifndef GRAPH_REDUCTION_H
#define GRAPH_REDUCTION_H

#include "graph/graph.h"

/* Elements that are folded into one of the result; 1 where v is no reduction of one array. */
uint64_t reduction_folds(const struct graph *g, uint32_t v);
/*
 * Is it long and regular enough for many threads to share it? What is kept or what is folded lies together, and there is enough
 * of it for a group of 32 threads. Any other is done by one thread, which may as well do it in the middle of something else.
 */
bool reduction_is_shared(const struct graph *g, uint32_t v);

#endif
