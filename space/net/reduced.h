/*
 * reduced.h - the model: a smaller problem that has the same best answer as a net.
 *
 * The model's variables stand for one node of the net or several. Nodes are merged into one variable if every choice of
 * one allows exactly one choice of the other. A choice is dropped if no answer can take it, or if another choice is
 * never worse. A variable is eliminated (parted) if its memory does not depend on its choice and it has at most two
 * neighbours: its least cost becomes a cost of its neighbours, and its choice is found at the end, from theirs. All of
 * this is exact.
 *
 * A tick is a time at which memory can be largest; the model looks at no other times. `base` is the memory that does
 * not depend on any choice. Sums are doubles, which are exact up to 2^53. If a problem's numbers are larger, `limit`
 * leaves room for the rounding, so an answer that fits in the model fits in the net.
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
	const uint32_t *node;	/* [n_nodes] the nodes that it stands for */
	const uint16_t *choice; /* [n_nodes][choices] the node's choice, for each choice of the variable */
};

/*
 * A variable as it was when it was eliminated. Each neighbour is named by one of its nodes. link.choice[l] is the
 * choice of that node to which column l of link.cost belongs.
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
	const double *base; /* [n_ticks] memory that no choice changes */
	double limit;	    /* of memory; infinite if the net has none */
	double scale;	    /* a cost of the net times this is a cost of the model; 1, unless costs are huge */
	double cost;	    /* cost of what is decided already */
	bool hopeless;	    /* a variable has no choice left: no answer is allowed */
	uint32_t n_parted;
	struct parted *parted; /* in order of elimination */
	struct arena mem;
};

/* Builds the model of a net, which must live as long as the model. If m->hopeless is set, no answer is allowed. */
void reduced_build(struct reduced *m, const struct network *net);
void reduced_release(struct reduced *m);
/* Leaves out each tick at which memory is never above that at another tick. reduced_build calls it; it is in thin.c. */
void reduced_thin(struct reduced *m);
/* Translates a choice for each variable (`x`) into a choice for each node of the net. */
void reduced_answer(const struct reduced *m, const uint16_t *x, uint32_t *choice);

#endif
