/*
 * walk.h - how far apart in memory the elements lie that a loop reads one after the other.
 *
 * A kernel computes the elements of its result in the order in which they lie in memory. Its innermost loop moves one
 * index of one dimension; seen through a transpose, a broadcast or a copy to another layout that is another dimension of
 * the operand, or none. A walk says which dimension of an instruction's result moves, and by how much, from one
 * turn of that loop to the next.
 *
 *	w = walk_of(n)				// the result itself: along its innermost dimension
 *	w = walk_operand(g, c, k, w)		// what c's k-th operand is read along, c being walked along w
 *	stride = walk_stride(&g->node[p], w)	// in elements: 0, the same one again; WALK_ANYWHERE, nobody knows
 */
#ifndef GRAPH_WALK_H
#define GRAPH_WALK_H

#include <math.h>
#include "graph/graph.h"

#define WALK_ANYWHERE INFINITY
enum { WALK_NONE = -1, WALK_UNKNOWN = -2 };

struct walk {
	int64_t dim; /* that moves, or WALK_NONE, WALK_UNKNOWN */
	double step; /* of its index */
};

struct walk walk_of(const struct node *n);
struct walk walk_operand(const struct graph *g, uint32_t c, uint32_t k, struct walk w);
double walk_stride(const struct node *n, struct walk w);

#endif
