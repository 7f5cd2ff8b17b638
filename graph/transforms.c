/*
 * transforms.c - see transforms.h.
 *
 * All transforms of a computation run one after the other if each depends on the one before it in the order of the
 * nodes. So one pass suffices: it marks what depends on the last transform seen. What calls a computation with a
 * transform counts as one.
 */
#include "graph/transforms.h"

#include <string.h>
#include "base/mem.h"

struct pass {
	const struct graph *g;
	bool *holds; /* [n_comps] the computation has a transform */
	bool *after; /* [n_nodes] the node is, or depends on, the last transform of its computation so far */
};

static bool is_transform(const struct pass *p, uint32_t v)
{
	bool is = p->g->node[v].opcode == OP_FFT;

	for (uint32_t i = 0; i < p->g->node[v].n_called; i++)
		is = is || p->holds[node_calls(p->g, v)[i]];
	return is;
}

static bool depends(const struct pass *p, uint32_t v)
{
	bool does = false;

	for (uint32_t i = 0; i < p->g->node[v].n_operands; i++)
		does = does || p->after[node_operands(p->g, v)[i]];
	return does;
}

/* Is there a transform in the computation that need not wait for the one before it? */
static bool some_at_once(struct pass *p, uint32_t c)
{
	const struct comp *comp = &p->g->comp[c];

	for (uint32_t v = comp->first; v < comp->first + comp->n_nodes; v++) {
		p->after[v] = depends(p, v);
		if (!is_transform(p, v))
			continue;
		if (p->holds[c] && !p->after[v])
			return true;
		p->holds[c] = true;
		memset(p->after + comp->first, 0, v - comp->first);
		p->after[v] = true;
	}
	return false;
}

bool transforms_at_once(const struct graph *g)
{
	struct pass p = {g, MEM_NEW(g->n_comps, bool), MEM_NEW(g->n_nodes, bool)};
	bool found = false;

	for (uint32_t i = 0; i < g->n_comps && !found; i++)
		found = some_at_once(&p, i);
	mem_free(p.holds);
	mem_free(p.after);
	return found;
}
