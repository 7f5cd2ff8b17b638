/*
 * apply.c - makes the program that the compiler gets from a configuration.
 *
 * It lists every computation anew. Where a site takes effect, the instructions that its rule writes replace the
 * anchor. The last of them gets the anchor's id, name and shape, so the anchor's readers now read it, and
 * nothing else changes. Instructions that nobody reads any more are dropped. Nodes that are computed together are written where
 * the first of them stood; then all instructions are put in order again.
 */
#include "space/rewrite/own.h"

#include <stdlib.h>
#include <string.h>
#include "hlo/pack.h"
#include "hlo/shape.h"

void lines_add(struct lines *l, Hlo__HloInstructionProto *in)
{
	MEM_GROW(&l->v, &l->cap, l->n + 1);
	l->v[l->n++] = in;
}

int id_place_order(const void *a, const void *b)
{
	const struct id_place *x = a, *y = b;

	return (x->id > y->id) - (x->id < y->id);
}

static void mark(const struct id_place *p, size_t n, const int64_t *ids, size_t n_ids, uint8_t *live)
{
	for (size_t i = 0; i < n_ids; i++) {
		const struct id_place *at = bsearch(&(struct id_place){.id = ids[i]}, p, n, sizeof *p, id_place_order);
		if (at)
			live[at->at] = 1;
	}
}

static bool must_stay(const Hlo__HloInstructionProto *in)
{
	const struct opcode_facts *f = opcode_facts(opcode_of(in->opcode));

	return f->flags & SIDE_EFFECT || f->class == CLASS_CALL || f->class == CLASS_OUTSIDE || in->custom_call_has_side_effect ||
		in->n_control_predecessor_ids || strcmp(in->opcode, "parameter") == 0;
}

void lines_prune(struct lines *l, int64_t root)
{
	struct id_place *p = MEM_NEW(l->n + 1, struct id_place);
	uint8_t *live = MEM_NEW(l->n + 1, uint8_t);
	size_t kept = 0;

	for (size_t i = 0; i < l->n; i++)
		p[i] = (struct id_place){l->v[i]->id, (uint32_t)i};
	qsort(p, l->n, sizeof *p, id_place_order);
	for (size_t i = l->n; i-- > 0;) {
		const Hlo__HloInstructionProto *in = l->v[i];
		if (!live[i] && in->id != root && !must_stay(in))
			continue;
		live[i] = 1;
		mark(p, l->n, in->operand_ids, in->n_operand_ids, live);
		mark(p, l->n, in->control_predecessor_ids, in->n_control_predecessor_ids, live);
	}
	for (size_t i = 0; i < l->n; i++)
		if (live[i])
			l->v[kept++] = l->v[i];
	l->n = kept;
	mem_free(p);
	mem_free(live);
}

/* The place at which an id stands in a sorted list, or NONE. */
static uint32_t find(const struct id_place *p, size_t n, int64_t id)
{
	const struct id_place *at = bsearch(&(struct id_place){.id = id}, p, n, sizeof *p, id_place_order);

	return at ? at->at : NONE;
}

/* The first operand or control predecessor of a line that is not placed yet, or NONE. */
static uint32_t missing(const struct lines *l, const struct id_place *p, uint32_t line, const uint8_t *placed)
{
	const Hlo__HloInstructionProto *in = l->v[line];

	for (size_t k = 0; k < in->n_operand_ids + in->n_control_predecessor_ids; k++) {
		bool operand = k < in->n_operand_ids;
		uint32_t x = find(p, l->n, operand ? in->operand_ids[k] : in->control_predecessor_ids[k - in->n_operand_ids]);
		if (x != NONE && !placed[x])
			return x;
	}
	return NONE;
}

void lines_sort(struct lines *l)
{
	struct id_place *p = MEM_NEW(l->n + 1, struct id_place);
	uint32_t *stack = MEM_NEW(l->n + 1, uint32_t);
	uint8_t *placed = MEM_NEW(l->n + 1, uint8_t);
	struct lines out = {0};

	for (size_t i = 0; i < l->n; i++)
		p[i] = (struct id_place){l->v[i]->id, (uint32_t)i};
	qsort(p, l->n, sizeof *p, id_place_order);
	for (uint32_t i = 0; i < l->n; i++) {
		uint32_t n = 0;
		for (stack[n++] = i; n > 0;) {
			uint32_t line = stack[n - 1], x = placed[line] ? NONE : missing(l, p, line, placed);
			if (x != NONE) {
				BUG_ON(n > l->n); /* a circle */
				stack[n++] = x;
				continue;
			}
			if (!placed[line])
				lines_add(&out, l->v[line]);
			placed[line] = 1;
			n--;
		}
	}
	mem_free(l->v);
	mem_free(p);
	mem_free(stack);
	mem_free(placed);
	*l = out;
}

/* Gives a value the place of a node: its id, name and shape. Returns it, or a copy of it if others need it as it is. */
static Hlo__HloInstructionProto *replace(struct draft *d, Hlo__HloInstructionProto *value, bool fresh, const Hlo__HloInstructionProto *node)
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

static Hlo__HloComputationProto *rewrite_comp(const struct space *s, uint32_t comp, const uint8_t *real, struct draft *d)
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
	draft_begin(&d, g, &mem);
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
