/*
 * net_open.c - opens a net that a program holds (net_make.c): its sites, ties and defaults.
 *
 * The default is greedy: node by node, each the choice that costs least beside those decided before it, where memory
 * has a price. The price begins at nothing, and doubles until the memory fits.
 *
 * Two nodes are tied if they have the same choices, live equally long, and have the same kinds of neighbours by the
 * same kinds of edges.
 */
#include <math.h>
#include "space/made.h"
#include "space/net/net_own.h"

#define PRICES 60 /* how often the price of memory is doubled */

static int read_problem(struct space *s, struct err *err)
{
	const struct graph *g = s->graph;
	struct net_space *n = net_own(s);
	uint32_t root = made_problem(g, NET_PROBLEM);
	const char *text;
	size_t length;

	if (root == NONE)
		return err_set(err, "%s is no net: decisions of the kind net are made about problems of the iopddl "
			"contest, named net:FILE", g->name);
	text = made_text(g, root, &length);
	if (network_parse(&n->net, text, length, err) < 0)
		return err_prefix(err, "%s", g->name);
	n->node_of = ARENA_NEW(&s->mem, n->net.n_nodes + 1, uint32_t);
	if (!made_nodes(g, NET_TARGET, n->node_of, n->net.n_nodes))
		return err_set(err, "%s: its nodes are not those of the problem it holds", g->name);
	return 0;
}

static int find_sites(struct space *s, struct err *err)
{
	const struct graph *g = s->graph;
	struct net_space *n = net_own(s);

	s->site = ARENA_NEW(&s->mem, n->net.n_nodes + 1, struct site);
	s->site_of = ARENA_NEW(&s->mem, g->n_nodes + 1, uint32_t);
	n->number = ARENA_NEW(&s->mem, g->n_nodes + 1, uint32_t);
	n->net_of = ARENA_NEW(&s->mem, n->net.n_nodes + 1, uint32_t);
	n->choice = ARENA_NEW(&s->mem, n->net.n_nodes + 1, uint32_t);
	for (uint32_t v = 0; v < g->n_nodes; v++)
		n->number[v] = s->site_of[v] = NONE;
	for (uint32_t i = 0; i < n->net.n_nodes; i++)
		n->number[n->node_of[i]] = i;
	for (uint32_t v = 0; v < g->n_nodes; v++) {
		uint32_t i = n->number[v], k = i == NONE ? 0 : network_choices(&n->net, i);
		if (k < 2)
			continue;
		if (k > SPACE_CHOICES)
			return err_set(err, "node %u has %u choices; a decision has at most %d", i, k, SPACE_CHOICES);
		n->net_of[s->n_sites] = i;
		s->site_of[v] = s->n_sites;
		s->site[s->n_sites++] = (struct site){.node = v, .choices = (uint8_t)k};
	}
	return 0;
}

/* The least and the most of some costs, without the forbidden; nothing is 0. */
static void range_of(const int64_t *v, size_t n, double *low, double *high)
{
	bool any = false;

	*low = *high = 0;
	for (size_t i = 0; i < n; i++) {
		if (v[i] >= NET_NEVER)
			continue;
		*low = any ? fmin(*low, (double)v[i]) : (double)v[i];
		*high = any ? fmax(*high, (double)v[i]) : (double)v[i];
		any = true;
	}
}

static void find_range(struct net_space *n)
{
	const struct network *net = &n->net;
	double low, high, least = 0;

	for (uint32_t i = 0; i < net->n_nodes; i++) {
		range_of(net->cost + net->first[i], network_choices(net, i), &low, &high);
		least += low;
		n->spread += high - low;
	}
	for (uint32_t e = 0; e < net->n_edges; e++) {
		const struct network_edge *x = &net->edge[e];
		range_of(net->pair + x->cost, (size_t)network_choices(net, x->a) * network_choices(net, x->b), &low,
			&high);
		least += low;
		n->spread += high - low;
	}
	n->spread += 1;
	n->shift = least < 1 ? 1 - least : 0;
}

/* Decides node by node at this price of memory; edges count once the other end is decided. */
static void greedy(struct net_space *n, double price, bool *decided)
{
	const struct network *net = &n->net;

	for (uint32_t i = 0; i < net->n_nodes; i++)
		decided[i] = false;
	for (uint32_t i = 0; i < net->n_nodes; i++) {
		double least = INFINITY;
		for (uint32_t k = 0; k < network_choices(net, i); k++) {
			int64_t own = net->cost[net->first[i] + k];
			double cost = own < NET_NEVER ? (double)own : n->spread;
			cost += price * (double)net->usage[net->first[i] + k] * (net->begin[i] < net->end[i]);
			for (uint32_t e = n->now.edge_first[i]; e < n->now.edge_first[i + 1] && cost < least; e++) {
				const struct network_edge *x = &net->edge[n->now.edge_of[e]];
				int64_t pair;
				if (!decided[x->a == i ? x->b : x->a])
					continue;
				pair = tally_pair(&n->now, i, k, n->now.edge_of[e]);
				cost += pair < NET_NEVER ? (double)pair : n->spread;
			}
			if (cost < least) {
				least = cost;
				n->choice[i] = k;
			}
		}
		n->now.choice[i] = n->choice[i]; /* the sums follow in find_default */
		decided[i] = true;
	}
}

