/*
 * emit.c - writes groups as fusion instructions.
 *
 * The inside of a group lists its members in order. Before each member stand the values that it reads, if
 * they are not there yet: a copy of a scalar constant, or a parameter. A value can be there twice: as a
 * member for the readers that absorb it, and as a parameter for those that do not. So there are two maps.
 *
 * An id is (computation << 32 | number within), as newer versions of XLA demand.
 */
#include <string.h>
#include "hlo/ids.h"
#include "space/fusion/emit.h"

#define MARK ".v" /* in a new name, before its number */

void emitter_init(struct emitter *em, struct space *s, bool canonical)
{
	const struct graph *g = s->graph;

	*em = (struct emitter){.s = s, .canonical = canonical, .next_comp = 1};
	if (canonical) {
		em->applied = ARENA_NEW(&em->mem, g->n_comps, uint32_t);
		em->home = emit_comp_id(em);
		return;
	}
	for (uint32_t c = 0; c < g->n_comps; c++)
		if (g->comp[c].proto->id >= em->next_comp)
			em->next_comp = (uint32_t)g->comp[c].proto->id + 1;
	em->next_name = ids_unnamed(g->module, MARK);
}

void emitter_release(struct emitter *em)
{
	mem_free(em->comp);
	arena_release(&em->mem);
	*em = (struct emitter){0};
}

void instrs_add(struct emitter *em, struct instrs *l, Hlo__HloInstructionProto *in)
{
	if (l->n == l->cap) {
		size_t cap = l->cap ? 2 * l->cap : 16;
		Hlo__HloInstructionProto **v = arena_alloc(&em->mem, cap * sizeof *v);
		if (l->n)
			memcpy(v, l->v, l->n * sizeof *v);
		l->v = v;
		l->cap = cap;
	}
	l->v[l->n++] = in;
}

/* The canonical name of that number, "x.v12". A large program is cut into millions of them, so it is not formatted. */
static char *canonical_name(struct arena *mem, uint32_t number)
{
	char name[sizeof "x.v4294967295"], *at = name + sizeof name - 1;

	*at = 0;
	do
		*--at = (char)('0' + number % 10);
	while (number /= 10);
	at -= 3;
	memcpy(at, "x.v", 3);
	return arena_dup(mem, at, (size_t)(name + sizeof name - at));
}

static char *fresh_name(struct emitter *em, const char *stem)
{
	em->next_name++;
	return em->canonical ? canonical_name(&em->mem, em->next_name)
			     : arena_printf(&em->mem, "%s" MARK "%u", stem, em->next_name);
}

int64_t emit_id(uint32_t comp_id, size_t number)
{
	return (int64_t)comp_id << 32 | (int64_t)number;
}

uint32_t emit_comp_id(struct emitter *em)
{
	return em->next_comp++;
}

Hlo__HloComputationProto *emit_comp(struct emitter *em, struct instrs *l, uint32_t comp_id, int64_t root)
{
	Hlo__HloComputationProto *c = arena_alloc(&em->mem, sizeof *c);
	Hlo__ProgramShapeProto *shape = arena_alloc(&em->mem, sizeof *shape);

	hlo__hlo_computation_proto__init(c);
	hlo__program_shape_proto__init(shape);
	c->name = fresh_name(em, "vantage");
	c->id = comp_id;
	c->root_id = root;
	c->instructions = l->v;
	c->n_instructions = l->n;
	c->program_shape = shape;
	shape->parameters = arena_alloc(&em->mem, l->n * sizeof *shape->parameters);
	shape->parameter_names = arena_alloc(&em->mem, l->n * sizeof *shape->parameter_names);
	for (size_t i = 0; i < l->n; i++) {
		if (l->v[i]->id == root)
			shape->result = l->v[i]->shape;
		if (strcmp(l->v[i]->opcode, "parameter") != 0)
			continue;
		shape->parameters[l->v[i]->parameter_number] = l->v[i]->shape;
		shape->parameter_names[l->v[i]->parameter_number] = l->v[i]->name;
		shape->n_parameters++;
		shape->n_parameter_names++;
	}
	MEM_GROW(&em->comp, &em->cap_comps, em->n_comps + 1);
	em->comp[em->n_comps++] = c;
	return c;
}

