/*
 * weld_write.c - writes rows as calls of computations of their own.
 *
 * What a row computes for others keeps its id: as the call, if it is one value, or else as an element of the tuple that
 * the call returns. So whatever reads it stays as it is. Inside, instructions keep their names and get new ids.
 */
#include "graph/weld_own.h"

#include <string.h>
#include "hlo/ids.h"
#include "hlo/pack.h"

#define MARK ".weld" /* in a new name, before its number */

struct writer {
	const struct welder *w;
	const struct graph *g;
	struct arena mem;
	struct ids ids;
	int64_t next_comp;
	uint32_t next_name;
	int64_t *inside; /* by node: its id in the row that is being written, if it is there; else 0 */
	Hlo__HloComputationProto **comp;
	size_t n_comps;
};

/* The computation of a row. */
struct callee {
	Hlo__HloComputationProto *c;
	Hlo__ProgramShapeProto *shape;
	uint32_t *reads; /* nodes outside, by number of parameter */
};

static Hlo__HloInstructionProto *make(struct writer *x, const char *opcode, const Hlo__ShapeProto *shape, int64_t id)
{
	Hlo__HloInstructionProto *in = arena_alloc(&x->mem, sizeof *in);

	hlo__hlo_instruction_proto__init(in);
	in->opcode = (char *)opcode;
	in->name = arena_printf(&x->mem, "%s" MARK "%u", opcode, x->next_name++);
	in->shape = (Hlo__ShapeProto *)shape;
	in->id = id;
	return in;
}

static void set_operands(struct writer *x, Hlo__HloInstructionProto *in, size_t n)
{
	in->operand_ids = ARENA_NEW(&x->mem, n, int64_t);
	in->n_operand_ids = n;
}

static int64_t add(struct callee *e, Hlo__HloInstructionProto *in)
{
	in->id = e->c->id << 32 | (int64_t)(e->c->n_instructions + 1);
	e->c->instructions[e->c->n_instructions++] = in;
	return in->id;
}

/* The id, in the row, of a value that it reads: its own, or a parameter made at the first use. */
static int64_t read_inside(struct writer *x, struct callee *e, uint32_t v)
{
	const Hlo__ShapeProto *shape = x->g->node[v].proto->shape;
	Hlo__HloInstructionProto *p;

	if (x->inside[v])
		return x->inside[v];
	p = make(x, "parameter", shape, 0);
	p->parameter_number = (int64_t)e->shape->n_parameters;
	e->reads[e->shape->n_parameters] = v;
	e->shape->parameters[e->shape->n_parameters++] = p->shape;
	e->shape->parameter_names[e->shape->n_parameter_names++] = p->name;
	return x->inside[v] = add(e, p);
}

static void move_inside(struct writer *x, struct callee *e, uint32_t v)
{
	const struct node *n = &x->g->node[v];
	Hlo__HloInstructionProto *in = arena_dup(&x->mem, n->proto, sizeof *in);

	set_operands(x, in, n->n_operands);
	for (uint32_t k = 0; k < n->n_operands; k++)
		in->operand_ids[k] = read_inside(x, e, node_operands(x->g, v)[k]);
	x->inside[v] = add(e, in);
}

static bool is_result(const struct writer *x, uint32_t v)
{
	bool is = (x->g->node[v].flags & NODE_ROOT) || x->g->node[v].n_users == 0;

	for (uint32_t k = 0; k < x->g->node[v].n_users; k++)
		is = is || x->w->row[node_users(x->g, v)[k]] != x->w->row[v];
	return is;
}

static struct callee begin(struct writer *x, const uint32_t *row, size_t n)
{
	struct callee e = {.c = arena_alloc(&x->mem, sizeof *e.c), .shape = arena_alloc(&x->mem, sizeof *e.shape)};
	size_t most = 0;

	hlo__hlo_computation_proto__init(e.c);
	hlo__program_shape_proto__init(e.shape);
	for (size_t i = 0; i < n; i++)
		most += x->g->node[row[i]].n_operands;
	e.c->id = x->next_comp++;
	e.c->name = arena_printf(&x->mem, "row" MARK "%u", x->next_name++);
	e.c->program_shape = e.shape;
	e.c->instructions = ARENA_NEW(&x->mem, n + most + 1, Hlo__HloInstructionProto *);
	e.shape->parameters = ARENA_NEW(&x->mem, most, Hlo__ShapeProto *);
	e.shape->parameter_names = ARENA_NEW(&x->mem, most, char *);
	e.reads = ARENA_NEW(&x->mem, most, uint32_t);
	return e;
}

