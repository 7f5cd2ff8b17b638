/*
 * apply.c - writes the module to compile for a configuration.
 *
 * Each compiled computation is written anew. Its kept instructions come in their old order, each as the
 * group that computes it; the computations of its fusions stand before it in the module. A group reads
 * only ancestors of its root, so the old order remains topological. Values keep their ids, and a fusion
 * has the id of its root. So nothing else changes: not the root of the computation, not control
 * dependencies, not aliases or donated parameters, which name the entry's parameters and outputs. The
 * schedule no longer fits and is cleared.
 */
#include "space/fusion/emit.h"
#include "hlo/pack.h"

static Hlo__HloComputationProto *rewrite(struct emitter *em, uint32_t comp)
{
	const struct graph *g = em->s->graph;
	const struct comp *c = &g->comp[comp];
	Hlo__HloComputationProto *out = arena_dup(&em->mem, c->proto, sizeof *out);
	struct instrs l = {0};
	struct nodes members = {0};

	for (uint32_t v = c->first; v < c->first + c->n_nodes; v++) {
		if (!fusion_kept(em->s, em->config, v))
			continue;
		members.n = 0;
		group_walk(em->s, em->config, v, &members);
		instrs_add(em, &l, emit_group(em, &members, g->node[v].proto->id));
	}
	nodes_release(&members);
	out->instructions = l.v;
	out->n_instructions = l.n;
	return out;
}

int fusion_apply(struct space *s, const uint8_t *config, struct buf *module, struct err *err)
{
	const struct graph *g = s->graph;
	Hlo__HloModuleProto m = *g->module;
	struct emitter em;

	(void)err;
	emitter_init(&em, s, false);
	em.config = config;
	for (uint32_t c = 0; c < g->n_comps; c++) {
		bool ours = comp_is_compiled(&g->comp[c]);
		Hlo__HloComputationProto *out = ours ? rewrite(&em, c) : g->comp[c].proto;
		MEM_GROW(&em.comp, &em.cap_comps, em.n_comps + 1);
		em.comp[em.n_comps++] = out;
	}
	m.computations = em.comp;
	m.n_computations = em.n_comps;
	m.schedule = NULL;
	pack_message(&m.base, module);
	emitter_release(&em);
	return 0;
}
