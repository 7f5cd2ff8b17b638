/*
 * reduced.c - turns a shrunk net into arrays that are fast to search.
 *
 * Many edges of a real net are alike, layer by layer. Equal tables of costs are kept once, so a problem of 80 MB takes
 * only a few.
 */
#include "space/net/reduced.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "base/hash.h"
#include "space/net/shrink.h"

/* Keeps one copy of equal tables. An open hash table finds those that are there. */
struct pool {
	struct arena *mem;
	struct kept {
		uint64_t hash;
		size_t n;
		const double *v;
	} *kept;
	size_t n, room;
};

static void pool_grow(struct pool *p)
{
	size_t room = p->room ? 2 * p->room : 1024;
	struct kept *kept = MEM_NEW(room, struct kept);

	for (size_t i = 0; i < p->room; i++) {
		size_t at = p->kept[i].hash & (room - 1);
		if (!p->kept[i].v)
			continue;
		while (kept[at].v)
			at = (at + 1) & (room - 1);
		kept[at] = p->kept[i];
	}
	mem_free(p->kept);
	p->kept = kept;
	p->room = room;
}

static const double *pool_keep(struct pool *p, const double *v, size_t n)
{
	uint64_t hash = hash64(v, n * sizeof *v, n);
	size_t at;

	if (2 * p->n >= p->room)
		pool_grow(p);
	for (at = hash & (p->room - 1); p->kept[at].v; at = (at + 1) & (p->room - 1))
		if (p->kept[at].hash == hash && p->kept[at].n == n && memcmp(p->kept[at].v, v, n * sizeof *v) == 0)
			return p->kept[at].v;
	p->n++;
	p->kept[at] = (struct kept){hash, n, arena_dup(p->mem, v, n * sizeof *v)};
	return p->kept[at].v;
}

struct build {
	struct reduced *m;
	struct shrink shrink;
	struct pool pool;
	uint32_t *number; /* per slot: the variable */
};

static int by_time(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
	return (x > y) - (x < y);
}

static size_t sort_unique(int64_t *v, size_t n)
{
	size_t kept = 0;

	if (n > 1)
		qsort(v, n, sizeof *v, by_time);
	for (size_t i = 0; i < n; i++)
		if (i == 0 || v[i] != v[i - 1])
			v[kept++] = v[i];
	return kept;
}

