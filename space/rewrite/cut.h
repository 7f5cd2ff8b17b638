/*
 * cut.h - one place of the program, cut out: on one side as it is under one configuration, on the other under another.
 *
 * Both sides have the same parameters and the same results. A node inside that others also read is computed in any
 * case, so it is a result of both sides, too. Nodes that are computed together are one place with several results.
 */
#ifndef SPACE_REWRITE_CUT_H
#define SPACE_REWRITE_CUT_H

#include "space/rewrite/own.h"

struct cut { /* cut_begin fills it; cut_end releases it */
	struct space *s;
	const uint8_t *real[2];	     /* what takes effect on either side, per site */
	uint32_t *site, n_sites;     /* the place: ascending */
	uint32_t *anchor, n_anchors; /* its results, ascending */
	uint32_t *node, n_nodes;     /* all inside, and the anchors; ascending */
	uint32_t *near, n_near;	     /* all nodes that either side may read */
	bool converted; /* what is around a product has another type, by which the product would not be judged */
	bool prepared; /* a side that was written takes values that are computed once, so its parameters are its own */
	struct draft draft;
	struct arena mem;
};

/* What belongs to the place of a product, besides what its rules change (around.c). */
#define AROUND_MOST 24
struct around {
	uint32_t v[AROUND_MOST], n;
	bool over; /* there was no room */
};
void around_product(const struct graph *g, uint32_t v, struct around *a);

struct half {
	struct lines l;
	uint32_t *reads, n_reads; /* nodes that are parameters or constants */
	Hlo__HloInstructionProto *root;
};

/* The place of `site`, which does something under `a` or `b`: these say what takes effect, and must outlive the cut. */
void cut_begin(struct cut *c, struct space *s, uint32_t site, const uint8_t *a, const uint8_t *b);
/* A node as it is, as a place without a site; only cut_write_one may follow. */
void cut_begin_node(struct cut *c, struct space *s, uint32_t node);
void cut_end(struct cut *c);
/* What side 0 or 1 computes, and the values that it reads. The lines are freed by the caller. */
void cut_half(struct cut *c, int side, struct half *h);
/*
 * Writes both sides as modules; returns the larger number of instructions. The parameters of the smaller choice come
 * first, on whichever side it is, so that the reverse move has the same two programs.
 */
uint32_t cut_write(struct cut *c, struct buf *a, struct buf *b);
/* Writes one instruction of a side alone, its operands as parameters. */
void cut_write_one(struct cut *c, const struct half *h, Hlo__HloInstructionProto *in, struct buf *out);

#endif
