/*
 * values.h - what a compiled program keeps in memory: its values, and which names they go by.
 *
 * An array that an instruction computes is a value, and lives in a buffer. Many instructions only give it another name:
 * tuples and their elements, bitcasts, the parameters and results of loops, branches and calls, and everything that is
 * updated in place. All names of one buffer are one value here.
 *
 * A tuple's table, which says where its elements are, has memory of its own all the time: 8 bytes for each element. So
 * tables have names, but are no values of lines.
 *
 * A loop's buffer is not always in use: between the last reader of what an iteration was given and the maker of what it
 * hands on, other values may be there. So a buffer has parts, whose lives are counted one by one: what goes into a
 * loop, what its condition is given, what its body is given and gives, and what comes out; likewise what each branch
 * gives and what comes out of all. Everywhere else a buffer is one part.
 *
 * A part belongs to the outermost computation that it is known in. The computations that are compiled as such (entry,
 * control) become lines (line.h), whose steps are their instructions in the graph's numbering. At the step that is a
 * loop, only the loop's inside counts what the loop carries.
 *
 * Not in temporary memory, and weighing nothing: parameters of the entry, constants, and what the entry returns. The
 * compiler puts some more values where results are, before these are made: which ones depends on the order (rooms.h).
 */
#ifndef SPACE_ORDER_VALUES_H
#define SPACE_ORDER_VALUES_H

#include "graph/graph.h"
#include "space/order/line.h"

struct values {
	const struct graph *graph;
	uint32_t n;		/* names: leaves of all instructions */
	uint32_t *leaf;		/* per node: its first name; per node + 1 its end */
	uint32_t *parent;	/* of names: towards the one that stands for all of a buffer's */
	uint32_t *part;		/* likewise of a part's */
	uint64_t *bytes;	/* per name, as its shape says; of the one that stands for a buffer: the largest */
	bool *outside;		/* per buffer, at the name that stands for it: it is not in temporary memory */
	bool *table;		/* per name: it is that of a tuple's table */
	bool *several;		/* likewise: more than one instruction makes what is in it */
	uint32_t *home;		/* per part, at the name that stands for it: its computation */
	uint32_t *number;	/* likewise: in the line of its home; NONE: it has no maker there */
	struct line *line;	/* per computation; n is 0 for those that are not compiled as such */
};

/* Steps of the line of a computation are its nodes less `comp.first`. */
void values_find(struct values *v, const struct graph *g);
void values_release(struct values *v);
/* The name that stands for all of a buffer's, and of a part's. */
uint32_t values_of(const struct values *v, uint32_t name);
uint32_t values_part(const struct values *v, uint32_t name);
/* Does a node have one name, which is an array's? */
bool values_array(const struct values *v, uint32_t node);
/* Bytes of all tables together. */
uint64_t values_tables(const struct values *v);
/* What so many bytes take in a heap. */
uint64_t values_rounded(uint64_t bytes);
/* Memory of a step's inside, from the peaks that its computations have: one per computation. */
void values_inside(struct values *v, const uint64_t *peak, uint32_t comp);

#endif
