/*
 * tally.h - keeps what an answer of a net is worth up to date, node by node.
 *
 *	struct tally t;
 *	tally_init(&t, &net);
 *	tally_set(&t, choice);
 *	tally_flip(&t, node, to);
 *	... t.cost, t.never, t.over, tally_peak(&t)
 *	tally_release(&t);
 *
 * All sums are whole numbers, so the same answer has the same worth on every way to it. network_value is the
 * reference.
 */
#ifndef SPACE_NET_TALLY_H
#define SPACE_NET_TALLY_H

#include "space/net/network.h"

struct tally {
	const struct network *net;
	uint32_t *choice;		/* [n_nodes] */
	network_sum cost;		/* of all that is allowed */
	uint32_t never;			/* how many choices and pairs are forbidden */
	network_sum over;		/* as in network_value */
	uint32_t n_ticks;		/* times at which nodes begin or end; memory stays the same in between */
	int64_t *tick;			/* [n_ticks] */
	network_sum *usage;		/* [n_ticks] memory in use from this tick on */
	uint32_t *from, *till;		/* [n_nodes] its ticks; equal: it is never alive */
	uint32_t *edge_first, *edge_of; /* the edges of each node */
	uint32_t *changed;		/* [n_nodes] scratch */
};

void tally_init(struct tally *t, const struct network *net); /* every node takes its first choice */
void tally_release(struct tally *t);
/* Goes to an answer, by flips if it is near, else anew. */
void tally_set(struct tally *t, const uint32_t *choice);
void tally_flip(struct tally *t, uint32_t node, uint32_t to);
/* The most memory in use at any time; 0 if no node is ever alive. *at, unless NULL, gets the tick. */
network_sum tally_peak(const struct tally *t, uint32_t *at);

/* The cost of a node's edge with the present choice of its other end, if the node took choice k. */
int64_t tally_pair(const struct tally *t, uint32_t node, uint32_t k, uint32_t edge);
/*
 * What choice k of a node and its edges would cost with the present choices of its neighbours, without what is
 * forbidden: *never counts that.
 */
network_sum tally_local(const struct tally *t, uint32_t node, uint32_t k, uint32_t *never);

#endif
