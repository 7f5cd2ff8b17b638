/*
 * values.h - what a compiled program keeps in memory: its values, and which names they go by.
 *
 * An array that an instruction computes is a value, and lives in a buffer. Many instructions only give it another name: tuples
 * and their elements, bitcasts, the parameters and results of loops, branches and calls, and everything that is updated in
 * place. All names of one buffer are one value here.
 *
 * A value belongs to the outermost computation that it is known in: what a loop carries lives in the loop's caller for as
 * long as the loop runs. The computations that are compiled as such (entry, control) become lines (line.h), whose steps
 * are their instructions in the graph's numbering.
 *
 * Not in temporary memory, and weighing nothing: parameters of the entry, constants, and what the entry returns. The compiler
 * puts some more values where results are, before these are made: which ones depends on the order (rooms.h).
 */
#ifndef SPACE_ORDER_VALUES_H
#define SPACE_ORDER_VALUES_H

#include "graph/graph.h"
#include "space/order/line.h"

struct values {
	const struct graph *graph;
	uint32_t n;		/* names: leaves of all instructions */
	uint32_t *leaf;		/* per node: its first name; per node + 1 its end */
	uint32_t *parent;	/* of names: towards the one that stands for all */
	uint64_t *bytes;	/* per name, as its shape says */
	uint32_t *home;		/* per value, at the name that stands for it: its computation */
	bool *outside;		/* likewise: it is not in temporary memory */
	uint32_t *number;	/* likewise: in the line of its home; NONE: it has no maker there */
	struct line *line;	/* per computation; n is 0 for those that are not compiled as such */
};

/* Steps of the line of a computation are its nodes less `comp.first`. */
void values_find(struct values *v, const struct graph *g);
void values_release(struct values *v);
/* The name that stands for all of a buffer's. */
uint32_t values_of(const struct values *v, uint32_t name);
/* What so many bytes take in a heap. */
uint64_t values_rounded(uint64_t bytes);
/* Memory of a step's inside, from the peaks that its computations have: one per computation. */
void values_inside(struct values *v, const uint64_t *peak, uint32_t comp);

#endif
