/*
 * network.h - a choice for every node of a network, at the least cost, within a limit of memory.
 *
 * A net has nodes with choices. A choice costs something by itself, and together with the choice of a
 * neighbour: an edge has a cost for every pair. While a node is alive, over an interval of time that is open at
 * its end, its choice uses memory; what all nodes use together may at no time exceed the limit. This is the form of
 * the iopddl contest of 2025, where a choice is how a tensor is sharded.
 *
 * Costs and usages are whole numbers of 64 bits and may be negative. Sums are made in 128 bits, so nothing
 * overflows. A cost of NET_NEVER or more forbids the choice or the pair; an answer that takes one has its cost all the
 * same, and is not called feasible.
 *
 *	struct network net = {0};
 *	if (network_read(&net, "D.json.gz", &err) < 0) ...
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
#define NET_COSTS ((size_t)1 << 28) /* of all pairs of all edges */

struct network_edge {
	uint32_t a, b;	 /* nodes; a != b */
	size_t cost;	 /* place of the first cost in pair[]: of a's choices by b's, b fastest */
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

/* Reads a file, plain or packed; parse reads its text. On failure the net is empty. */
int network_read(struct network *net, const char *path, struct err *err);
int network_parse(struct network *net, const void *text, size_t n, struct err *err);
/* Is this text perhaps a net? Looks at the first bytes only. */
bool network_looks_like(const void *text, size_t n);

/* A whole net, and an answer: [0, 2, 1, ...] and a line end, as the contest prints it. */
void network_write(const struct network *net, struct buf *out);
void network_write_answer(const struct network *net, const uint32_t *choice, struct buf *out);
/* Reads an answer back; it must be of this net. */
int network_parse_answer(const struct network *net, const void *text, size_t n, uint32_t *choice, struct err *err);

/* What an answer is worth, added up in the plainest way. */
struct network_value {
	network_sum cost;
	uint32_t never;	      /* how many choices and pairs are forbidden ones */
	network_sum peak;	      /* most memory at any time */
	int64_t peak_time;
	network_sum over;	      /* memory above the limit, added up over the times at which some node begins */
};
struct network_value network_value(const struct network *net, const uint32_t *choice);
bool network_feasible(const struct network *net, const struct network_value *v);
/* In decimal; `text` has room for 41 characters. Returns text. */
char *network_sum_text(network_sum v, char text[41]);

#endif
