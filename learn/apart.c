/*
 * apart.c - see apart.h. Surroundings are hashed step by step, as for tie classes, but by the names of operations:
 * their numbers change from version to version, and what is apart must not. Neighbours' hashes are added up, so
 * their order does not matter.
 */
#include "learn/apart.h"

#include <string.h>
#include "base/hash.h"

static uint64_t seed_of(const struct node *n)
{
	const char *name = opcode_name(n->opcode);

	return hash_mix(hash64(name, strlen(name), 1), hash_mix(n->dtype, n->n_operands));
}

static uint64_t sum_of(const uint64_t *h, const uint32_t *node, uint32_t n, uint64_t side)
{
	uint64_t sum = 0;

	for (uint32_t k = 0; k < n; k++)
		sum += hash_mix(side, h[node[k]]);
	return sum;
}

/* The hash of every node's surroundings; `out` has n_nodes places. */
static void apart_surroundings(const struct graph *g, uint64_t *out)
{
	uint64_t *old = MEM_NEW(g->n_nodes, uint64_t);

	for (uint32_t v = 0; v < g->n_nodes; v++)
		out[v] = seed_of(&g->node[v]);
	for (int round = 0; round < APART_HOPS; round++) {
		memcpy(old, out, g->n_nodes * sizeof *old);
		for (uint32_t v = 0; v < g->n_nodes; v++) {
			const struct node *n = &g->node[v];
			uint64_t operands = sum_of(old, node_operands(g, v), n->n_operands, 1);
			uint64_t users = sum_of(old, node_users(g, v), n->n_users, 2);
			out[v] = hash_mix(hash_mix(old[v], operands), users);
		}
	}
	mem_free(old);
}

bool apart_is(uint64_t surroundings)
{
	/* Mixed once more: surroundings of which one bit says something are not all on one side. */
	return hash_mix(surroundings, 0x6170617274) % APART_ONE_IN == 0;
}

void apart_mark(struct data *d)
{
	uint64_t **around = MEM_NEW(d->n_graphs, uint64_t *);

	for (size_t g = 0; g < d->n_graphs; g++) {
		const struct graph *graph = d->graph[g].scene.space->graph;
		around[g] = MEM_NEW(graph->n_nodes, uint64_t);
		apart_surroundings(graph, around[g]);
	}
	for (size_t i = 0; i < d->n_examples; i++) {
		struct example *e = &d->example[i];
		e->around = around[e->graph][d->graph[e->graph].scene.space->site[e->site].node];
		e->apart = apart_is(e->around);
	}
	for (size_t g = 0; g < d->n_graphs; g++)
		mem_free(around[g]);
	mem_free(around);
}
