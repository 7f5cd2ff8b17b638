/*
 * net_features.c - what a learner sees of a net, and what is promised before anything was learnt.
 *
 * Costs are in hundredths of what a node costs by default, memory in thousandths of the limit, so problems of any unit
 * and size look alike. How full memory is counts by the default only: if it were looked up in the present
 * configuration, every flip would change what is seen of all nodes that are alive at the same time.
 */
#include <math.h>
#include <string.h>
#include "space/net/net_own.h"

void net_stand(const struct space *s, const uint8_t *config)
{
	struct net_space *n = net_own(s);

	for (uint32_t i = 0; i < s->n_sites; i++)
		n->choice[n->net_of[i]] = config[i];
	tally_set(&n->now, n->choice);
}

static const struct space_feature contexts[] = {
	{"own", "cost of the choice above the node's cheapest, in hundredths of a node's cost", SCALE_SIZE},
	{"edges", "cost of its edges with the present choices of the neighbours, in the same unit", SCALE_SIZE},
	{"never", "forbidden choices and pairs", SCALE_SIZE},
	{"usage", "memory of the choice, in thousandths of the limit", SCALE_SIZE},
	{"pressure", "most memory in use while the node is alive, by default, over the limit", SCALE_PLAIN},
	{"span", "the share of time in which the node is alive", SCALE_PLAIN},
};
static const struct space_feature effects[] = {
	{"own", "cost of the choice above the node's cheapest, in hundredths of a node's cost", SCALE_SIZE},
	{"edges", "cost of its edges with the present choices of the neighbours, in the same unit", SCALE_SIZE},
	{"sum", "both", SCALE_SIZE},
	{"best", "cost of its edges if each neighbour chose what suits it best, in the same unit", SCALE_SIZE},
	{"never", "forbidden choices and pairs", SCALE_SIZE},
	{"usage", "memory of the choice, in thousandths of the limit", SCALE_SIZE},
	{"tight", "the same times how full memory is while the node is alive, by default", SCALE_SIZE},
};
#define N_CONTEXTS (sizeof contexts / sizeof *contexts)
#define N_EFFECTS (sizeof effects / sizeof *effects)
const struct space_features net_features = {contexts, effects, N_CONTEXTS, N_EFFECTS};

static double in_units(const struct net_space *n, network_sum cost)
{
	return cost > 0 ? (double)cost / n->unit : 0;
}

/* What the edges cost if every neighbour chose what is best for this choice, without the forbidden. */
static network_sum best_edges(const struct net_space *n, uint32_t node, uint32_t k)
{
	const struct network *net = &n->net;
	network_sum sum = 0;

	for (uint32_t i = n->now.edge_first[node]; i < n->now.edge_first[node + 1]; i++) {
		const struct network_edge *e = &net->edge[n->now.edge_of[i]];
		uint32_t width = network_choices(net, e->b), others = e->a == node ? width : network_choices(net, e->a);
		int64_t best = NET_NEVER;
		for (uint32_t o = 0; o < others; o++) {
			size_t at = e->a == node ? (size_t)k * width + o : (size_t)o * width + k;
			int64_t cost = net->pair[e->cost + at];
			best = cost < best ? cost : best;
		}
		sum += best < NET_NEVER ? best : 0;
	}
	return sum;
}

struct aspects { /* of a node with choice k, beside the present choices of the others */
	double own, edges, sum, never, usage;
};

static struct aspects look_at(const struct net_space *n, uint32_t node, uint32_t k)
{
	int64_t cost = n->net.cost[n->net.first[node] + k];
	network_sum all, of_own = cost < NET_NEVER ? cost : 0;
	uint32_t never;

	all = tally_local(&n->now, node, k, &never);
	return (struct aspects){in_units(n, of_own - n->cheapest[node]), in_units(n, all - of_own),
		in_units(n, all - n->cheapest[node]), never,
		fmax((double)n->net.usage[n->net.first[node] + k], 0) / n->memory};
}

void net_context(struct space *s, const uint8_t *config, const uint32_t *nodes, uint32_t count, float *out)
{
	const struct net_space *n = net_own(s);

	net_stand(s, config);
	for (uint32_t i = 0; i < count; i++, out += N_CONTEXTS) {
		uint32_t node = n->number[nodes[i]];
		memset(out, 0, N_CONTEXTS * sizeof *out);
		if (node == NONE)
			continue;
		struct aspects a = look_at(n, node, n->now.choice[node]);
		out[0] = (float)a.own;
		out[1] = (float)a.edges;
		out[2] = (float)a.never;
		out[3] = (float)a.usage;
		out[4] = n->pressure[node];
		out[5] = n->span[node];
	}
}

static void write_effect(const struct net_space *n, uint32_t node, uint32_t k, float *out)
{
	struct aspects a = look_at(n, node, k);
	const double v[N_EFFECTS] = {a.own, a.edges, a.sum, in_units(n, best_edges(n, node, k)), a.never, a.usage,
		a.usage * n->pressure[node]};

	for (size_t i = 0; i < N_EFFECTS; i++)
		out[i] = (float)v[i];
}

void net_effect(struct space *s, uint8_t *config, uint32_t site, uint8_t choice, float *out)
{
	net_stand(s, config);
	write_effect(net_own(s), net_own(s)->net_of[site], config[site], out);
	write_effect(net_own(s), net_own(s)->net_of[site], choice, out + N_EFFECTS);
}

double net_grain(const struct space *s, enum quantity q)
{
	return q == QUANTITY_BYTES ? net_own(s)->memory : net_own(s)->unit;
}

static void promise_all(struct space *s)
{
	struct net_space *n = net_own(s);
	uint8_t *config = mem_alloc(s->n_sites + 1);

	space_default(s, config);
	net_stand(s, config);
	mem_free(config);
	n->promised = ARENA_NEW(&s->mem, (size_t)s->n_sites * s->stride, double);
	for (uint32_t i = 0; i < s->n_sites; i++) {
		uint32_t never[2];
		double plain = (double)tally_local(&n->now, n->net_of[i], 0, &never[0]);
		for (uint32_t k = 1; k < s->site[i].choices; k++) {
			double cost = (double)tally_local(&n->now, n->net_of[i], k, &never[1]);
			n->promised[(size_t)i * s->stride + k] =
				plain - cost + ((double)never[0] - (double)never[1]) * n->spread;
		}
	}
}

/* What a choice saves if all others keep to the default, and memory costs nothing. */
double net_promise(struct space *s, uint32_t site, uint8_t choice)
{
	if (!net_own(s)->promised)
		promise_all(s);
	return net_own(s)->promised[(size_t)site * s->stride + choice];
}
