/*
 * starts.c - fusion by rules, as places where a search may begin.
 *
 *	split	what the compiler decides, but for its large kernels, in which greedy decides
 *	greedy	what has one reader, which is no larger, is computed in its kernel, unless it reduces or gathers
 *
 * The compiler makes kernels of a hundred instructions and more of an unrolled solver, whose every step reads its
 * neighbours, or of the gradient of a deep stack of convolutions. Near such a kernel every step of a search is dear.
 * The first rule takes just these apart, which matters where they are a part of the program only. By the first and
 * the second rule: two steps of a flow, corrected by a small network, and its gradient: 38% and 28% less time; an
 * option's price by Monte Carlo 31% and 25%; shallow water 84% and 83%; WaveNet's training step 42% and 47%. A step of
 * a WENO scheme takes longer by either. Of eleven others eight have no kernel that large, and in three it changes 4% at
 * most. (If kernels are large from 16 instructions on, seven of the eleven take longer.)
 */
#include <string.h>
#include "space/fusion/own.h"

#define LARGE 64 /* instructions of a kernel */

/* Does the plain rule let its reader absorb the instruction? */
static bool is_absorbed(const struct graph *g, const struct node *n)
{
	bool same = n->n_users == 1 && g->node[g->users[n->user]].elements <= n->elements;

	return same && n->opcode != OP_REDUCE && n->opcode != OP_GATHER;
}

static uint8_t greedy_choice(const struct space *s, uint32_t v)
{
	return is_absorbed(s->graph, &s->graph->node[v]) ? fusion_of(s)->full[v] : 0;
}

void fusion_greedy(struct space *s, uint8_t *config)
{
	for (uint32_t i = 0; i < s->n_sites; i++)
		config[i] = greedy_choice(s, s->site[i].node);
}

/* A large kernel's result stays where it is, unless another large kernel computes it, too. */
static void fill_split(struct space *s, uint8_t *config)
{
	uint8_t *dflt = mem_alloc(s->n_sites + 1);
	struct nodes members = {0};

	space_default(s, dflt);
	memcpy(config, dflt, s->n_sites);
	for (uint32_t v = 0; v < s->graph->n_nodes; v++) {
		if (!fusion_groupable(s->graph, v) || !fusion_kept(s, dflt, v))
			continue;
		members.n = 0;
		group_walk(s, dflt, v, &members);
		for (size_t i = 0; members.n >= LARGE && i + 1 < members.n; i++)
			config[s->site_of[members.v[i]]] = greedy_choice(s, members.v[i]);
	}
	nodes_release(&members);
	mem_free(dflt);
}

/* The one that changes less comes first: there may be no time for both. */
const struct space_start fusion_starts[] = {{"split", fill_split}, {"greedy", fusion_greedy}, {NULL, NULL}};
