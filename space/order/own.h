/*
 * own.h - what the files of this kind of decision share. No file outside space/order/ includes it. The files are:
 *
 *	line	a computation as a problem of ordering		share	what is updated in place
 *	course	an order and its bytes, move by move		values	names of buffers; lines: lines from them
 *	list	orders from keys				program	all lines, settled together
 *	anneal	moves of steps					rooms	values in the memory of results
 *	exact	the best order of a small line			heap	where all other values are
 *	bound	bytes that every order needs			write	orders to and from the compiler
 *	tune	annealing of a whole program			holders	what is in memory at the peak
 *	trial	the simple strategies, with brkga		bases	configurations as orders
 *	policy	a learnt list scheduler				guided	the strategies that it guides
 *	strategy all strategies					order	the space; arranging: what search needs of it
 */
#ifndef SPACE_ORDER_OWN_H
#define SPACE_ORDER_OWN_H

#include "space/order/order.h"

/* share.c: if `made` in a fusion updates a parameter in place, the number of that parameter; else -1. */
int64_t order_in_place(const struct graph *g, uint32_t made);
/* share.c: may the node's result be written over that operand, if no other node reads the operand later? */
bool order_may_share(const struct graph *g, uint32_t node, uint32_t operand);
/* share.c: the computation's parameter with that number, or NONE. */
uint32_t order_parameter(const struct graph *g, uint32_t comp, int64_t number);
/* values.c: names the values of a program; values_find then makes lines of them. */
void values_name(struct values *v, const struct graph *g, uint32_t align);
/* Is the computation compiled as such? Then it has a line. */
static inline bool order_compiled(const struct graph *g, uint32_t comp)
{
	return comp_is_compiled(&g->comp[comp]);
}

struct fact { /* what the learner sees of a node (context_features says what each is) */
	float place, alive, peak, life, made, freed;
};

#define ORDER_WEIGHED 64
struct order {
	struct program p;
	uint32_t **base[ORDER_BASES]; /* per computation: its order */
	uint32_t base_site;
	double *shift;
	struct fact *fact;
	uint32_t *first_site; /* per computation: the first site that is in it or comes later; and one more */
	uint64_t *made;	/* per computation: hash of the base and choices that its order was made of; 0: not known */
	uint64_t set;	/* if `is_set`: hash of the configuration whose orders the program has, settled */
	bool is_set;
	/*
	 * Bytes of what was weighed lately, by the last bits of a hash: of configurations, and of orders. Different
	 * configurations often give the same orders.
	 */
	struct weighed {
		uint64_t hash, bytes;
		bool known;
	} config[ORDER_WEIGHED], orders[ORDER_WEIGHED];
};
/* The orders may have changed, or what a configuration means: forgets which one is set, and all costs. */
void order_forget(struct order *o);

static inline struct order *order_of(const struct space *s)
{
	return s->own;
}

#endif
