/*
 * fusion_effect.c - what one flip would do to the groups it changes.
 *
 * XLA:CPU computes a group element by element: for each element of the result it asks the operands
 * for the elements it needs, and an absorbed operand is computed on the spot, as often as it is asked
 * for. So how often each member is computed follows from the root down: an elementwise reader asks
 * once per element, a reduction once per element it folds, a product along the contracted dimension.
 * That is what makes absorbing cheap producers good and absorbing them under a reader that asks often
 * ruinous. Values the emitter caches within one element are counted as if they were not.
 */
#include <string.h>
#include "graph/fusion_own.h"

/* How many elements of operand p consumer c asks for, per element of its own. */
static double asks(const struct graph *g, uint32_t c, uint32_t p)
{
	const struct node *n = &g->node[c], *o = &g->node[p];
	double own = n->elements ? (double)n->elements : 1, theirs = (double)o->elements;

	switch (n->opcode) {
	case OP_REDUCE:
		return theirs > own ? theirs / own : 1;
	case OP_DOT:
		return theirs > own ? theirs / own : (double)n->flops / (2 * own);
	case OP_CONCATENATE:
		return theirs / own;
	case OP_DYNAMIC_SLICE:
	case OP_DYNAMIC_UPDATE_SLICE:
	case OP_GATHER:
	case OP_PAD:
		return o->elements == 1 || theirs > own ? 1 : theirs / own;
	default:
		return 1;
	}
}

/* Adds one group; `times` (the map `inner`) is not needed across groups. */
static void add_group(struct space *s, const uint8_t *config, const struct nodes *members, double *asked, float *out)
{
	const struct graph *g = s->graph;
	struct node_map *row = &fusion_of(s)->inner, *seen = &fusion_of(s)->outer;
	uint32_t root = members->v[members->n - 1];

	node_map_clear(row);
	node_map_clear(seen);
	for (size_t i = 0; i < members->n; i++) {
		node_map_set(row, members->v[i], (uint32_t)i);
		asked[i] = 0;
	}
	asked[members->n - 1] = (double)g->node[root].elements;
	for (size_t i = members->n; i-- > 0;) { /* readers before what they read */
		const struct node *n = &g->node[members->v[i]];
		double each = n->elements ? n->flops / (double)n->elements : 0;
		out[EFFECT_FLOPS] += (float)(asked[i] * each);
		for (uint32_t e = n->operand; e < n->operand + n->n_operands; e++) {
			uint32_t p = g->edges[e];
			double times = asked[i] * asks(g, members->v[i], p);
			if (g->node[p].flags & NODE_SCALAR_CONST)
				continue;
			if (fusion_absorbed(s, config, e)) {
				asked[row->to[p]] += times;
				continue;
			}
			out[EFFECT_LOADS] += (float)times;
			if (!node_map_has(seen, p))
				out[EFFECT_READ] += (float)g->node[p].bytes;
			node_map_set(seen, p, 0);
		}
	}
	out[EFFECT_PARTS] += 1;
	out[EFFECT_NODES] += (float)members->n;
	if ((float)members->n > out[EFFECT_LARGEST])
		out[EFFECT_LARGEST] = (float)members->n;
	out[EFFECT_WRITTEN] += (float)g->node[root].bytes;
	out[EFFECT_ITERATIONS] += (float)g->node[root].elements;
}

static void add_groups(struct space *s, const uint8_t *config, const struct nodes *roots, float *out)
{
	struct nodes members = {0};
	double *asked = NULL;
	size_t cap = 0;

	for (size_t i = 0; i < roots->n; i++) {
		members.n = 0;
		group_walk(s, config, roots->v[i], &members);
		MEM_GROW(&asked, &cap, members.n);
		add_group(s, config, &members, asked, out);
	}
	mem_free(asked);
	nodes_release(&members);
}

void fusion_effect(struct space *s, uint8_t *config, uint32_t site, uint8_t choice, float *out)
{
	struct nodes before = {0}, after = {0};
	uint8_t old = config[site];

	memset(out, 0, 2 * EFFECT_COUNT * sizeof *out);
	fusion_flipped(s, config, site, choice, &before, &after);
	add_groups(s, config, &before, out);
	config[site] = choice;
	add_groups(s, config, &after, out + EFFECT_COUNT);
	config[site] = old;
	nodes_release(&before);
	nodes_release(&after);
}