/* Returns the number of the first tick that is not before `time`. Ticks are sorted. */
static uint32_t tick_of(const int64_t *tick, uint32_t n, int64_t time)
{
	uint32_t low = 0, high = n;

	while (low < high) {
		uint32_t middle = (low + high) / 2;
		if (tick[middle] < time)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static int64_t most_usage(const struct network *net, uint32_t i, bool least)
{
	int64_t most = net->usage[net->first[i]];

	for (uint32_t k = net->first[i]; k < net->first[i + 1]; k++)
		most = (net->usage[k] > most) != least && net->usage[k] != most ? net->usage[k] : most;
	return most;
}

/*
 * Finds the ticks. If no usage is negative, memory can be largest only at times when a node has just begun and the next
 * event is the end of a node. Of these times, those at which even the largest choices fit are left out.
 */
static void find_ticks(struct build *b)
{
	const struct network *net = b->m->net;
	int64_t *end = MEM_NEW(net->n_nodes + 1, int64_t), *tick = MEM_NEW(2 * (size_t)net->n_nodes + 1, int64_t);
	size_t n = 0, n_end = 0, kept = 0;
	bool negative = false;

	for (uint32_t i = 0; i < net->n_nodes; i++) {
		if (net->end[i] <= net->begin[i])
			continue;
		negative |= most_usage(net, i, true) < 0;
		tick[n++] = net->begin[i];
		end[n_end++] = net->end[i];
	}
	if (negative)
		for (size_t i = 0; i < n_end; i++)
			tick[n++] = end[i];
	n = sort_unique(tick, n);
	n_end = sort_unique(end, n_end);
	for (size_t i = 0; i < n; i++) {
		uint32_t next = tick_of(end, (uint32_t)n_end, tick[i] + 1);
		if (negative || i + 1 == n || (next < n_end && end[next] <= tick[i + 1]))
			tick[kept++] = tick[i];
	}
	double *most = MEM_NEW(kept + 1, double);
	for (uint32_t i = 0; i < net->n_nodes; i++) {
		if (net->end[i] <= net->begin[i])
			continue;
		most[tick_of(tick, (uint32_t)kept, net->begin[i])] += (double)most_usage(net, i, false);
		most[tick_of(tick, (uint32_t)kept, net->end[i])] -= (double)most_usage(net, i, false);
	}
	double now = 0;
	n = 0;
	for (size_t i = 0; i < kept; i++) {
		now += most[i];
		if (now > b->m->limit)
			tick[n++] = tick[i];
	}
	mem_free(most);
	mem_free(end);
	b->m->tick = arena_dup(&b->m->mem, tick, n * sizeof *tick);
	b->m->n_ticks = (uint32_t)n;
	mem_free(tick);
}

struct draft_use {
	uint32_t from, to, node; /* ticks; the node's place in the list of nodes */
};

static int by_interval(const void *a, const void *b)
{
	const struct draft_use *x = a, *y = b;
	if (x->from != y->from)
		return x->from < y->from ? -1 : 1;
	return x->to != y->to ? (x->to < y->to ? -1 : 1) : (x->node > y->node) - (x->node < y->node);
}

/*
 * Splits the memory of some nodes. What they use at any choice is added to `base`. What depends on the choice is listed
 * in `out`, unless that is NULL.
 */
static void take_uses(struct build *b, uint32_t n_nodes, const uint32_t *node, const uint16_t *choice,
	uint32_t choices, double *base, struct var *out)
{
	const struct network *net = b->m->net;
	struct draft_use *d = MEM_NEW(n_nodes + 1, struct draft_use);
	double *sum = MEM_NEW(choices, double);
	uint32_t n = 0, n_ticks = b->m->n_ticks;

	for (uint32_t i = 0; i < n_nodes; i++) {
		uint32_t from = tick_of(b->m->tick, n_ticks, net->begin[node[i]]), to = tick_of(b->m->tick, n_ticks,
			net->end[node[i]]);
		if (from < to)
			d[n++] = (struct draft_use){from, to, i};
	}
	if (n > 1)
		qsort(d, n, sizeof *d, by_interval);
	if (out)
		out->use = ARENA_NEW(&b->m->mem, n, struct use);
	for (uint32_t i = 0; i < n;) {
		uint32_t from = d[i].from, to = d[i].to;
		double low = INFINITY, high = -INFINITY;
		memset(sum, 0, choices * sizeof *sum);
		for (; i < n && d[i].from == from && d[i].to == to; i++)
			for (uint32_t k = 0; k < choices; k++)
				sum[k] += (double)net->usage[net->first[node[d[i].node]] + choice[(size_t)d[i].node *
					choices + k]];
		for (uint32_t k = 0; k < choices; k++) {
			low = sum[k] < low ? sum[k] : low;
			high = sum[k] > high ? sum[k] : high;
		}
		base[from] += low;
		base[to] -= low;
		for (uint32_t k = 0; k < choices; k++)
			sum[k] -= low;
		if (out && high > low)
			out->use[out->n_uses++] = (struct use){from, to, pool_keep(&b->pool, sum, choices)};
	}
	mem_free(d);
	mem_free(sum);
}

static void take_links(struct build *b, uint32_t slot, struct var *v)
{
	const struct slot *x = &b->shrink.slot[slot];

	v->link = ARENA_NEW(&b->m->mem, x->n_edges, struct link);
	for (size_t i = 0; i < x->n_edges; i++) {
		const struct shrunk_edge *e = &b->shrink.edge[x->edge[i]];
		uint32_t other = e->a == slot ? e->b : e->a, n = b->shrink.slot[other].choices;
		double *cost = mem_alloc((size_t)v->choices * n * sizeof *cost);
		for (uint32_t k = 0; k < v->choices; k++)
			for (uint32_t l = 0; l < n; l++)
				cost[(size_t)k * n + l] = shrink_pair(&b->shrink, e, slot, k, l);
		v->link[v->n_links++] = (struct link){b->number[other], pool_keep(&b->pool, cost,
			(size_t)v->choices * n)};
		mem_free(cost);
	}
}

static void take_vars(struct build *b, double *base)
{
	struct reduced *m = b->m;

	for (uint32_t i = 0; i < m->net->n_nodes; i++) {
		const struct slot *x = &b->shrink.slot[i];
		struct var *v;
		if (x->gone)
			continue;
		v = &m->var[b->number[i]];
		v->choices = x->choices;
		v->cost = arena_dup(&m->mem, x->cost, x->choices * sizeof *x->cost);
		v->n_nodes = x->n_nodes;
		v->node = arena_dup(&m->mem, x->node, x->n_nodes * sizeof *x->node);
		v->choice = arena_dup(&m->mem, x->choice, (size_t)x->n_nodes * x->choices * sizeof *x->choice);
		take_links(b, i, v);
		take_uses(b, v->n_nodes, v->node, v->choice, v->choices, base, v);
	}
	for (uint32_t i = 0; i < m->n_parted; i++) {
		const struct parted *p = &m->parted[i];
		take_uses(b, p->n_nodes, p->node, p->choice, p->choices, base, NULL);
	}
}

static double size_of(int64_t v)
{
	return v >= NET_NEVER ? 0 : fabs((double)v);
}

/* Finds the scale of costs: so small that the sum of all allowed costs stays well below REDUCED_NEVER. */
static double find_scale(const struct network *net)
{
	double sum = 0, scale = 1;

	for (uint32_t i = 0; i < net->n_nodes; i++) {
		double most = 0;
		for (uint32_t k = net->first[i]; k < net->first[i + 1]; k++)
			most = fmax(most, size_of(net->cost[k]));
		sum += most;
	}
	for (uint32_t e = 0; e < net->n_edges; e++) {
		const struct network_edge *x = &net->edge[e];
		size_t n = (size_t)network_choices(net, x->a) * network_choices(net, x->b);
		double most = 0;
		for (size_t k = 0; k < n; k++)
			most = fmax(most, size_of(net->pair[x->cost + k]));
		sum += most;
	}
	while (sum * scale > REDUCED_NEVER / 8)
		scale /= 2;
	return scale;
}

/* The limit, minus what the rounding of sums beyond 2^53 can hide. */
static double find_limit(const struct network *net)
{
	double sum = 0;

	if (!net->limited)
		return INFINITY;
	for (uint32_t i = 0; i < net->n_nodes; i++)
		sum += fmax(fabs((double)most_usage(net, i, false)), fabs((double)most_usage(net, i, true)));
	return (double)net->limit - (sum < 0x1p53 ? 0 : sum * net->n_nodes * 0x1p-52);
}

/* Takes over variables, their edges and their memory from the shrunk net. */
static void take_all(struct build *b)
{
	struct reduced *m = b->m;
	double *base = ARENA_NEW(&m->mem, m->n_ticks + 1, double);

	m->n_vars = 0;
	for (uint32_t i = 0; i < m->net->n_nodes; i++)
		b->number[i] = b->shrink.slot[i].gone ? UINT32_MAX : m->n_vars++;
	m->var = ARENA_NEW(&m->mem, m->n_vars + 1, struct var);
	take_vars(b, base);
	for (uint32_t t = 1; t < m->n_ticks; t++)
		base[t] += base[t - 1];
	m->base = base;
	reduced_thin(m);
}

static void find_live(struct build *b)
{
	const struct network *net = b->m->net;

	for (uint32_t i = 0; i < net->n_nodes; i++)
		b->shrink.live[i] = tick_of(b->m->tick, b->m->n_ticks, net->begin[i]) <
			tick_of(b->m->tick, b->m->n_ticks, net->end[i]);
}

/* Shrinks twice. Once the ticks are known, the memory of fewer nodes matters, so a second run can eliminate more. */
void reduced_build(struct reduced *m, const struct network *net)
{
	struct build b = {.m = m};

	*m = (struct reduced){.net = net, .scale = find_scale(net), .limit = find_limit(net)};
	m->parted = ARENA_NEW(&m->mem, net->n_nodes + 1, struct parted);
	b.pool.mem = &m->mem;
	b.number = MEM_NEW(net->n_nodes + 1, uint32_t);
	find_ticks(&b);
	shrink_init(&b.shrink, m);
	for (int pass = 0; pass < 2 && !m->hopeless; pass++) {
		shrink_run(&b.shrink);
		take_all(&b);
		find_live(&b);
	}
	shrink_release(&b.shrink);
	mem_free(b.pool.kept);
	mem_free(b.number);
}

void reduced_release(struct reduced *m)
{
	arena_release(&m->mem);
	*m = (struct reduced){0};
}

static void choose_parted(const struct parted *p, uint32_t *choice)
{
	uint32_t column[2] = {0}, best = 0;
	double least_cost = INFINITY;

	for (uint32_t i = 0; i < p->n_links; i++)
		while (p->link[i].choice[column[i]] != choice[p->link[i].node])
			column[i]++;
	for (uint32_t k = 0; k < p->choices; k++) {
		double cost = p->cost[k];
		for (uint32_t i = 0; i < p->n_links; i++)
			cost += p->link[i].cost[(size_t)k * p->link[i].n + column[i]];
		if (cost < least_cost) {
			least_cost = cost;
			best = k;
		}
	}
	for (uint32_t i = 0; i < p->n_nodes; i++)
		choice[p->node[i]] = p->choice[(size_t)i * p->choices + best];
}

void reduced_answer(const struct reduced *m, const uint16_t *x, uint32_t *choice)
{
	for (uint32_t v = 0; v < m->n_vars; v++) {
		const struct var *a = &m->var[v];
		for (uint32_t i = 0; i < a->n_nodes; i++)
			choice[a->node[i]] = a->choice[(size_t)i * a->choices + x[v]];
	}
	for (uint32_t i = m->n_parted; i-- > 0;)
		choose_parted(&m->parted[i], choice);
}
