/*
 * uncall.h - a program without calls: what was called stands where it was called.
 *
 * Libraries write their helpers as computations of their own; JAX does so with relu, where, clip and whatever else it
 * has compiled by itself. Compilers put them in place before they do anything else. What is to be decided about the
 * program as it was handed in has to be decided about that, too: a helper's operations are computed together with
 * those around the call, and one helper may be called in many places, which need not be treated alike.
 */
#ifndef GRAPH_UNCALL_H
#define GRAPH_UNCALL_H

#include "graph/graph.h"

/*
 * Appends the program with its calls replaced by what they call, or nothing if there are none that can be. Left as they
 * are: calls with effects, calls that wait for others or that others wait for, and calls that say something to the
 * compiler (attributes, sharding); all calls of a program that would become many times as large.
 */
void uncall(const struct graph *g, struct buf *out);

#endif
