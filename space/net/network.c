/*
 * network.c - computes what an answer is worth, in the plainest way.
 *
 * Memory is added up at the times at which some node begins, in order: between two of these it only falls. If some
 * usage is negative it may also rise when a node ends, so the ends are looked at as well.
 */
#include "space/net/network.h"

#include <stdlib.h>
#include <string.h>

void network_release(struct network *net)
{
	arena_release(&net->mem);
	mem_free(net->pair);
	*net = (struct network){0};
}

struct event {
	int64_t time;
	network_sum change;
};

static int by_time(const void *a, const void *b)
{
	int64_t x = ((const struct event *)a)->time, y = ((const struct event *)b)->time;
	return (x > y) - (x < y);
}

static void add_memory(const struct network *net, const uint32_t *choice, struct network_value *v)
{
	struct event *event = MEM_NEW(2 * (size_t)net->n_nodes, struct event);
	size_t n = 0;
	network_sum now = 0;

	for (uint32_t i = 0; i < net->n_nodes; i++) {
		int64_t usage = net->usage[net->first[i] + choice[i]];
		if (net->end[i] <= net->begin[i])
			continue;
		event[n++] = (struct event){net->begin[i], usage};
		event[n++] = (struct event){net->end[i], -(network_sum)usage};
	}
	if (n > 1)
		qsort(event, n, sizeof *event, by_time);
	for (size_t i = 0; i < n;) {
		int64_t time = event[i].time;
		for (; i < n && event[i].time == time; i++)
			now += event[i].change;
		if (i < n && (v->peak_time == INT64_MIN || now > v->peak)) {
			v->peak = now;
			v->peak_time = time;
		}
		if (i < n && net->limited && now > net->limit)
			v->over += now - net->limit;
	}
	mem_free(event);
}

struct network_value network_value(const struct network *net, const uint32_t *choice)
{
	struct network_value v = {.peak_time = INT64_MIN};

	for (uint32_t i = 0; i < net->n_nodes; i++) {
		int64_t cost = net->cost[net->first[i] + choice[i]];
		v.cost += cost;
		v.never += cost >= NET_NEVER;
	}
	for (uint32_t e = 0; e < net->n_edges; e++) {
		const struct network_edge *x = &net->edge[e];
		int64_t cost = net->pair[x->cost + (size_t)choice[x->a] * network_choices(net, x->b) + choice[x->b]];
		v.cost += cost;
		v.never += cost >= NET_NEVER;
	}
	add_memory(net, choice, &v);
	return v;
}

bool network_feasible(const struct network *net, const struct network_value *v)
{
	return v->never == 0 && (!net->limited || v->peak_time == INT64_MIN || v->peak <= net->limit);
}

char *network_sum_text(network_sum v, char text[41])
{
	char digit[40];
	size_t n = 0, at = 0;
	bool negative = v < 0;

	do {
		int d = (int)(v % 10);
		digit[n++] = (char)('0' + (d < 0 ? -d : d));
		v /= 10;
	} while (v);
	if (negative)
		text[at++] = '-';
	while (n)
		text[at++] = digit[--n];
	text[at] = 0;
	return text;
}
