/*
 * unmade.h - kernels that XLA:GPU would compile, but hardly ever makes itself, so that its prices of them mean nothing.
 *
 * Where it made such a kernel after all, that stays as it is (space/fusion/tiles.c), and counts.
 */
#ifndef GRAPH_UNMADE_H
#define GRAPH_UNMADE_H

#include "graph/graph.h"

#define KEPT_MARK ".tiles" /* in the names of the insides of a kernel that stays as the compiler made it */
#define UNMADE_OPERANDS 96 /* the most values that a kernel reads and gives */

/*
 * Why is no kernel made of these nodes of one computation (ascending; the last one is the result)? NULL: one may be.
 * *at: the reduction that had better be kept in memory; it is never the result.
 */
const char *unmade_reduction(const struct graph *g, const uint32_t *nodes, size_t n, uint32_t *at);
/* The same of all nodes of a computation, as a fusion has it. */
const char *unmade_fusion(const struct graph *g, const struct comp *c);

#endif
