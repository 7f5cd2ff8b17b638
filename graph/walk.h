/*
 * walk.h - finds how far apart in memory the elements are that a loop reads one after the other.
 *
 * A kernel computes the elements of its result in the order in which they lie in memory. Its innermost loop moves the
 * index of one dimension. Through a transpose, a broadcast or a copy to another layout this moves another dimension of
 * the operand, or none. A walk says which dimension of an instruction's result moves, and by how much, from one
 * round of that loop to the next.
 *
 *	w = walk_of(n)				// of the result itself: along its innermost dimension
 *	w = walk_operand(g, c, k, w)		// of c's k-th operand, if c is walked along w
 *	stride = walk_stride(&g->node[p], w)	// in elements; 0: the same one again; WALK_ANYWHERE: unknown
 */
#ifndef GRAPH_WALK_H
#define GRAPH_WALK_H

#include <math.h>
#include "graph/graph.h"

#define WALK_ANYWHERE INFINITY
enum { WALK_NONE = -1, WALK_UNKNOWN = -2 };

struct walk {
	int64_t dim; /* the dimension that moves, or WALK_NONE, WALK_UNKNOWN */
	double step; /* by how much its index moves */
};

struct walk walk_of(const struct node *n);
struct walk walk_operand(const struct graph *g, uint32_t c, uint32_t k, struct walk w);
double walk_stride(const struct node *n, struct walk w);

#endif
