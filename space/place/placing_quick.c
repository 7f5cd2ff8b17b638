/*
 * placing_quick.c - quick placements: all on one device, contiguous stretches, list scheduling, at random.
 *
 * Contiguous stretches are found so. The nodes are put in an order, breadth first or branch after branch, and the
 * groups are sorted by their first nodes. A stretch grows by one group at a time, and its load is updated as it grows,
 * so the loads of all stretches are cheap to compute. Dynamic programming from left to right then finds the best cut
 * into as many stretches as there are accelerators; it is exact for that order. Large programs are cut into stretches
 * of equal time instead.
 */
#include "space/place/placing_quick.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "space/place/schedule.h"
#include "space/place/standing_load.h"

#define MOST_EXACT 2000 /* programs of at most so many groups are cut exactly */

/*
 * Orders the nodes so that each comes after what it needs, and one branch is finished before the next one begins: the
 * next node is always one that became possible last. If several became possible together, r chooses.
 */
static void order_by_branches(const struct place *p, struct rng *r, uint32_t *order)
{
	uint32_t *waits = MEM_NEW(p->n_nodes + 1, uint32_t), *ready = MEM_NEW(p->n_nodes + 1, uint32_t), n = 0,
		n_ready = 0;

	for (uint32_t v = 0; v < p->n_nodes; v++) {
		waits[v] = p->in_first[v + 1] - p->in_first[v];
		if (waits[v] == 0)
			ready[n_ready++] = v;
	}
	rng_shuffle(r, ready, n_ready);
	while (n_ready) {
		uint32_t v = ready[--n_ready], old = n_ready;
		order[n++] = v;
		for (uint32_t k = p->out_first[v]; k < p->out_first[v + 1]; k++)
			if (--waits[p->out[k]] == 0)
				ready[n_ready++] = p->out[k];
		rng_shuffle(r, ready + old, n_ready - old);
	}
	mem_free(waits);
	mem_free(ready);
}

/* Groups in order of their first nodes. */
static void order_groups(const struct place *p, const uint32_t *nodes, uint32_t *order)
{
	bool *seen = MEM_NEW(p->n_groups + 1, bool);
	uint32_t n = 0;

	for (uint32_t i = 0; i < p->n_nodes; i++) {
		uint32_t g = p->group[nodes[i]];
		if (!seen[g])
			order[n++] = g;
		seen[g] = true;
	}
	mem_free(seen);
}

/* Puts a group on the wanted device if it fits there, else on the first device where it fits. */
static void put(struct standing_load *s, uint32_t g, uint32_t wanted)
{
	uint32_t d = wanted;

	for (uint32_t i = 0; i < s->p->n_devices && !standing_load_fits(s, g, d); i++)
		d = (d + 1) % s->p->n_devices;
	s->device[g] = d;
	s->used[d] += s->group_size[g];
}

/* The device on which all nodes together take least time; the first accelerator if they are all alike. */
static uint32_t fastest(const struct place *p)
{
	double least = INFINITY;
	uint32_t best = 0;

	for (uint32_t d = 0; d < p->n_devices && p->machine; d++) {
		double sum = 0;
		for (uint32_t v = 0; v < p->n_nodes; v++)
			sum += p->on[d][v];
		best = sum < least ? d : best;
		least = fmin(least, sum);
	}
	return best;
}

void placing_one(const struct place *p, uint32_t *device)
{
	uint32_t d = fastest(p);
	struct standing_load s;

	standing_load_init(&s, p);
	for (uint32_t g = 0; g < p->n_groups; g++) {
		bool fits = p->n_accelerators && standing_load_fits(&s, g, d);
		put(&s, g, fits ? d : p->n_accelerators < p->n_devices ? p->n_accelerators : 0);
	}
	memcpy(device, s.device, p->n_groups * sizeof *device);
	standing_load_release(&s);
}

void placing_random(const struct place *p, struct rng *r, uint32_t *device)
{
	uint32_t *order = MEM_NEW(p->n_groups + 1, uint32_t), devices = p->n_accelerators ? p->n_accelerators
		: p->n_devices;
	struct standing_load s;

	standing_load_init(&s, p);
	for (uint32_t g = 0; g < p->n_groups; g++)
		order[g] = g;
	rng_shuffle(r, order, p->n_groups);
	for (uint32_t i = 0; i < p->n_groups; i++)
		put(&s, order[i], (uint32_t)rng_below(r, devices));
	memcpy(device, s.device, p->n_groups * sizeof *device);
	mem_free(order);
	standing_load_release(&s);
}

