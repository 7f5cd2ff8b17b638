/*
 * program.h - a whole program in some order: all its lines, and the temporary memory that the compiler will need for it.
 *
 * The lines hang together twice. A loop needs its body's memory while it runs (line.inside). And the compiler first gives
 * values that fit there the memory of the program's results, while these are not made yet; only the others go into the heap
 * of temporaries. Who goes where depends on the order of everything (settle), so a value's weight is not a fact of the
 * program but of the order, and is found anew now and then.
 *
 *	program_open(&p, graph)		orders are those of the graph's schedule, or else its own
 *	program_settle(&p)		after orders changed: weights and figures of all lines anew; returns bytes
 */
#ifndef SPACE_ORDER_PROGRAM_H
#define SPACE_ORDER_PROGRAM_H

#include "space/order/course.h"
#include "space/order/values.h"

struct program_value { /* of any line, in the order in which the compiler gives them memory */
	uint32_t name; /* that stands for all of its names */
	uint32_t maker; /* node */
	uint64_t size; /* as the program says, not rounded */
	uint64_t begin, end;
	bool result;
	uint32_t room; /* the result in whose memory it is; NONE: the heap */
};

struct program {
	const struct graph *graph;
	struct values values;
	uint32_t **order;   /* per computation: its steps */
	struct course *course; /* likewise: its line in its order, as last settled */
	uint64_t *peak;	    /* likewise: bytes of its line */
	uint64_t *time;	    /* per node: when it runs; callees within their callers */
	struct program_value *value;
	uint32_t n_values;
	uint32_t *of_name;  /* per name that stands for others: its program_value; NONE */
	struct placed *placed; /* scratch of rooms.c */
	size_t cap_placed;
};

void program_open(struct program *p, const struct graph *g);
void program_release(struct program *p);
/* Bytes of temporary memory, but for what a heap loses to gaps. */
uint64_t program_settle(struct program *p);
/* The largest line of the program's entry: what a search changes first. */
static inline struct line *program_line(struct program *p, uint32_t comp)
{
	return &p->values.line[comp];
}

#endif
