/*
 * network.h - a choice for every node of a network, at the least cost, within a limit of memory.
 *
 * A net has nodes with choices. A choice has a cost; an edge has a cost for every pair of choices of its two nodes. A
 * node is alive during an interval of time, which is open at its end. While it is alive, its choice uses memory. All
 * nodes together may never use more than the limit. This is the form of the iopddl contest of 2025, where a choice is
 * how a tensor is sharded.
 *
 * Costs and usages are whole numbers of 64 bits and may be negative. Sums are made in 128 bits, so nothing overflows.
 * A cost of NET_NEVER or more forbids the choice or the pair. An answer that takes a forbidden one still has a cost,
 * but is not feasible.
 *
 *	struct network net = {0};
 *	if (network_parse(&net, text, n, &err) < 0) ...
 *	struct network_value v = network_value(&net, choice);
 *	network_release(&net);
 */
#ifndef SPACE_NET_NETWORK_H
#define SPACE_NET_NETWORK_H

#include <stdbool.h>
#include <stdint.h>
#include "base/buf.h"
#include "base/err.h"
#include "base/mem.h"

__extension__ typedef __int128 network_sum; /* wide enough for every sum of int64_t that fits in memory */

#define NET_NEVER ((int64_t)1000000000000000000)
#define NET_NODES ((uint32_t)1 << 22)	/* limits of what is read */
#define NET_EDGES ((uint32_t)1 << 24)
#define NET_CHOICES 4096
#define NET_COSTS ((size_t)1 << 28) /* the costs of all pairs of all edges */

struct network_edge {
	uint32_t a, b;	 /* nodes; a != b */
	size_t cost;	 /* where its costs begin in pair[]: a's choices by b's, b fastest */
};

struct network {
	char *name;
	uint32_t n_nodes, n_edges;
	uint32_t *first;	 /* [n_nodes + 1] place of a node's first choice in cost[] and usage[] */
	int64_t *cost, *usage;	 /* [first[n_nodes]] */
	int64_t *begin, *end;	 /* [n_nodes] alive in begin <= time < end; never when end <= begin */
	struct network_edge *edge;	 /* [n_edges] */
	int64_t *pair;
	bool limited;
	int64_t limit;
	struct arena mem;
};

void network_release(struct network *net); /* accepts an empty one */

static inline uint32_t network_choices(const struct network *net, uint32_t node)
{
	return net->first[node + 1] - net->first[node];
}

/* Reads the text of a net. On failure the net is empty. */
int network_parse(struct network *net, const void *text, size_t n, struct err *err);
/* May this text be a net? Looks at its first bytes only. */
bool network_looks_like(const void *text, size_t n);

/* Writes a whole net, and an answer: [0, 2, 1, ...] and a line end, as the contest prints it. */
void network_write(const struct network *net, struct buf *out);
void network_write_answer(const struct network *net, const uint32_t *choice, struct buf *out);

/* What an answer is worth. */
struct network_value {
	network_sum cost;
	uint32_t never;		    /* how many of its choices and pairs are forbidden */
	network_sum peak;	      /* most memory at any time */
	int64_t peak_time;
	network_sum over;	      /* memory above the limit, added up over the times at which some node begins */
};
struct network_value network_value(const struct network *net, const uint32_t *choice);
bool network_feasible(const struct network *net, const struct network_value *v);
/* In decimal; `text` has room for 41 characters. Returns text. */
char *network_sum_text(network_sum v, char text[41]);

#endif
