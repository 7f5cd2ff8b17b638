/*
 * sketch.h - writes whole answers of a reduced net, each from what all variables have told each other so far.
 *
 *	struct sketch *d = sketch_new(m);
 *	sketch_begin(d, 0.05);
 *	while (...) {
 *		sketch_write(d, best);
 *		... d->made: the answer, its cost and its memory
 *	}
 *	sketch_free(d);
 *
 * A sketch rarely is a good answer, and may not fit. But it has the large decisions right, which no change of some
 * variables can make one by one. So it is to be fused with a good answer: see `also` in area.h.
 */
#ifndef SPACE_NET_SKETCH_H
#define SPACE_NET_SKETCH_H

#include "space/net/standing.h"

struct sketch {
	const struct reduced *m;
	struct standing made;  /* the newest sketch */
	double *own;	       /* per choice of each variable: its cost and its memory at its price */
	double *told;	       /* the messages: what each choice costs by what a neighbour knows */
	size_t *own_at;	       /* [n_vars] where a variable's choices begin in own[] */
	size_t *link_at;       /* [n_vars] where a variable's links begin in in_at[] and out_at[] */
	size_t *in_at, *out_at; /* per link: where the message from the other end begins in told[], and that to it */
	const double **back;	/* per link: the costs of its edge as seen from the other end */
	double *sum;	       /* [most choices] scratch */
	uint16_t *x;	       /* scratch */
	double *price, *prices; /* of memory, per tick, and running sums [n_ticks + 1] */
	double rate;	       /* how fast prices rise */
	bool backward;	       /* does the next pass go from the last variable to the first? */
	double work;	       /* of a pass, in entries of tables */
};

struct sketch *sketch_new(const struct reduced *m);
void sketch_free(struct sketch *d); /* accepts NULL */
/* Forgets all messages and prices. `rate` is what prices rise by in a pass, as a share of `worth` (below). */
void sketch_begin(struct sketch *d, double rate);
/* Makes a pass. `worth` is the cost of a good answer, which tells how high prices are; infinite: none is known. */
void sketch_write(struct sketch *d, double worth);

#endif
