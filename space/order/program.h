/*
 * program.h - models the temporary memory that the compiler will need for a whole program in some order.
 *
 * A program has a line (line.h) for each computation that is compiled as such. The lines depend on each other in two
 * ways. A loop needs its body's memory while it runs (line.inside). And the compiler puts some values into the memory
 * of the program's results, while these are not made yet (rooms.h); only the others go into the heap of temporaries.
 * Which values these are depends on the orders of all lines. So a value's weight depends on the orders. To settle a
 * program is to compute all weights and figures for the orders that it has.
 *
 *	program_open(&p, graph)		takes the orders of the graph's schedule, or the graph's own if it has none
 *	program_settle(&p)		after orders changed: settles; returns the most bytes that are alive together
 *	program_bytes(&p)		the same with the heap's gaps: what the compiler would say
 */
#ifndef SPACE_ORDER_PROGRAM_H
#define SPACE_ORDER_PROGRAM_H

#include "space/order/course.h"
#include "space/order/values.h"

struct program_life { /* a time during which a buffer is in use; most buffers have one life (values.h) */
	uint32_t maker; /* the node that makes it */
	uint32_t comp, number; /* its line, and its number among the values of that line */
	uint64_t begin, end; /* by the clock of program.time */
};

struct program_value { /* a buffer; the array is in the order in which the compiler gives buffers memory */
	uint32_t name; /* the name that stands for all of its names (values_of) */
	uint32_t first, n; /* its lives, in the order in which the program lists them */
	uint64_t size; /* as the program says, not rounded */
	uint64_t begin, end; /* from the first of its lives to the last */
	uint64_t rank; /* of buffers of the same size, the one with the smaller rank gets memory first */
	bool result; /* is it a result of the program? */
	uint32_t room; /* the number of the room that it is in (rooms.h); NONE: it is in the heap */
};

struct program {
	const struct graph *graph;
	struct values values;
	uint32_t **order;   /* per computation: its steps in order */
	struct course *course; /* per computation: its line in the order that was settled last */
	uint64_t tables;    /* bytes of tuples' tables, the same in every order */
	uint64_t *peak;	    /* per computation: the most bytes alive in its line */
	uint64_t *time;	    /* per node: when it runs; what it calls runs just before */
	uint64_t *start;    /* per computation: when it begins; the last time, if it is called several times */
	uint64_t *ticks;    /* per computation: how long it runs, with all that it calls */
	struct program_value *value;
	struct program_life *life;
	uint32_t n_values, n_lives;
	bool listed;	    /* program_as_listed was called */
	uint32_t *of_name;  /* per name that stands for a buffer: its program_value, or NONE */
	struct rooms *rooms; /* scratch of rooms.c */
	struct heap *heap;   /* scratch of heap.c */
};

void program_open(struct program *p, const struct graph *g);
/* The same, as this backend's compiler gives memory; NULL: as the first one of schemas/heap.def. */
void program_open_for(struct program *p, const struct graph *g, const char *backend);
/*
 * Of buffers of the same size, the compiler gives memory first to the one that the program lists first. A program that
 * order_write wrote is listed in the order in which it runs, and that is what we assume. After this call we assume
 * that the compiler found the order itself; then the program is listed depth first, as our nodes are.
 */
void program_as_listed(struct program *p);
void program_release(struct program *p);
/* Settles the program. Returns the most bytes of temporary memory that are alive together. */
uint64_t program_settle(struct program *p);
/* Returns the bytes of temporary memory that the compiler would need: heap and tables. For a settled program. */
uint64_t program_bytes(struct program *p);
/* Copies the orders of all computations. */
void program_copy_orders(const struct program *p, uint32_t *const *to, uint32_t *const *from);
static inline struct line *program_line(struct program *p, uint32_t comp)
{
	return &p->values.line[comp];
}

#endif
