/*
 * apply.c - makes the program that the compiler gets from a configuration.
 *
 * It lists every computation anew. Where a site takes effect, the instructions that its rule writes replace the anchor.
 * The last of them gets the anchor's id, name and shape, so the anchor's readers now read it, and nothing else changes.
 * Nodes that are computed together are written where the first of them stood; then all instructions are sorted again.
 * In the end, instructions that nobody reads any more are dropped.
 */
#include "space/rewrite/own.h"

#include <string.h>
#include "hlo/pack.h"
#include "hlo/shape.h"

/* Gives a value the place of a node: its id, name and shape. Returns it, or a copy of it if others need it as it is. */
static Hlo__HloInstructionProto *replace(struct draft *d, Hlo__HloInstructionProto *value, bool fresh,
	const Hlo__HloInstructionProto *node)
{
	if (!fresh)
		value = draft_unary(d, "copy", value);
	BUG_ON(!shape_same(value->shape, node->shape));
	value->id = node->id;
	value->name = node->name;
	value->shape = node->shape;
	return value;
}

void rewrite_draft(const struct space *s, uint32_t site, const struct offer *o, struct draft *d)
{
	const Hlo__HloInstructionProto *anchor = s->graph->node[s->site[site].node].proto;
	Hlo__HloInstructionProto *value;
	struct found f;

	rewrite_found(s, site, o, &f);
	draft_at(d, f.anchor);
	value = draft_convert(d, rule_write(rewrite_rule(s, o), d, &f, o->variant), anchor->shape->element_type);
	value = rule_kept(d, f.anchor, value, !rule_may_keep(rewrite_rule(s, o)));
	replace(d, value, d->n > 0 && value == d->v[d->n - 1], anchor);
}

void rewrite_draft_joined(const struct space *s, uint32_t leader, const uint8_t *real, struct draft *d)
{
	const struct graph *g = s->graph;
	const struct offer *first = NULL;
	uint32_t *node = arena_alloc(d->mem, (s->n_sites + 1) * sizeof *node), n = 0;
	Hlo__HloInstructionProto **value;

	node[n++] = leader;
	for (uint32_t i = 0; i < s->n_sites; i++) {
		const struct offer *o = rewrite_offer(s, i, real[i]);
		if (!o || o->leader != leader)
			continue;
		first = first ? first : o;
		node[n++] = s->site[i].node;
	}
	value = ARENA_NEW(d->mem, n, Hlo__HloInstructionProto *);
	draft_at(d, leader);
	d->widens = false; /* the same numbers are multiplied and added as before */
	rewrite_rule(s, first)->code->join(d, node, n, first->side, value);
	for (uint32_t i = 0; i < n; i++)
		replace(d, value[i], true, g->node[node[i]].proto);
}

static Hlo__HloComputationProto *rewrite_comp(const struct space *s, uint32_t comp, const uint8_t *real,
	struct draft *d)
{
	const struct graph *g = s->graph;
	const struct comp *c = &g->comp[comp];
	Hlo__HloComputationProto *out = arena_dup(d->mem, c->proto, sizeof *out);
	const uint8_t *leads = rewrite_of(s)->leads;
	struct lines l = {0};
	bool joined = false;

	for (uint32_t v = c->first; v < c->first + c->n_nodes; v++) {
		uint32_t site = s->site_of[v];
		const struct offer *o = site == NONE ? NULL : rewrite_offer(s, site, real[site]);
		d->n = 0;
		if (leads[v])
			rewrite_draft_joined(s, v, real, d);
		else if (!o)
			lines_add(&l, g->node[v].proto);
		else if (o->leader == NONE)
			rewrite_draft(s, site, o, d);
		joined |= leads[v];
		for (size_t i = 0; i < d->n; i++)
			lines_add(&l, d->v[i]);
	}
	if (joined)
		lines_sort(&l);
	lines_prune(&l, g->node[c->root].proto->id);
	out->instructions = arena_dup(d->mem, l.v, l.n * sizeof *l.v);
	out->n_instructions = l.n;
	mem_free(l.v);
	return out;
}

static bool has_site(const struct space *s, uint32_t comp, const uint8_t *real)
{
	const struct comp *c = &s->graph->comp[comp];

	for (uint32_t v = c->first; v < c->first + c->n_nodes; v++)
		if (s->site_of[v] != NONE && real[s->site_of[v]])
			return true;
	return false;
}

void rewrite_mark_leaders(const struct space *s, const uint8_t *real, uint8_t as)
{
	for (uint32_t i = 0; i < s->n_sites && rewrite_of(s)->has_joins; i++) {
		const struct offer *o = rewrite_offer(s, i, real[i]);
		if (o && o->leader != NONE)
			rewrite_of(s)->leads[o->leader] = as;
	}
}

int rewrite_apply_whole(struct space *s, const uint8_t *config, struct buf *module, struct err *err)
{
	const struct graph *g = s->graph;
	Hlo__HloModuleProto m = *g->module;
	Hlo__HloComputationProto **list;
	uint8_t *real = rewrite_of(s)->real;
	struct arena mem = {0};
	struct draft d;

	(void)err;
	rewrite_real(s, config, real);
	rewrite_mark_leaders(s, real, 1);
	draft_begin(&d, g, &rewrite_of(s)->fresh, &mem);
	list = ARENA_NEW(&mem, g->n_comps, Hlo__HloComputationProto *);
	for (uint32_t c = 0; c < g->n_comps; c++)
		list[c] = has_site(s, c, real) ? rewrite_comp(s, c, real, &d) : g->comp[c].proto;
	m.computations = arena_alloc(&mem, (g->n_comps + d.n_comps) * sizeof(*m.computations));
	memcpy(m.computations, d.comp ? d.comp : list, d.n_comps * sizeof *list);
	memcpy(m.computations + d.n_comps, list, g->n_comps * sizeof *list);
	m.n_computations = g->n_comps + d.n_comps;
	m.schedule = NULL;
	pack_message(&m.base, module);
	rewrite_mark_leaders(s, real, 0);
	draft_release(&d);
	arena_release(&mem);
	return 0;
}

int rewrite_apply(struct space *s, const uint8_t *config, struct buf *module, struct err *err)
{
	struct buf whole = {0};
	int rc = rewrite_apply_whole(s, config, rewrite_of(s)->given ? &whole : module, err);

	if (rc == 0 && rewrite_of(s)->given)
		rc = hoist_split(&whole, rewrite_of(s)->given, module, NULL, err);
	buf_release(&whole);
	return rc;
}

void rewrite_prepare(struct space *s, const uint8_t *config, struct buf *out)
{
	struct buf whole = {0};

	if (rewrite_apply_whole(s, config, &whole, NULL) == 0)
		hoist_split(&whole, rewrite_of(s)->given, NULL, out, NULL);
	buf_release(&whole);
}
