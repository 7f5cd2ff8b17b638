/*
 * own.h - what the files of this kind of decision share; nobody outside space/order/ needs it.
 *
 *	line.c	    a computation as a problem of ordering		values.c   from a program to lines
 *	course.c    an order and its bytes, incrementally		share.c	   what is updated in place
 *	list.c	    list scheduling					arranged.c what the compiler did
 *	anneal.c	    annealing						order.c	   the space
 *	bound.c	    what no order goes below
 */
#ifndef SPACE_ORDER_OWN_H
#define SPACE_ORDER_OWN_H

#include "space/order/values.h"
#include "space/space.h"

/* share.c: the parameter of a fusion that its value `made` is an update of, in place; -1: it is none. */
int64_t order_in_place(const struct graph *g, uint32_t made);
/* share.c: may the result be written over that operand where nobody reads it later? */
bool order_may_share(const struct graph *g, uint32_t node, uint32_t operand);
/* share.c: tells a computation's line which of its values may be written over which. */
void order_add_shares(struct values *v, uint32_t comp);
/* values.c: the parameter of that number, or NONE. */
uint32_t values_parameter(const struct graph *g, uint32_t comp, int64_t number);

#endif