struct stretch { /* a stretch of the order, while it grows */
	const struct place *p;
	bool *inside;	  /* [n_nodes] */
	uint32_t *readers; /* [n_nodes] how many of its readers are inside */
	double time, in, out, size;
};

/* Adds a group to the stretch: its time, what it reads from outside, what it makes for outside. */
static void grow(struct stretch *s, uint32_t g)
{
	const struct place *p = s->p;

	for (uint32_t i = p->group_first[g]; i < p->group_first[g + 1]; i++) {
		uint32_t v = p->member[i];
		s->inside[v] = true;
		s->time += p->time[0][v];
		s->size += p->supported[v] ? p->size[v] : INFINITY;
		s->in -= s->readers[v] ? p->transfer[v] : 0;
		s->out += p->out_first[v + 1] - p->out_first[v] > s->readers[v] ? p->transfer[v] : 0;
	}
	for (uint32_t i = p->group_first[g]; i < p->group_first[g + 1]; i++) {
		uint32_t v = p->member[i];
		for (uint32_t k = p->in_first[v]; k < p->in_first[v + 1]; k++) {
			uint32_t u = p->in[k];
			if (s->readers[u]++ == 0 && !s->inside[u])
				s->in += p->transfer[u];
			if (s->inside[u] && s->readers[u] == p->out_first[u + 1] - p->out_first[u])
				s->out -= p->transfer[u];
		}
	}
}

/* Returns a table: cost[i * n + j] is the load of a device with groups i to j of the order; infinite if too large. */
static double *stretch_costs(const struct place *p, const uint32_t *order)
{
	uint32_t n = p->n_groups;
	double *cost = mem_alloc((size_t)n * n * sizeof *cost);
	struct stretch s = {.p = p, .inside = MEM_NEW(p->n_nodes + 1, bool), .readers = MEM_NEW(p->n_nodes + 1,
		uint32_t)};

	for (uint32_t i = 0; i < n; i++) {
		memset(s.inside, 0, p->n_nodes * sizeof *s.inside);
		memset(s.readers, 0, p->n_nodes * sizeof *s.readers);
		s.time = s.in = s.out = s.size = 0;
		for (uint32_t j = i; j < n; j++) {
			grow(&s, order[j]);
			cost[(size_t)i * n + j] = s.size <= p->memory ? s.time + s.in + s.out : INFINITY;
		}
	}
	mem_free(s.inside);
	mem_free(s.readers);
	return cost;
}

/* Finds the cut into at most n_accelerators stretches whose largest load is least. */
static void cut(const struct place *p, const uint32_t *order, const double *cost, uint32_t *device)
{
	uint32_t n = p->n_groups, k = p->n_accelerators, *from = MEM_NEW((size_t)(n + 1) * (k + 1), uint32_t);
	double *best = MEM_NEW((size_t)(n + 1) * (k + 1), double);

	for (uint32_t d = 0; d <= k; d++)
		for (uint32_t j = 0; j <= n; j++) {
			double *at = &best[(size_t)d * (n + 1) + j];
			*at = j ? INFINITY : 0;
			for (uint32_t i = 0; i < j && d; i++) {
				double most = fmax(best[(size_t)(d - 1) * (n + 1) + i], cost[(size_t)i * n + j - 1]);
				if (most < *at) {
					*at = most;
					from[(size_t)d * (n + 1) + j] = i;
				}
			}
			if (d && best[(size_t)(d - 1) * (n + 1) + j] <= *at) {
				*at = best[(size_t)(d - 1) * (n + 1) + j];
				from[(size_t)d * (n + 1) + j] = j;
			}
		}
	bool possible = isfinite(best[(size_t)k * (n + 1) + n]);
	for (uint32_t d = k, j = n; d > 0 && possible; d--) {
		uint32_t i = from[(size_t)d * (n + 1) + j];
		for (uint32_t g = i; g < j; g++)
			device[order[g]] = d - 1;
		j = i;
	}
	if (!possible)
		placing_one(p, device);
	mem_free(from);
	mem_free(best);
}

