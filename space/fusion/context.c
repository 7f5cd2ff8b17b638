/*
 * context.c - tells the learner, in numbers, what a configuration means for a node (enum space_context).
 *
 * For each node: its choice, whether its value is written to memory, how many groups compute it, and the
 * size, inputs, bytes and operations of the largest of them. If the caller asks for a few nodes, their
 * groups are found by walking up and down; if for many, all groups are walked once.
 */
#include <string.h>
#include "space/fusion/own.h"

struct measure {
	uint32_t members, inputs;
	double bytes, flops;
};

/* Measures what a group reads, writes and computes. */
static struct measure measure_group(struct space *s, const uint8_t *config, const struct nodes *members)
{
	const struct graph *g = s->graph;
	struct node_map *seen = &fusion_of(s)->outer;
	struct measure m = {.members = (uint32_t)members->n};

	node_map_clear(seen);
	m.bytes = (double)g->node[members->v[members->n - 1]].bytes;
	for (size_t i = 0; i < members->n; i++) {
		const struct node *n = &g->node[members->v[i]];
		m.flops += n->flops;
		for (uint32_t e = n->operand; e < n->operand + n->n_operands; e++) {
			uint32_t p = g->edges[e];
			if (fusion_absorbed(s, config, e) || node_map_has(seen, p) ||
				(g->node[p].flags & NODE_SCALAR_CONST))
				continue;
			node_map_set(seen, p, 0);
			m.inputs++;
			m.bytes += (double)g->node[p].bytes;
		}
	}
	return m;
}

static void keep_largest(float *row, const struct measure *m)
{
	row[CTX_COPIES] += 1;
	if ((float)m->members <= row[CTX_GROUP_NODES])
		return;
	row[CTX_GROUP_NODES] = (float)m->members;
	row[CTX_GROUP_INPUTS] = (float)m->inputs;
	row[CTX_GROUP_BYTES] = (float)m->bytes;
	row[CTX_GROUP_FLOPS] = (float)m->flops;
}

static void own_part(const struct space *s, const uint8_t *config, uint32_t v, float *row)
{
	memset(row, 0, CTX_COUNT * sizeof *row);
	row[CTX_KEPT] = fusion_kept(s, config, v);
}

static void context_of_few(struct space *s, const uint8_t *config, const uint32_t *nodes, uint32_t n, float *out)
{
	struct nodes roots = {0}, members = {0};

	for (uint32_t i = 0; i < n; i++) {
		roots.n = 0;
		group_roots(s, config, nodes[i], &roots);
		for (size_t r = 0; r < roots.n; r++) {
			struct measure m;
			members.n = 0;
			group_walk(s, config, roots.v[r], &members);
			m = measure_group(s, config, &members);
			keep_largest(out + (size_t)i * CTX_COUNT, &m);
		}
	}
	nodes_release(&roots);
	nodes_release(&members);
}

static void context_of_many(struct space *s, const uint8_t *config, const uint32_t *nodes, uint32_t n, float *out)
{
	struct node_map *row = &fusion_of(s)->value;
	struct nodes members = {0};

	node_map_clear(row);
	for (uint32_t i = 0; i < n; i++)
		node_map_set(row, nodes[i], i);
	for (uint32_t v = 0; v < s->graph->n_nodes; v++) {
		struct measure m;
		if (!fusion_kept(s, config, v))
			continue;
		members.n = 0;
		group_walk(s, config, v, &members);
		m = measure_group(s, config, &members);
		for (size_t i = 0; i < members.n; i++)
			if (node_map_has(row, members.v[i]))
				keep_largest(out + (size_t)row->to[members.v[i]] * CTX_COUNT, &m);
	}
	nodes_release(&members);
}

void fusion_context(struct space *s, const uint8_t *config, const uint32_t *nodes, uint32_t n, float *out)
{
	for (uint32_t i = 0; i < n; i++)
		own_part(s, config, nodes[i], out + (size_t)i * CTX_COUNT);
	if (n > s->graph->n_nodes / 4)
		context_of_many(s, config, nodes, n, out);
	else
		context_of_few(s, config, nodes, n, out);
}

void fusion_touched(struct space *s, const uint8_t *a, const uint8_t *b, const uint32_t *changed,
	uint32_t n_changed, uint32_t **nodes, size_t *n, size_t *cap)
{
	struct nodes roots[2] = {0}, members = {0};

	fusion_affected(s, a, b, changed, n_changed, &roots[0], &roots[1]);
	for (uint32_t i = 0; i < n_changed; i++)
		nodes_add(&members, s->site[changed[i]].node);
	for (int side = 0; side < 2; side++)
		for (size_t i = 0; i < roots[side].n; i++)
			group_walk(s, side ? b : a, roots[side].v[i], &members);
	nodes_sort(&members);
	MEM_GROW(nodes, cap, *n + members.n);
	if (members.n)
		memcpy(*nodes + *n, members.v, members.n * sizeof **nodes);
	*n += members.n;
	nodes_release(&members);
	nodes_release(&roots[0]);
	nodes_release(&roots[1]);
}
