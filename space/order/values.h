/*
 * values.h - finds the values that a compiled program keeps in memory, and makes lines (line.h) of it.
 *
 * An array that an instruction computes is a value, and lives in a buffer. Many instructions only give a value another
 * name: tuples and their elements, bitcasts, the parameters and results of loops, branches and calls, and everything
 * that is updated in place. Each leaf of each instruction's shape is a name. Names of the same buffer are united, and
 * one of them stands for all.
 *
 * A tuple's table, which says where its elements are, has memory of its own all the time: 8 bytes for each element. So
 * tables have names, but they are not values of lines.
 *
 * The buffer of a loop is not always in use: between the last reader of what an iteration was given and the maker of
 * what it hands on, other values may be there. So such a buffer has several lives: what goes into the loop, what its
 * condition is given, what its body is given, what its body gives, and what comes out. Likewise what each branch gives
 * has a life, and what comes out of all branches. Every other buffer has one life.
 *
 * A life's home is the outermost computation in which it has a name. Each computation that is compiled as such (the
 * entry, and those of control flow) becomes a line; its steps are its instructions, in the graph's numbering. At the
 * step that runs a loop, what the loop carries is counted once, inside.
 *
 * Parameters of the entry, constants, and what the entry returns are not in temporary memory, and weigh nothing. The
 * compiler puts some more values where results will be; which ones depends on the order (rooms.h).
 */
#ifndef SPACE_ORDER_VALUES_H
#define SPACE_ORDER_VALUES_H

#include "graph/graph.h"
#include "space/order/line.h"

struct values {
	const struct graph *graph;
	uint32_t align;		/* every buffer begins at a multiple of so many bytes (schemas/heap.def) */
	uint32_t n;		/* the number of names */
	uint32_t *leaf;		/* per node: its first name; the names of node v end at leaf[v + 1] */
	uint32_t *parent;	/* per name: one step towards the name that stands for its buffer (union and find) */
	uint32_t *life;		/* per name: one step towards the name that stands for its life */
	uint64_t *bytes;	/* per name, as its shape says; at the name that stands for a buffer, the largest */
	bool *outside;		/* at the name that stands for a buffer: it is not in temporary memory */
	bool *table;		/* per name: it is a tuple's table */
	bool *several;		/* at the name that stands for a buffer: several instructions make what is in it */
	uint32_t *home;		/* at the name that stands for a life: its computation */
	uint32_t *number;	/* at the name that stands for a life: its value in the line of its home; NONE: none */
	struct line *line;	/* per computation; n is 0 for those that are not compiled as such */
};

/* The alignment of buffers by a backend's compiler; the first row's if the name is NULL or has no row. */
uint32_t values_alignment(const char *backend);
/* Finds all values, and makes the lines. Step i of a computation's line is node comp.first + i. */
void values_find(struct values *v, const struct graph *g, uint32_t align);
void values_release(struct values *v);
/* Return the name that stands for the buffer of a name, and the one that stands for its life. */
uint32_t values_of(const struct values *v, uint32_t name);
uint32_t values_life(const struct values *v, uint32_t name);
/* Does the node make one array, and not a tuple? */
bool values_array(const struct values *v, uint32_t node);
/* Returns the bytes of all tables together. */
uint64_t values_tables(const struct values *v);
/* Returns what so many bytes take in a heap. */
uint64_t values_rounded(const struct values *v, uint64_t bytes);
/* Sets `inside` of a computation's line, from the peak of each computation. */
void values_inside(struct values *v, const uint64_t *peak, uint32_t comp);

#endif
