/*
 * own.h - what the files that build a graph share; nobody outside graph/ needs it.
 *
 *	raw.c	    message -> arrays in file order
 *	order.c     file order -> our order
 *	graph.c     all of it together
 *	valid.c     checks what all others rely on
 *	analyse.c   roles, sizes, work
 *	loops.c     trip counts
 *	shash.c     structural hashes
 *	content.c   the content hash
 */
#ifndef GRAPH_OWN_H
#define GRAPH_OWN_H

#include "graph/graph.h"
#include "hlo/op.h"

#define NODE_LIMIT (1u << 26) /* instructions, operands, calls of one program */
#define CALL_DEPTH 256	      /* computations that call each other */

/*
 * The module with ids resolved, everything numbered as in the file. Arrays live in `tmp`.
 * dep[dep_first[i] ...]: operands of i, then control predecessors; call[call_first[i] ...]: what it calls.
 */
struct raw {
	const char *file; /* for sentences */
	struct err *err;
	struct arena tmp;
	Hlo__HloModuleProto *m;
	uint32_t n, n_comps, entry;
	Hlo__HloInstructionProto **in;
	uint32_t *comp;			     /* per instruction */
	uint32_t *first, *root;		     /* per computation; first has n_comps + 1 places */
	uint32_t *dep, *dep_first, *call, *call_first;
	/* Filled by raw_order: lists in our order, and where each thing of the file went. */
	uint32_t *order, *rank;		  /* instructions */
	uint32_t *comp_order, *comp_rank; /* computations */
};
int raw_resolve(struct raw *r); /* needs m, file, err */
int raw_order(struct raw *r);

/* Computes roles, sizes and work. graph_valid must have passed. */
void graph_analyse(struct graph *g);
void graph_loops(struct graph *g); /* trip counts of all loops; before roles */
void graph_applied(struct graph *g); /* comp->applied of all applied computations */
void graph_content(struct graph *g, const struct raw *r);

#endif
