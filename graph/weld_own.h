/*
 * weld_own.h - what the files that weld share; nobody else needs it.
 *
 *	weld.c		which instructions become one kernel, and in which order they stand
 *	weld_write.c	the module with them
 */
#ifndef GRAPH_WELD_OWN_H
#define GRAPH_WELD_OWN_H

#include "graph/graph.h"
#include "graph/weld.h"

struct welder {
	const struct graph *g;
	const struct welding *how;
	/* By computation: may all of it be part of a kernel? What does one run move, and how many kernels are in it? */
	bool *whole;
	double *moves;
	uint32_t *kernels;
	bool *wanted;	 /* ... is it looked for rows in? Not what is welded as a whole. */
	uint32_t *phase; /* by node: see order() */
	uint32_t *order; /* of a computation, from its first node on: its nodes as they are written */
	uint32_t *row;	 /* by node: the row that it is in, or NONE */
	uint32_t n_rows;
	struct welded welded;
};

/* Packs the program with each row as a call. */
void weld_write(const struct welder *w, struct buf *out);

#endif
