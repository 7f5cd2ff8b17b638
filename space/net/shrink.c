/*
 * shrink.c - makes a net smaller without changing its best answer.
 *
 * Slots wait in a queue. A slot that changes joins the queue again, and so do its neighbours. It ends when the queue is
 * empty. We do this to a slot, in this order:
 *
 *   dead        drop each choice that is forbidden, or that is forbidden with every choice of some neighbour;
 *   alone       if one choice is left, add its costs to those of the neighbours, and part the slot;
 *   tied        if the choices of a neighbour match the slot's choices one to one, merge the two slots;
 *   dominated   drop each choice for which another one is never worse, neither in cost nor in memory at any time;
 *   parted      if the slot has at most two neighbours and its choice does not change its memory, part the slot: its
 *               least cost, for every pair of choices of the neighbours, becomes a cost of these.
 *
 * In the nets of real programs two thirds of the edges are ties, and a few thousand of fifty thousand nodes remain.
 */
#include "space/net/shrink.h"

#include <math.h>
#include <string.h>

#define NONE_YET UINT32_MAX
#define LARGEST_PAIRS ((size_t)1 << 16) /* elimination makes no edge with more costs than this */
#define LONGEST_LOOK ((size_t)1 << 25) /* dominated choices are not looked for if that takes more steps */

/* Keeps the choices in keep[], and drops all others. */
static void keep_choices(struct shrink *s, uint32_t v, const uint32_t *keep, uint32_t n)
{
	struct slot *x = &s->slot[v];

	for (size_t i = 0; i < x->n_edges; i++) {
		struct shrunk_edge *e = &s->edge[x->edge[i]];
		size_t ka = s->slot[e->a].choices, kb = s->slot[e->b].choices, at = 0;
		for (size_t k = 0; k < (e->a == v ? n : ka); k++)
			for (size_t l = 0; l < (e->b == v ? n : kb); l++)
				e->cost[at++] = e->a == v ? e->cost[keep[k] * kb + l] : e->cost[k * kb + keep[l]];
	}
	for (size_t i = 0, at = 0; i < x->n_nodes; i++)
		for (uint32_t k = 0; k < n; k++)
			x->choice[at++] = x->choice[i * x->choices + keep[k]];
	for (uint32_t k = 0; k < n; k++)
		x->cost[k] = x->cost[keep[k]];
	x->choices = n;
	shrink_enqueue(s, v);
	shrink_enqueue_neighbours(s, v);
}

static bool is_dead(const struct shrink *s, uint32_t v, uint32_t k)
{
	const struct slot *x = &s->slot[v];

	if (!REDUCED_ALLOWED(x->cost[k]))
		return true;
	for (size_t i = 0; i < x->n_edges; i++) {
		const struct shrunk_edge *e = &s->edge[x->edge[i]];
		uint32_t n = s->slot[shrink_other_end(e, v)].choices, l = 0;
		while (l < n && !REDUCED_ALLOWED(shrink_pair(s, e, v, k, l)))
			l++;
		if (l == n)
			return true;
	}
	return false;
}

/* Drops the dead choices. Returns -1 if all are dead. */
static int drop_dead(struct shrink *s, uint32_t v, uint32_t *keep)
{
	uint32_t n = 0, had = s->slot[v].choices;

	for (uint32_t k = 0; k < had; k++)
		if (!is_dead(s, v, k))
			keep[n++] = k;
	if (n == 0)
		return -1;
	if (n < had)
		keep_choices(s, v, keep, n);
	return 0;
}

/* Remembers a neighbour of a parted slot as it is now, because it may lose choices later. */
static void remember_link(struct shrink *s, struct parted *p, uint32_t v, const struct shrunk_edge *e)
{
	const struct slot *w = &s->slot[shrink_other_end(e, v)];
	double *cost = ARENA_NEW(&s->model->mem, (size_t)p->choices * w->choices, double);

	for (uint32_t k = 0; k < p->choices; k++)
		for (uint32_t l = 0; l < w->choices; l++)
			cost[(size_t)k * w->choices + l] = shrink_pair(s, e, v, k, l);
	p->link[p->n_links].node = w->node[0];
	p->link[p->n_links].n = w->choices;
	p->link[p->n_links].choice = arena_dup(&s->model->mem, w->choice, w->choices * sizeof *w->choice);
	p->link[p->n_links++].cost = cost;
}

