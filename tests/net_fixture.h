/*
 * net_fixture.h - makes small random nets, and finds the best answer of one by trying all.
 */
#ifndef TESTS_NET_FIXTURE_H
#define TESTS_NET_FIXTURE_H

#include "base/rng.h"
#include "base/scan.h"
#include "space/net/network.h"

struct net_shape {
	uint32_t nodes, edges, choices; /* at most so many choices each */
	int tightness;			/* the limit, in percent of what all nodes can use together; 0: none */
	int never;			/* percent of pairs that are forbidden */
	int tie;			/* percent of edges that are ties where both ends have as many choices */
	int64_t size;			/* of costs */
	bool negative;			/* some costs and usages are */
};

static inline void numbers(struct buf *b, struct rng *r, uint64_t n, int64_t size, bool negative, int never)
{
	buf_addch(b, '[');
	for (uint64_t i = 0; i < n; i++) {
		int64_t v = (int64_t)rng_below(r, (uint64_t)size + 1) - (negative ? size / 3 : 0);
		buf_addf(b, "%s%lld", i ? "," : "", rng_below(r, 100) < (uint64_t)never ? (long long)NET_NEVER
			: (long long)v);
	}
	buf_addch(b, ']');
}

static inline void tie_numbers(struct buf *b, struct rng *r, uint64_t n)
{
	uint32_t to[64];

	for (uint32_t i = 0; i < n; i++)
		to[i] = i;
	rng_shuffle(r, to, n);
	buf_addch(b, '[');
	for (uint64_t i = 0; i < n * n; i++)
		buf_addf(b, "%s%lld", i ? "," : "", to[i / n] == i % n ? (long long)rng_below(r, 9)
			: (long long)NET_NEVER);
	buf_addch(b, ']');
}

/* Appends a random net as text, in the contest's form. */
static inline void net_random(struct buf *b, const struct net_shape *shape, struct rng *r)
{
	uint32_t n = shape->nodes, *choices = MEM_NEW(n + 1, uint32_t);
	struct buf pairs = {0};

	for (uint32_t i = 0; i < n; i++)
		choices[i] = 1 + (uint32_t)rng_below(r, shape->choices);
	buf_adds(b, "{\"problem\": {\"name\": \"random\", \"nodes\": {\"intervals\": [");
	for (uint32_t i = 0; i < n; i++) {
		uint64_t begin = rng_below(r, 20);
		buf_addf(b, "%s[%llu,%llu]", i ? "," : "", (unsigned long long)begin,
			(unsigned long long)(begin + rng_below(r, 8)));
	}
	buf_adds(b, "], \"costs\": [");
	for (uint32_t i = 0; i < n; i++) {
		buf_adds(b, i ? "," : "");
		numbers(b, r, choices[i], shape->size, shape->negative, 0);
	}
	buf_adds(b, "], \"usages\": [");
	for (uint32_t i = 0; i < n; i++) {
		buf_adds(b, i ? "," : "");
		numbers(b, r, choices[i], 10, shape->negative && rng_below(r, 4) == 0, 0);
	}
	buf_adds(b, "]}, \"edges\": {\"nodes\": [");
	for (uint32_t e = 0; n > 1 && e < shape->edges; e++) {
		uint32_t x = (uint32_t)rng_below(r, n), y = (x + 1 + (uint32_t)rng_below(r, n - 1)) % n;
		buf_addf(b, "%s[%u,%u]", e ? "," : "", x, y);
		buf_adds(&pairs, e ? "," : "");
		if (choices[x] == choices[y] && rng_below(r, 100) < (uint64_t)shape->tie)
			tie_numbers(&pairs, r, choices[x]);
		else
			numbers(&pairs, r, (uint64_t)choices[x] * choices[y], shape->size, shape->negative,
				shape->never);
	}
	buf_addf(b, "], \"costs\": [%s]}", pairs.data ? pairs.data : "");
	if (shape->tightness)
		buf_addf(b, ", \"usage_limit\": %llu",
			(unsigned long long)((uint64_t)n * 10 * (uint64_t)shape->tightness / 100));
	buf_adds(b, "}}");
	buf_release(&pairs);
	mem_free(choices);
}

/* Tries every answer; false when none is feasible. */
static inline bool net_brute(const struct network *net, network_sum *best)
{
	uint32_t *x = MEM_NEW(net->n_nodes + 1, uint32_t), i;
	bool found = false;

	do {
		struct network_value v = network_value(net, x);
		if (network_feasible(net, &v) && (!found || v.cost < *best)) {
			found = true;
			*best = v.cost;
		}
		for (i = 0; i < net->n_nodes && ++x[i] == network_choices(net, i); i++)
			x[i] = 0;
	} while (i < net->n_nodes);
	mem_free(x);
	return found;
}

/* Reads an answer back; -1 with a sentence where it is not of this net. */
static inline int net_read_answer(const struct network *net, const void *text, size_t n, uint32_t *choice,
	struct err *err)
{
	struct scan s;
	uint32_t i = 0;
	int64_t v;
	int rc;

	scan_open(&s, text, n, err);
	if (scan_array(&s) < 0)
		return -1;
	while ((rc = scan_item(&s)) == 1) {
		if (i == net->n_nodes)
			return scan_fail(&s, "the answer is for more than the %u nodes there are", net->n_nodes);
		if (scan_i64(&s, &v) < 0)
			return -1;
		if (v < 0 || v >= network_choices(net, i))
			return scan_fail(&s, "node %u has no choice %lld", i, (long long)v);
		choice[i++] = (uint32_t)v;
	}
	if (rc < 0 || scan_end(&s) < 0)
		return -1;
	if (i < net->n_nodes)
		return err_set(err, "the answer is for %u nodes, the problem has %u", i, net->n_nodes);
	return 0;
}

#endif
