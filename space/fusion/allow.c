/*
 * allow.c - takes choices back that together ask for a kernel which the compiler never makes.
 *
 * Legality is a property of an edge (legal.c). But XLA:GPU also makes no kernel of two large reductions that feed one
 * another, however many instructions lie between them, and none that reads more values than a launch passes. No single
 * edge shows that. Its model prices such a kernel by what it knows, so the price means nothing and is refused
 * (device/estimate_reified.c). A configuration that was drawn at random nearly always asks for one. So the reduction
 * that would be repeated is kept in memory, or what stands in the middle of a group that reads too much, until no such
 * group is left. Each step keeps one site more, so it ends.
 */
#include "graph/unmade.h"
#include "space/fusion/own.h"

/* How many values does the group read from memory? `reads` is scratch. */
static size_t count_reads(const struct space *s, const uint8_t *config, const struct nodes *members,
	struct nodes *reads)
{
	const struct graph *g = s->graph;

	reads->n = 0;
	for (size_t i = 0; i < members->n; i++) {
		const struct node *n = &g->node[members->v[i]];
		for (uint32_t e = n->operand; e < n->operand + n->n_operands; e++)
			if (!fusion_absorbed(s, config, e) && !(g->node[g->edges[e]].flags & NODE_SCALAR_CONST))
				nodes_add(reads, g->edges[e]);
	}
	nodes_sort(reads);
	return reads->n;
}

/* Returns the member whose site had better be kept, or NONE if the compiler may make the group. */
static uint32_t find_culprit(const struct space *s, const uint8_t *config, const struct nodes *members,
	struct nodes *reads)
{
	uint32_t at = NONE;

	if (members->n > 1 && unmade_reduction(s->graph, members->v, members->n, &at))
		return at;
	if (members->n > 1 && count_reads(s, config, members, reads) + 1 > UNMADE_OPERANDS)
		return members->v[(members->n - 1) / 2];
	return NONE;
}

uint32_t fusion_allow(struct space *s, uint8_t *config)
{
	struct nodes members = {0}, reads = {0};
	uint32_t kept = 0, before;

	do {
		before = kept;
		for (uint32_t v = 0; v < s->graph->n_nodes && fusion_of(s)->rules->once; v++) {
			uint32_t at = NONE;
			if (!fusion_groupable(s->graph, v) || !fusion_kept(s, config, v))
				continue;
			do {
				members.n = 0;
				group_walk(s, config, v, &members);
				at = find_culprit(s, config, &members, &reads);
				if (at != NONE) {
					config[s->site_of[at]] = 0;
					kept++;
				}
			} while (at != NONE);
		}
	} while (kept > before);
	nodes_release(&members);
	nodes_release(&reads);
	return kept;
}