/* In canonical manner: returns the copy of an applied computation (a reducer), made at its first use. */
static uint32_t copy_applied(struct emitter *em, uint32_t comp)
{
	const struct graph *g = em->s->graph;
	const struct comp *c = &g->comp[comp];
	struct instrs l = {0};
	uint32_t id;

	if (em->applied[comp])
		return em->applied[comp];
	for (uint32_t v = c->first; v < c->first + c->n_nodes; v++)
		for (uint32_t k = 0; k < g->node[v].n_called; k++)
			copy_applied(em, node_calls(g, v)[k]);
	id = em->applied[comp] = emit_comp_id(em);
	for (uint32_t v = c->first; v < c->first + c->n_nodes; v++) {
		Hlo__HloInstructionProto *in = emit_copy(em, v, emit_id(id, v - c->first + 1));
		for (uint32_t k = 0; k < g->node[v].n_operands; k++)
			in->operand_ids[k] = emit_id(id, node_operands(g, v)[k] - c->first + 1);
		instrs_add(em, &l, in);
	}
	emit_comp(em, &l, id, emit_id(id, c->root - c->first + 1));
	return id;
}

Hlo__HloInstructionProto *emit_copy(struct emitter *em, uint32_t v, int64_t id)
{
	const struct node *n = &em->s->graph->node[v];
	Hlo__HloInstructionProto *in = arena_dup(&em->mem, n->proto, sizeof *in);

	in->id = id;
	in->name = fresh_name(em, n->proto->name);
	in->operand_ids = arena_alloc(&em->mem, n->n_operands * sizeof *in->operand_ids);
	if (fusion_was_library(em->s->graph, v))
		in->backend_config = (ProtobufCBinaryData){0}; /* those of the kernel that it was */
	if (!em->canonical)
		return in;
	in->metadata = NULL;
	in->sharding = NULL;
	in->called_computation_ids = arena_alloc(&em->mem, n->n_called * sizeof *in->called_computation_ids);
	for (uint32_t k = 0; k < n->n_called; k++)
		in->called_computation_ids[k] = copy_applied(em, node_calls(em->s->graph, v)[k]);
	return in;
}

static Hlo__HloInstructionProto *emit_named(struct emitter *em, const char *opcode, const char *stem,
	const Hlo__ShapeProto *shape, int64_t id)
{
	Hlo__HloInstructionProto *in = arena_alloc(&em->mem, sizeof *in);

	hlo__hlo_instruction_proto__init(in);
	in->opcode = (char *)opcode;
	in->name = fresh_name(em, stem);
	in->id = id;
	in->shape = (Hlo__ShapeProto *)shape;
	return in;
}

Hlo__HloInstructionProto *emit_op(struct emitter *em, const char *opcode, const Hlo__ShapeProto *shape, int64_t id)
{
	return emit_named(em, opcode, opcode, shape, id);
}

Hlo__HloInstructionProto *emit_parameter(
	struct emitter *em, const Hlo__ShapeProto *shape, uint32_t number, int64_t id)
{
	Hlo__HloInstructionProto *in = emit_op(em, "parameter", shape, id);

	in->parameter_number = number;
	return in;
}

void emit_call(struct emitter *em, Hlo__HloInstructionProto *in, uint32_t comp_id)
{
	in->called_computation_ids = ARENA_NEW(&em->mem, 1, int64_t);
	in->called_computation_ids[0] = comp_id;
	in->n_called_computation_ids = 1;
}

int64_t emit_value_id(const struct emitter *em, uint32_t v)
{
	if (!em->canonical)
		return em->s->graph->node[v].proto->id;
	return emit_id(em->home, fusion_of(em->s)->value.to[v]);
}

/* The fused computation that is being written. */
struct inside {
	struct instrs l;
	uint32_t id, n_reads;
	struct nodes reads; /* values that are parameters, in order */
	bool reads_constants; /* scalar ones are among them */
};

