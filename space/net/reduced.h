/*
 * reduced.h - a net made small: only what is not certain is left to decide.
 *
 * A variable stands for one node or several: nodes are merged if every choice of one allows exactly one of the other.
 * Choices that no answer can take are gone, and so are choices if another one is never worse. A node is eliminated if
 * its memory does not depend on its choice and it has at most two neighbours: the least that it can cost becomes a
 * cost of its neighbours, and it gets its choice at the end. All of this is exact: the best answer of the model is a
 * best answer of the net.
 *
 * A tick is a time at which memory can be largest; only ticks are looked at. Memory that does not depend on any choice
 * is in `base`. Sums are doubles, which are exact up to 2^53. If a problem's numbers are larger, `limit` leaves room
 * for the rounding, so that an answer that fits in the model fits in the net.
 */
#ifndef SPACE_NET_REDUCED_H
#define SPACE_NET_REDUCED_H

#include "space/net/network.h"

/* What a forbidden choice or pair costs in a model, more than all allowed ones together. */
#define REDUCED_NEVER 0x1p56
#define REDUCED_ALLOWED(cost) ((cost) < REDUCED_NEVER / 2)

struct link { /* one direction of an edge */
	uint32_t other;
	const double *cost; /* [choices of this variable][choices of the other] */
};

struct use { /* memory that depends on a variable's choice */
	uint32_t from, to;   /* ticks, half-open */
	const double *usage; /* [choices], the least of them 0 */
};

struct var {
	uint32_t choices;
	const double *cost; /* [choices] */
	struct link *link;
	struct use *use;
	uint32_t n_links, n_uses;
	uint32_t n_nodes;
	const uint32_t *node;	/* [n_nodes] those it stands for */
	const uint16_t *choice; /* [n_nodes][choices] of the node, at each choice of the variable */
};

/*
 * A variable that was eliminated, as it was then. Its neighbours are told by one of their nodes: which column of
 * `cost` a choice of that node means is in `choice`.
 */
struct parted {
	uint32_t choices, n_nodes, n_links;
	const double *cost;
	const uint32_t *node;
	const uint16_t *choice; /* [n_nodes][choices] */
	struct {
		uint32_t node, n;
		const uint16_t *choice; /* [n] */
		const double *cost;	/* [choices][n] */
	} link[2];
};

struct reduced {
	const struct network *net;
	uint32_t n_vars, n_ticks;
	struct var *var;
	const int64_t *tick; /* [n_ticks] the times */
	const double *base; /* [n_ticks] */
	double limit;	    /* infinite without one */
	double scale;	    /* a cost of the net times this is a cost of the model; 1, unless costs are huge */
	double cost;	    /* of what is decided already */
	bool hopeless;	    /* a variable has no choice left: no answer is allowed */
	uint32_t n_parted;
	struct parted *parted; /* in order of elimination */
	struct arena mem;
};

void reduced_build(struct reduced *m, const struct network *net);
void reduced_release(struct reduced *m);
/* Leaves out ticks that others always exceed; reduced_build calls it. */
void reduced_thin(struct reduced *m);
/* The answer of the net for a choice of each variable. */
void reduced_answer(const struct reduced *m, const uint16_t *x, uint32_t *choice);

#endif