static void part(struct shrink *s, uint32_t v)
{
	struct slot *x = &s->slot[v];
	struct arena *mem = &s->model->mem;
	struct parted *p = &s->model->parted[s->model->n_parted++];

	*p = (struct parted){.choices = x->choices, .n_nodes = x->n_nodes};
	p->cost = arena_dup(mem, x->cost, x->choices * sizeof *x->cost);
	p->node = arena_dup(mem, x->node, x->n_nodes * sizeof *x->node);
	p->choice = arena_dup(mem, x->choice, (size_t)x->n_nodes * x->choices * sizeof *x->choice);
	for (size_t i = 0; i < x->n_edges; i++)
		remember_link(s, p, v, &s->edge[x->edge[i]]);
	x->gone = true;
}

/* Parts a slot that has one choice. The costs of its edges become costs of its neighbours. */
static void settle(struct shrink *s, uint32_t v)
{
	struct slot *x = &s->slot[v];

	s->model->cost += x->cost[0];
	while (x->n_edges) {
		uint32_t number = x->edge[x->n_edges - 1], w = shrink_other_end(&s->edge[number], v);
		for (uint32_t l = 0; l < s->slot[w].choices; l++)
			s->slot[w].cost[l] = shrink_capped(s->slot[w].cost[l] + shrink_pair(s, &s->edge[number], v, 0,
				l));
		shrink_remove_edge(s, number);
		shrink_enqueue(s, w);
	}
	part(s, v);
}

/* Do the choices of v and w match one to one? Then match[k] becomes the one choice of w that choice k of v allows. */
static bool tied(const struct shrink *s, const struct shrunk_edge *e, uint32_t v, uint32_t *match)
{
	uint32_t n = s->slot[v].choices, w = shrink_other_end(e, v);
	bool taken[NET_CHOICES] = {false};

	if (s->slot[w].choices != n)
		return false;
	for (uint32_t k = 0; k < n; k++) {
		match[k] = NONE_YET;
		for (uint32_t l = 0; l < n; l++) {
			if (!REDUCED_ALLOWED(shrink_pair(s, e, v, k, l)))
				continue;
			if (match[k] != NONE_YET || taken[l])
				return false;
			match[k] = l;
			taken[l] = true;
		}
		if (match[k] == NONE_YET)
			return false;
	}
	return true;
}

/* Gives the edges of w to v, with the choices renumbered by match[]. */
static void move_edges(struct shrink *s, uint32_t v, uint32_t w, const uint32_t *match)
{
	uint32_t n = s->slot[v].choices;

	while (s->slot[w].n_edges) {
		uint32_t number = s->slot[w].edge[0], u = shrink_other_end(&s->edge[number], w), m = s->slot[u].choices;
		double *cost = mem_alloc((size_t)n * m * sizeof *cost);
		for (uint32_t k = 0; k < n; k++)
			for (uint32_t l = 0; l < m; l++)
				cost[(size_t)k * m + l] = shrink_pair(s, &s->edge[number], w, match[k], l);
		shrink_remove_edge(s, number);
		shrink_add_edge(s, v, u, cost);
	}
}

static void merge(struct shrink *s, uint32_t v, uint32_t w, uint32_t edge, const uint32_t *match)
{
	struct slot *x = &s->slot[v], *y = &s->slot[w];
	uint32_t n = x->choices;

	for (uint32_t k = 0; k < n; k++)
		x->cost[k] = shrink_capped(x->cost[k] + y->cost[match[k]] + shrink_pair(s, &s->edge[edge], v, k,
			match[k]));
	shrink_remove_edge(s, edge);
	move_edges(s, v, w, match);
	x->node = mem_realloc(x->node, x->n_nodes + y->n_nodes, sizeof *x->node);
	x->choice = mem_realloc(x->choice, (size_t)(x->n_nodes + y->n_nodes) * n, sizeof *x->choice);
	for (uint32_t i = 0; i < y->n_nodes; i++) {
		x->node[x->n_nodes] = y->node[i];
		for (uint32_t k = 0; k < n; k++)
			x->choice[(size_t)x->n_nodes * n + k] = y->choice[(size_t)i * n + match[k]];
		x->n_nodes++;
	}
	y->gone = true;
	y->n_nodes = 0;
	shrink_enqueue(s, v);
	shrink_enqueue_neighbours(s, v);
}