/* The id, inside the fusion, of what operand edge e reads; writes a parameter or constant at its first use. */
static int64_t operand_inside(struct emitter *em, struct inside *in, uint32_t e)
{
	struct fusion *f = fusion_of(em->s);
	const struct graph *g = em->s->graph;
	uint32_t p = g->edges[e];

	if (fusion_absorbed(em->s, em->config, e))
		return emit_id(in->id, f->inner.to[p]);
	if (!node_map_has(&f->outer, p)) {
		uint32_t number = (uint32_t)in->l.n + 1;
		node_map_set(&f->outer, p, number);
		if ((g->node[p].flags & NODE_SCALAR_CONST) && !in->reads_constants) {
			instrs_add(em, &in->l, emit_copy(em, p, emit_id(in->id, number)));
		} else {
			instrs_add(em, &in->l,
				emit_parameter(em, g->node[p].proto->shape, (uint32_t)in->reads.n,
					emit_id(in->id, number)));
			nodes_add(&in->reads, p);
		}
	}
	return emit_id(in->id, f->outer.to[p]);
}

static void member_inside(struct emitter *em, struct inside *in, uint32_t v)
{
	const struct node *n = &em->s->graph->node[v];
	int64_t *ids = arena_alloc(&em->mem, n->n_operands * sizeof *ids);
	Hlo__HloInstructionProto *copy;
	uint32_t number;

	for (uint32_t k = 0; k < n->n_operands; k++)
		ids[k] = operand_inside(em, in, n->operand + k);
	number = (uint32_t)in->l.n + 1;
	node_map_set(&fusion_of(em->s)->inner, v, number);
	copy = emit_copy(em, v, emit_id(in->id, number));
	copy->operand_ids = ids;
	instrs_add(em, &in->l, copy);
}

static Hlo__HloInstructionProto *emit_bare(struct emitter *em, uint32_t v, int64_t id)
{
	const struct graph *g = em->s->graph;
	Hlo__HloInstructionProto *in;

	if (!em->canonical && !fusion_was_library(g, v))
		return g->node[v].proto;
	in = emit_copy(em, v, id);
	for (uint32_t k = 0; k < g->node[v].n_operands; k++)
		in->operand_ids[k] = emit_value_id(em, node_operands(g, v)[k]);
	return in;
}

/*
 * Does XLA:GPU's fusion pass put a scalar constant into this instruction, so that it becomes a fusion by itself? Later
 * passes join fusions that they would not join with an instruction.
 */
static bool takes_constant(const struct space *s, uint32_t v)
{
	const struct graph *g = s->graph;
	bool takes = false;

	for (uint32_t k = 0; k < g->node[v].n_operands; k++)
		takes |= (g->node[node_operands(g, v)[k]].flags & NODE_SCALAR_CONST) != 0;
	return takes && fusion_of(s)->by_input && fusion_groupable(g, v) &&
	       fusion_takes_part(fusion_of(s)->rules, g->node[v].opcode);
}

Hlo__HloInstructionProto *emit_group(struct emitter *em, const struct nodes *members, int64_t id)
{
	const struct graph *g = em->s->graph;
	uint32_t root = members->v[members->n - 1];
	bool library = fusion_is_library(em->s, em->config, members);
	struct inside in = {.reads_constants = group_reads_constants(em->s, members)};
	Hlo__HloInstructionProto *fusion;

	if (members->n == 1 && !library && !takes_constant(em->s, root))
		return emit_bare(em, root, id);
	for (size_t i = 0; i < members->n; i++) /* reducers come before what calls them */
		for (uint32_t k = 0; em->canonical && k < g->node[members->v[i]].n_called; k++)
			copy_applied(em, node_calls(g, members->v[i])[k]);
	in.id = emit_comp_id(em);
	node_map_clear(&fusion_of(em->s)->inner);
	node_map_clear(&fusion_of(em->s)->outer);
	for (size_t i = 0; i < members->n; i++)
		member_inside(em, &in, members->v[i]);
	emit_comp(em, &in.l, in.id, in.l.v[in.l.n - 1]->id);

	fusion = emit_named(em, "fusion", g->node[root].proto->name, g->node[root].proto->shape, id);
	fusion->fusion_kind = library ? (char *)"kCustom" : (char *)group_kind(em->s, members);
	if (library)
		fusion->backend_config = g->node[root].proto->backend_config;
	fusion->metadata = em->canonical ? NULL : g->node[root].proto->metadata;
	emit_call(em, fusion, in.id);
	fusion->operand_ids = arena_alloc(&em->mem, in.reads.n * sizeof *fusion->operand_ids);
	fusion->n_operand_ids = in.reads.n;
	for (size_t i = 0; i < in.reads.n; i++)
		fusion->operand_ids[i] = emit_value_id(em, in.reads.v[i]);
	nodes_release(&in.reads);
	return fusion;
}
