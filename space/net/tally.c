/*
 * tally.c - see tally.h. A flip costs the node's edges and the ticks at which it is alive.
 */
#include "space/net/tally.h"

#include <stdlib.h>
#include <string.h>

#define NEAR 32 /* so many flips are cheaper than a new sum */

static int by_time(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
	return (x > y) - (x < y);
}

static uint32_t tick_of(const struct tally *t, int64_t time)
{
	uint32_t low = 0, high = t->n_ticks;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;
		if (t->tick[middle] < time)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static void find_ticks(struct tally *t)
{
	const struct network *net = t->net;
	uint32_t n = 0;

	t->tick = MEM_NEW(2 * (size_t)net->n_nodes + 1, int64_t);
	for (uint32_t i = 0; i < net->n_nodes; i++) {
		if (net->begin[i] >= net->end[i])
			continue;
		t->tick[n++] = net->begin[i];
		t->tick[n++] = net->end[i];
	}
	if (n > 1)
		qsort(t->tick, n, sizeof *t->tick, by_time);
	for (uint32_t i = 0; i < n; i++)
		if (i == 0 || t->tick[i] != t->tick[i - 1])
			t->tick[t->n_ticks++] = t->tick[i];
	t->usage = MEM_NEW(t->n_ticks + 1, network_sum);
	for (uint32_t i = 0; i < net->n_nodes; i++)
		if (net->begin[i] < net->end[i]) {
			t->from[i] = tick_of(t, net->begin[i]);
			t->till[i] = tick_of(t, net->end[i]);
		}
}

static void find_edges(struct tally *t)
{
	const struct network *net = t->net;
	uint32_t *at = MEM_NEW(net->n_nodes + 2, uint32_t);

	t->edge_first = MEM_NEW(net->n_nodes + 1, uint32_t);
	t->edge_of = MEM_NEW(2 * (size_t)net->n_edges + 1, uint32_t);
	for (uint32_t e = 0; e < net->n_edges; e++) {
		t->edge_first[net->edge[e].a + 1]++;
		t->edge_first[net->edge[e].b + 1]++;
	}
	for (uint32_t i = 0; i < net->n_nodes; i++)
		t->edge_first[i + 1] += t->edge_first[i];
	for (uint32_t e = 0; e < net->n_edges; e++) {
		uint32_t a = net->edge[e].a, b = net->edge[e].b;
		t->edge_of[t->edge_first[a] + at[a]++] = e;
		t->edge_of[t->edge_first[b] + at[b]++] = e;
	}
	mem_free(at);
}

static void add_cost(struct tally *t, int64_t cost, int sign)
{
	if (cost >= NET_NEVER)
		t->never += (uint32_t)sign;
	else
		t->cost += sign * (network_sum)cost;
}

static network_sum beyond(const struct tally *t, uint32_t tick)
{
	return t->net->limited && t->usage[tick] > t->net->limit ? t->usage[tick] - t->net->limit : 0;
}

static void sum_anew(struct tally *t)
{
	const struct network *net = t->net;
	network_sum now = 0;

	t->cost = t->over = 0;
	t->never = 0;
	memset(t->usage, 0, (t->n_ticks + 1) * sizeof *t->usage);
	for (uint32_t i = 0; i < net->n_nodes; i++) {
		uint32_t at = net->first[i] + t->choice[i];
		add_cost(t, net->cost[at], 1);
		t->usage[t->from[i]] += net->usage[at];
		t->usage[t->till[i]] -= net->usage[at];
	}
	for (uint32_t e = 0; e < net->n_edges; e++)
		add_cost(t, tally_pair(t, net->edge[e].a, t->choice[net->edge[e].a], e), 1);
	for (uint32_t i = 0; i < t->n_ticks; i++) {
		now += t->usage[i];
		t->usage[i] = now;
		t->over += i + 1 < t->n_ticks ? beyond(t, i) : 0;
	}
}

void tally_init(struct tally *t, const struct network *net)
{
	*t = (struct tally){.net = net};
	t->choice = MEM_NEW(net->n_nodes + 1, uint32_t);
	t->from = MEM_NEW(net->n_nodes + 1, uint32_t);
	t->till = MEM_NEW(net->n_nodes + 1, uint32_t);
	t->changed = MEM_NEW(net->n_nodes + 1, uint32_t);
	find_ticks(t);
	find_edges(t);
	sum_anew(t);
}

void tally_release(struct tally *t)
{
	mem_free(t->choice);
	mem_free(t->from);
	mem_free(t->till);
	mem_free(t->changed);
	mem_free(t->tick);
	mem_free(t->usage);
	mem_free(t->edge_first);
	mem_free(t->edge_of);
	*t = (struct tally){0};
}

int64_t tally_pair(const struct tally *t, uint32_t node, uint32_t k, uint32_t edge)
{
	const struct network *net = t->net;
	const struct network_edge *x = &net->edge[edge];
	uint32_t a = x->a == node ? k : t->choice[x->a], b = x->b == node ? k : t->choice[x->b];

	return net->pair[x->cost + (size_t)a * network_choices(net, x->b) + b];
}

network_sum tally_local(const struct tally *t, uint32_t node, uint32_t k, uint32_t *never)
{
	int64_t own = t->net->cost[t->net->first[node] + k];
	network_sum sum = own < NET_NEVER ? own : 0;

	*never = own >= NET_NEVER;
	for (uint32_t e = t->edge_first[node]; e < t->edge_first[node + 1]; e++) {
		int64_t cost = tally_pair(t, node, k, t->edge_of[e]);
		*never += cost >= NET_NEVER;
		sum += cost < NET_NEVER ? cost : 0;
	}
	return sum;
}

void tally_flip(struct tally *t, uint32_t node, uint32_t to)
{
	const struct network *net = t->net;
	uint32_t old, new;
	network_sum more = (network_sum)net->usage[net->first[node] + to] -
		net->usage[net->first[node] + t->choice[node]];

	t->cost -= tally_local(t, node, t->choice[node], &old);
	t->cost += tally_local(t, node, to, &new);
	t->never += new - old;
	t->choice[node] = to;
	for (uint32_t i = t->from[node]; i < t->till[node] && more != 0; i++) {
		t->over -= beyond(t, i); /* it is alive, so this is not the last tick */
		t->usage[i] += more;
		t->over += beyond(t, i);
	}
}

void tally_set(struct tally *t, const uint32_t *choice)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < t->net->n_nodes && n <= NEAR; i++)
		if (t->choice[i] != choice[i])
			t->changed[n++] = i;
	if (n > NEAR) {
		memcpy(t->choice, choice, t->net->n_nodes * sizeof *choice);
		sum_anew(t);
		return;
	}
	for (uint32_t i = 0; i < n; i++)
		tally_flip(t, t->changed[i], choice[t->changed[i]]);
}

network_sum tally_peak(const struct tally *t, uint32_t *at)
{
	uint32_t most = 0;

	for (uint32_t i = 1; i + 1 < t->n_ticks; i++)
		most = t->usage[i] > t->usage[most] ? i : most;
	if (at)
		*at = most;
	return t->n_ticks ? t->usage[most] : 0;
}