/* The root of the row: its one result, or a tuple of them. */
static void end(struct writer *x, struct callee *e, const uint32_t *result, size_t n)
{
	Hlo__HloInstructionProto *tuple;
	Hlo__ShapeProto *shape;

	e->c->root_id = x->inside[result[0]];
	e->shape->result = x->g->node[result[0]].proto->shape;
	if (n == 1)
		return;
	shape = arena_alloc(&x->mem, sizeof *shape);
	hlo__shape_proto__init(shape);
	shape->element_type = DT_TUPLE;
	shape->n_tuple_shapes = n;
	shape->tuple_shapes = ARENA_NEW(&x->mem, n, Hlo__ShapeProto *);
	tuple = make(x, "tuple", shape, 0);
	set_operands(x, tuple, n);
	for (size_t i = 0; i < n; i++) {
		shape->tuple_shapes[i] = x->g->node[result[i]].proto->shape;
		tuple->operand_ids[i] = x->inside[result[i]];
	}
	e->c->root_id = add(e, tuple);
	e->shape->result = shape;
}

static Hlo__FrontendAttributes *tag(struct writer *x)
{
	Hlo__FrontendAttributes *all = arena_alloc(&x->mem, sizeof *all);
	Hlo__FrontendAttribute *one = arena_alloc(&x->mem, sizeof *one);

	hlo__frontend_attributes__init(all);
	hlo__frontend_attribute__init(one);
	one->key = (char *)x->w->how->tag;
	one->value = (char *)"true";
	all->map = ARENA_NEW(&x->mem, 1, Hlo__FrontendAttribute *);
	all->map[0] = one;
	all->n_map = 1;
	return all;
}

/* Writes the row's computation, and adds the call, and the elements of what it returns, to the caller. */
static void write_row(struct writer *x, Hlo__HloComputationProto *caller, const uint32_t *row, size_t n)
{
	uint32_t *result = ARENA_NEW(&x->mem, n, uint32_t);
	struct callee e = begin(x, row, n);
	Hlo__HloInstructionProto *call;
	size_t n_results = 0;

	for (size_t i = 0; i < n; i++) {
		move_inside(x, &e, row[i]);
		if (is_result(x, row[i]))
			result[n_results++] = row[i];
	}
	end(x, &e, result, n_results);
	call = make(x, "call", e.shape->result, x->g->node[result[0]].proto->id);
	if (n_results > 1)
		call->id = ids_next(&x->ids, x->g->node[result[0]].proto);
	set_operands(x, call, e.shape->n_parameters);
	for (size_t i = 0; i < e.shape->n_parameters; i++)
		call->operand_ids[i] = x->g->node[e.reads[i]].proto->id;
	call->called_computation_ids = &e.c->id;
	call->n_called_computation_ids = 1;
	call->frontend_attributes = tag(x);
	caller->instructions[caller->n_instructions++] = call;
	for (size_t i = 0; n_results > 1 && i < n_results; i++) {
		const Hlo__HloInstructionProto *was = x->g->node[result[i]].proto;
		Hlo__HloInstructionProto *element = make(x, "get-tuple-element", was->shape, was->id);
		set_operands(x, element, 1);
		element->operand_ids[0] = call->id;
		element->tuple_index = (int64_t)i;
		caller->instructions[caller->n_instructions++] = element;
	}
	for (size_t i = 0; i < n; i++)
		x->inside[row[i]] = 0;
	for (size_t i = 0; i < e.shape->n_parameters; i++)
		x->inside[e.reads[i]] = 0;
	x->comp[x->n_comps++] = e.c;
}

static void write_comp(struct writer *x, uint32_t c)
{
	const struct comp *comp = &x->g->comp[c];
	const uint32_t *o = x->w->order + comp->first;
	Hlo__HloComputationProto *out = arena_dup(&x->mem, comp->proto, sizeof *out);

	out->instructions = ARENA_NEW(&x->mem, 2 * comp->n_nodes, Hlo__HloInstructionProto *);
	out->n_instructions = 0;
	for (uint32_t i = 0, next; i < comp->n_nodes; i = next) {
		uint32_t row = x->w->row[o[i]];
		for (next = i + 1; row != NONE && next < comp->n_nodes && x->w->row[o[next]] == row; next++)
			;
		if (row == NONE)
			out->instructions[out->n_instructions++] = x->g->node[o[i]].proto;
		else
			write_row(x, out, o + i, next - i);
	}
	x->comp[x->n_comps++] = out;
}

void weld_write(const struct welder *w, struct buf *out)
{
	const struct graph *g = w->g;
	struct writer x = {.w = w, .g = g, .ids = ids_of(g->module), .next_name = ids_unnamed(g->module, MARK)};
	Hlo__HloModuleProto m = *g->module;

	x.comp = ARENA_NEW(&x.mem, g->n_comps + w->n_rows, Hlo__HloComputationProto *);
	x.inside = ARENA_NEW(&x.mem, g->n_nodes, int64_t);
	x.next_comp = ids_next_comp(g->module);
	for (uint32_t c = 0; c < g->n_comps; c++)
		if (w->wanted[c])
			write_comp(&x, c);
		else
			x.comp[x.n_comps++] = g->comp[c].proto;
	m.computations = x.comp;
	m.n_computations = x.n_comps;
	m.schedule = NULL;
	pack_message(&m.base, out);
	arena_release(&x.mem);
}