/* Cuts into stretches of equal time, for programs that are too large to cut exactly. */
static void cut_evenly(const struct place *p, const uint32_t *order, uint32_t *device)
{
	struct standing_load s;
	double all = 0, so_far = 0;

	standing_load_init(&s, p);
	for (uint32_t v = 0; v < p->n_nodes; v++)
		all += p->time[0][v];
	for (uint32_t i = 0; i < p->n_groups; i++) {
		uint32_t g = order[i], d = all > 0 ? (uint32_t)(so_far / all * p->n_accelerators) : 0;
		put(&s, g, d < p->n_accelerators ? d : p->n_accelerators - 1);
		for (uint32_t k = p->group_first[g]; k < p->group_first[g + 1]; k++)
			so_far += p->time[0][p->member[k]];
	}
	memcpy(device, s.device, p->n_groups * sizeof *device);
	standing_load_release(&s);
}

void placing_contiguous(const struct place *p, struct rng *r, uint32_t *device)
{
	uint32_t *order = MEM_NEW(p->n_groups + 1, uint32_t), *nodes = MEM_NEW(p->n_nodes + 1, uint32_t);

	if (r)
		order_by_branches(p, r, nodes);
	order_groups(p, r ? nodes : p->order, order);
	if (p->n_accelerators == 0) {
		placing_one(p, device);
	} else if (p->n_groups > MOST_EXACT) {
		cut_evenly(p, order, device);
	} else {
		double *cost = stretch_costs(p, order);
		cut(p, order, cost, device);
		mem_free(cost);
	}
	mem_free(order);
	mem_free(nodes);
}

struct ranked {
	double rank;
	uint32_t node;
};

static int by_rank(const void *a, const void *b)
{
	const struct ranked *x = a, *y = b;
	return x->rank != y->rank ? (x->rank > y->rank ? -1 : 1) : (x->node > y->node) - (x->node < y->node);
}

/*
 * Returns when node v would end on device d. It begins when the device is free and its inputs are there.
 */
static double end_on(const struct place *p, const uint32_t *device, const double *end, const double *free_at,
	uint32_t v, uint32_t d)
{
	double start = free_at[d];

	for (uint32_t k = p->in_first[v]; k < p->in_first[v + 1]; k++) {
		uint32_t u = p->in[k], from = device[p->group[u]];
		start = fmax(start, end[u] + schedule_transfer(p, u, from, d));
	}
	return start + p->on[d][v];
}

static struct ranked *rank_nodes(const struct place *p)
{
	struct ranked *rank = MEM_NEW(p->n_nodes + 1, struct ranked);

	for (uint32_t v = 0; v < p->n_nodes; v++)
		rank[v] = (struct ranked){p->rank[v], v};
	return rank;
}

/*
 * Places nodes by rank, the largest first. A rank is the time of the longest path from the node to the end. If all
 * times are above 0, a node therefore comes after what it needs; equal ranks keep the order of their numbers.
 */
void placing_heft(const struct place *p, uint32_t *device)
{
	struct ranked *rank = rank_nodes(p);
	double *end = MEM_NEW(p->n_nodes + 1, double), free_at[PLACE_DEVICES] = {0};
	bool *placed = MEM_NEW(p->n_groups + 1, bool);
	struct standing_load s;

	standing_load_init(&s, p);
	if (p->n_nodes > 1)
		qsort(rank, p->n_nodes, sizeof *rank, by_rank);
	for (uint32_t i = 0; i < p->n_nodes; i++) {
		uint32_t v = rank[i].node, g = p->group[v], best = s.device[g];
		double least = INFINITY;
		for (uint32_t d = 0; d < p->n_devices && !placed[g]; d++) {
			double e = standing_load_fits(&s, g, d) ? end_on(p, s.device, end, free_at, v, d) : INFINITY;
			best = e < least ? d : best;
			least = fmin(least, e);
		}
		if (!placed[g])
			put(&s, g, best);
		placed[g] = true;
		end[v] = end_on(p, s.device, end, free_at, v, s.device[g]);
		free_at[s.device[g]] = end[v];
	}
	memcpy(device, s.device, p->n_groups * sizeof *device);
	mem_free(rank);
	mem_free(end);
	mem_free(placed);
	standing_load_release(&s);
}