static void find_default(struct space *s)
{
	struct net_space *n = net_own(s);
	bool *decided = MEM_NEW(n->net.n_nodes + 1, bool);
	struct network_value v;
	double price = 0;

	for (int i = 0; i < PRICES; i++) {
		greedy(n, price, decided);
		v = network_value(&n->net, n->choice);
		if (v.over <= 0)
			break;
		price = price > 0 ? 2 * price : n->spread / ((double)n->net.n_nodes * 1e6 *
			fmax(fabs((double)n->net.limit), 1));
	}
	for (uint32_t i = 0; i < s->n_sites; i++)
		s->site[i].dflt = (uint8_t)n->choice[n->net_of[i]];
	mem_free(decided);
	tally_release(&n->now);
	tally_init(&n->now, &n->net);
	for (uint32_t i = 0; i < n->net.n_nodes; i++) /* nodes without a site keep the only choice they have */
		n->choice[i] = 0;
}

/* What the features are measured by. */
static void find_units(struct space *s)
{
	struct net_space *n = net_own(s);
	const struct network *net = &n->net;
	uint8_t *config = mem_alloc(s->n_sites + 1);
	double most;

	space_default(s, config);
	net_stand(s, config);
	mem_free(config);
	n->unit = fmax((double)n->now.cost + n->shift, 1) / fmax(s->n_sites, 1) / 100;
	most = net->limited ? (double)net->limit : (double)tally_peak(&n->now, NULL);
	n->memory = fmax(most, 1) / 1000;
	n->cheapest = ARENA_NEW(&s->mem, net->n_nodes + 1, int64_t);
	n->pressure = ARENA_NEW(&s->mem, net->n_nodes + 1, float);
	n->span = ARENA_NEW(&s->mem, net->n_nodes + 1, float);
	for (uint32_t i = 0; i < net->n_nodes; i++) {
		double low, high;
		network_sum peak = 0;
		range_of(net->cost + net->first[i], network_choices(net, i), &low, &high);
		n->cheapest[i] = (int64_t)low;
		for (uint32_t t = n->now.from[i]; t < n->now.till[i]; t++)
			peak = n->now.usage[t] > peak ? n->now.usage[t] : peak;
		n->pressure[i] = (float)fmin((double)peak / fmax(most, 1), 4);
		n->span[i] = (float)(n->now.till[i] - n->now.from[i]) / (float)(n->now.n_ticks + 1);
	}
}

static void find_ties(struct space *s)
{
	const struct net_space *n = net_own(s);
	const struct network *net = &n->net;
	uint64_t *alone = MEM_NEW(net->n_nodes + 1, uint64_t), *around = MEM_NEW(net->n_nodes + 1, uint64_t),
		 *tie = MEM_NEW(s->n_sites + 1, uint64_t);

	for (uint32_t i = 0; i < net->n_nodes; i++) {
		uint32_t k = network_choices(net, i);
		alone[i] = hash64(net->cost + net->first[i], k * sizeof *net->cost, k);
		alone[i] = hash64(net->usage + net->first[i], k * sizeof *net->usage, alone[i]);
		alone[i] = hash_mix(alone[i], (uint64_t)net->end[i] - (uint64_t)net->begin[i]);
	}
	for (uint32_t e = 0; e < net->n_edges; e++) {
		const struct network_edge *x = &net->edge[e];
		size_t pairs = (size_t)network_choices(net, x->a) * network_choices(net, x->b);
		uint64_t h = hash64(net->pair + x->cost, pairs * sizeof *net->pair, pairs);
		around[x->a] += hash_mix(hash_mix(h, alone[x->b]), 0);
		around[x->b] += hash_mix(hash_mix(h, alone[x->a]), 1);
	}
	for (uint32_t i = 0; i < s->n_sites; i++)
		tie[i] = hash_mix(alone[n->net_of[i]], around[n->net_of[i]]);
	space_tie(s, tie);
	mem_free(alone), mem_free(around), mem_free(tie);
}

int net_begin(struct space *s, struct err *err)
{
	if (read_problem(s, err) < 0 || find_sites(s, err) < 0)
		return -1;
	find_range(net_own(s));
	tally_init(&net_own(s)->now, &net_own(s)->net);
	find_default(s);
	find_units(s);
	find_ties(s);
	return 0;
}