/* If v has a tied neighbour, merges the two, the one with fewer edges into the other, and returns true. */
static bool merge_tied(struct shrink *s, uint32_t v)
{
	uint32_t match[NET_CHOICES];

	for (size_t i = 0; i < s->slot[v].n_edges; i++) {
		uint32_t number = s->slot[v].edge[i], w = shrink_other_end(&s->edge[number], v);
		uint32_t into = s->slot[w].n_edges > s->slot[v].n_edges ? w : v;
		if (tied(s, &s->edge[number], into, match)) {
			merge(s, into, into == v ? w : v, number, match);
			return true;
		}
	}
	return false;
}

/* Does any node of the slot use more memory at choice l than at k? */
static bool uses_more(const struct shrink *s, const struct slot *x, uint32_t l, uint32_t k)
{
	const struct network *net = s->net;

	for (uint32_t i = 0; i < x->n_nodes; i++) {
		uint32_t v = x->node[i];
		const uint16_t *choice = x->choice + (size_t)i * x->choices;
		const int64_t *usage = net->usage + net->first[v];
		if (s->live[v] && usage[choice[l]] > usage[choice[k]])
			return true;
	}
	return false;
}

/* Is choice l of v never worse than choice k? */
static bool dominates(const struct shrink *s, uint32_t v, uint32_t l, uint32_t k)
{
	const struct slot *x = &s->slot[v];
	double worse = x->cost[l] - x->cost[k];

	if (worse > 0 && x->n_edges == 0)
		return false;
	if (uses_more(s, x, l, k))
		return false;
	for (size_t i = 0; i < x->n_edges; i++) {
		const struct shrunk_edge *e = &s->edge[x->edge[i]];
		uint32_t n = s->slot[shrink_other_end(e, v)].choices;
		double most = -INFINITY;
		for (uint32_t j = 0; j < n; j++) {
			double old = shrink_pair(s, e, v, k, j), new = shrink_pair(s, e, v, l, j);
			if (!REDUCED_ALLOWED(old))
				continue;
			if (!REDUCED_ALLOWED(new))
				return false;
			most = new - old > most ? new - old : most;
		}
		worse += most;
	}
	return worse <= 0;
}

static void drop_dominated(struct shrink *s, uint32_t v, uint32_t *keep)
{
	struct slot *x = &s->slot[v];
	size_t look = 1;
	uint32_t n = 0;
	bool dropped[NET_CHOICES] = {false};

	for (size_t i = 0; i < x->n_edges; i++)
		look += s->slot[shrink_other_end(&s->edge[x->edge[i]], v)].choices;
	if (look * x->choices * x->choices > LONGEST_LOOK)
		return;
	for (uint32_t k = 0; k < x->choices; k++) {
		for (uint32_t l = 0; l < x->choices && !dropped[k]; l++)
			dropped[k] = l != k && !dropped[l] && dominates(s, v, l, k);
		if (!dropped[k])
			keep[n++] = k;
	}
	if (n < x->choices)
		keep_choices(s, v, keep, n);
}

static bool memory_varies(const struct shrink *s, const struct slot *x)
{
	for (uint32_t k = 1; k < x->choices; k++)
		if (uses_more(s, x, 0, k) || uses_more(s, x, k, 0))
			return true;
	return false;
}

/* Returns the least cost of v for each pair of choices of its neighbours; n[1] is 1 if there is only one neighbour. */
static double *least(const struct shrink *s, uint32_t v, const uint32_t *number, const uint32_t *n)
{
	const struct slot *x = &s->slot[v];
	double *cost = mem_alloc((size_t)n[0] * n[1] * sizeof *cost);

	for (uint32_t i = 0; i < n[0]; i++)
		for (uint32_t j = 0; j < n[1]; j++) {
			double best = REDUCED_NEVER;
			for (uint32_t k = 0; k < x->choices; k++) {
				double c = x->cost[k] + shrink_pair(s, &s->edge[number[0]], v, k, i);
				if (x->n_edges > 1)
					c += shrink_pair(s, &s->edge[number[1]], v, k, j);
				best = c < best ? c : best;
			}
			cost[(size_t)i * n[1] + j] = best;
		}
	return cost;
}

