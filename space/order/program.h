/*
 * program.h - a whole program in some order: all its lines, and the temporary memory that the compiler will need for
 * it.
 *
 * The lines hang together twice. A loop needs its body's memory while it runs (line.inside). And the compiler first
 * gives values that fit there the memory of the program's results, while these are not made yet; only the others go
 * into the heap of temporaries. Who goes where depends on the order of everything (settle), so a value's weight is not
 * a fact of the program but of the order, and is found anew now and then.
 *
 *	program_open(&p, graph)		orders are those of the graph's schedule, or else its own
 *	program_settle(&p)		after orders changed: weights and figures of all lines anew; returns bytes alive
 *	program_bytes(&p)		what the heap makes of them
 */
#ifndef SPACE_ORDER_PROGRAM_H
#define SPACE_ORDER_PROGRAM_H

#include "space/order/course.h"
#include "space/order/values.h"

struct program_life { /* of a part of a buffer: of one, but where a loop carries it (values.h) */
	uint32_t maker; /* node */
	uint32_t comp, number; /* the line it is in, and which of its values */
	uint64_t begin, end;
};

struct program_value { /* a buffer of any line, in the order in which the compiler gives them memory */
	uint32_t name; /* that stands for all of its names */
	uint32_t first, n; /* its lives, by when they are listed in the program */
	uint64_t size; /* as the program says, not rounded */
	uint64_t begin, end; /* of all of its lives */
	uint64_t turn; /* of values as large: the one with the smaller gets memory first */
	bool result;
	uint32_t room; /* the result in whose memory it is; NONE: the heap */
};

struct program {
	const struct graph *graph;
	struct values values;
	uint32_t **order;   /* per computation: its steps */
	struct course *course; /* likewise: its line in its order, as last settled */
	uint64_t tables;    /* bytes of tuples' tables, whatever the order */
	uint64_t *peak;	    /* likewise: bytes of its line */
	uint64_t *time;	    /* per node: when it runs; callees within their callers */
	uint64_t *start;    /* per computation: when it begins */
	struct program_value *value;
	struct program_life *life;
	uint32_t n_values, n_lives;
	bool listed;	    /* ties are broken by the listing (program_as_listed) */
	uint32_t *of_name;  /* per name that stands for others: its program_value; NONE */
	struct rooms *rooms; /* scratch of rooms.c */
	struct heap *heap;   /* scratch of heap.c */
};

void program_open(struct program *p, const struct graph *g);
/*
 * Of buffers of one size the compiler gives memory first to what is listed first. A program that order_write wrote is
 * listed in its order. After this, the program is one that the compiler put in order itself: it was listed depth first,
 * as our nodes are.
 */
void program_as_listed(struct program *p);
void program_release(struct program *p);
/* Bytes of temporary memory that are alive together, at most: the heap needs these, and what it loses to gaps. */
uint64_t program_settle(struct program *p);
/* Likewise with the gaps: what the compiler says. For a settled program. */
uint64_t program_bytes(struct program *p);
/* Orders of all computations, from one array of them to another. */
void program_copy_orders(const struct program *p, uint32_t *const *to, uint32_t *const *from);
/* The line of a computation. */
static inline struct line *program_line(struct program *p, uint32_t comp)
{
	return &p->values.line[comp];
}

#endif
