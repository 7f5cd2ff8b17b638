/*
 * own.h - what the files of this kind of decision share. No file outside space/order/ includes it. The files are:
 *
 *	line	a computation as a problem of ordering		values	lines from a program
 *	course	an order and its bytes, move by move		share	what is updated in place
 *	list	orders from keys				program	all lines, settled together
 *	anneal	moves of steps					rooms	values in the memory of results
 *	exact	the best order of a small line			heap	where all other values are
 *	bound	bytes that every order needs			write	orders to and from the compiler
 *	tune	annealing of a whole program			holders	what is in memory at the peak
 *	trial	the other strategies, with brkga		order	the space; arranging: what search needs of it
 */
#ifndef SPACE_ORDER_OWN_H
#define SPACE_ORDER_OWN_H

#include "space/order/values.h"
#include "space/space.h"

/* share.c: if `made` in a fusion updates a parameter in place, the number of that parameter; else -1. */
int64_t order_in_place(const struct graph *g, uint32_t made);
/* share.c: may the node's result be written over that operand, if no other node reads the operand later? */
bool order_may_share(const struct graph *g, uint32_t node, uint32_t operand);
/* share.c: tells a computation's line which of its values may be written over which (line_shares). */
void order_add_shares(struct values *v, uint32_t comp);
/* values.c: the computation's parameter with that number, or NONE. */
uint32_t values_parameter(const struct graph *g, uint32_t comp, int64_t number);

#endif