/* Parts a slot if it has at most two neighbours and its choice does not change its memory. Its own lists stay. */
static void eliminate(struct shrink *s, uint32_t v)
{
	struct slot *x = &s->slot[v];
	uint32_t number[2] = {0}, end[2] = {0}, n[2] = {1, 1}, n_edges = (uint32_t)x->n_edges;
	double *cost;

	if (n_edges > 2)
		return;
	for (uint32_t i = 0; i < n_edges; i++) {
		number[i] = x->edge[i];
		end[i] = shrink_other_end(&s->edge[number[i]], v);
		n[i] = s->slot[end[i]].choices;
	}
	if ((size_t)n[0] * n[1] > LARGEST_PAIRS || memory_varies(s, x))
		return;
	part(s, v);
	if (n_edges == 0) {
		double best = x->cost[0];
		for (uint32_t k = 1; k < x->choices; k++)
			best = x->cost[k] < best ? x->cost[k] : best;
		s->model->cost += best;
		return;
	}
	cost = least(s, v, number, n);
	for (uint32_t i = 0; i < n_edges; i++) {
		shrink_detach(&s->slot[end[i]], number[i]);
		shrink_enqueue(s, end[i]);
	}
	if (n_edges == 2) {
		shrink_add_edge(s, end[0], end[1], cost);
		return;
	}
	for (uint32_t i = 0; i < n[0]; i++)
		s->slot[end[0]].cost[i] = shrink_capped(s->slot[end[0]].cost[i] + cost[i]);
	mem_free(cost);
}

static void look_at(struct shrink *s, uint32_t v)
{
	uint32_t keep[NET_CHOICES];

	if (drop_dead(s, v, keep) < 0) {
		s->model->hopeless = true;
		return;
	}
	if (s->slot[v].choices == 1) {
		settle(s, v);
		return;
	}
	while (!s->slot[v].gone && merge_tied(s, v))
		;
	if (s->slot[v].gone)
		return;
	drop_dominated(s, v, keep);
	eliminate(s, v);
}

static double scaled(const struct shrink *s, int64_t cost)
{
	return cost >= NET_NEVER ? REDUCED_NEVER : (double)cost * s->model->scale;
}

static void take_net(struct shrink *s, const struct network *net)
{
	for (uint32_t i = 0; i < net->n_nodes; i++) {
		struct slot *x = &s->slot[i];
		x->choices = network_choices(net, i);
		x->cost = mem_alloc(x->choices * sizeof *x->cost);
		x->choice = mem_alloc(x->choices * sizeof *x->choice);
		x->node = mem_alloc(sizeof *x->node);
		x->node[0] = i;
		x->n_nodes = 1;
		for (uint32_t k = 0; k < x->choices; k++) {
			x->cost[k] = scaled(s, net->cost[net->first[i] + k]);
			x->choice[k] = (uint16_t)k;
		}
	}
	for (uint32_t e = 0; e < net->n_edges; e++) {
		const struct network_edge *x = &net->edge[e];
		size_t n = (size_t)network_choices(net, x->a) * network_choices(net, x->b);
		double *cost = mem_alloc(n * sizeof *cost);
		for (size_t k = 0; k < n; k++)
			cost[k] = scaled(s, net->pair[x->cost + k]);
		shrink_add_edge(s, x->a, x->b, cost);
	}
}

void shrink_init(struct shrink *s, struct reduced *m)
{
	const struct network *net = m->net;

	*s = (struct shrink){.net = net, .model = m};
	s->slot = MEM_NEW(net->n_nodes + 1, struct slot);
	s->live = MEM_NEW(net->n_nodes + 1, bool);
	for (uint32_t i = 0; i < net->n_nodes; i++)
		s->live[i] = net->limited && net->end[i] > net->begin[i];
	take_net(s, net);
}

void shrink_run(struct shrink *s)
{
	s->n_queue = 0;
	for (uint32_t i = s->net->n_nodes; i-- > 0;)
		shrink_enqueue(s, i);
	for (size_t next = 0; next < s->n_queue && !s->model->hopeless; next++) {
		uint32_t v = s->queue[next];
		s->slot[v].queued = false;
		if (!s->slot[v].gone)
			look_at(s, v);
	}
}

void shrink_release(struct shrink *s)
{
	for (uint32_t i = 0; s->slot && i < s->net->n_nodes; i++) {
		struct slot *x = &s->slot[i];
		mem_free(x->cost);
		mem_free(x->node);
		mem_free(x->choice);
		mem_free(x->edge);
	}
	for (size_t e = 0; e < s->n_edges; e++)
		mem_free(s->edge[e].cost);
	mem_free(s->edge);
	mem_free(s->slot);
	mem_free(s->queue);
	mem_free(s->live);
	*s = (struct shrink){0};
}
