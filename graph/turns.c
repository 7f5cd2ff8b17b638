/*
 * turns.c - see the header.
 *
 * The state of the loop, and of every loop around it, gets one more element: the count. The loop's body adds
 * to it, the loops around pass it on, and the entry starts it at 0 and returns it.
 *
 * The rest of the program does not notice. Where a parameter or a loop became wider, the old instruction
 * becomes the tuple of all but the last element, and keeps its id, its shape and its readers.
 */
#include <math.h>
#include <string.h>
#include "hlo/ids.h"
#include "hlo/pack.h"
#include "graph/turns.h"

#define DEPTH 16 /* the deepest nesting of loops */

typedef Hlo__HloInstructionProto instruction;

struct rewrite {
	struct graph g; /* the copy that is changed */
	Hlo__ShapeProto *number;
	uint32_t names;
	int32_t step;
	/* The computation that is being rewritten. */
	Hlo__HloComputationProto *comp;
	instruction **v;
	size_t n, cap;
	struct ids ids;
	int64_t in, out; /* ids of the count at the start and at the end of the computation */
};

static instruction *blank(struct rewrite *r, const char *opcode, Hlo__ShapeProto *shape)
{
	instruction *in = ARENA_NEW(&r->g.mem, 1, instruction);

	hlo__hlo_instruction_proto__init(in);
	in->opcode = arena_strdup(&r->g.mem, opcode);
	in->shape = shape;
	return in;
}

static void operands(struct rewrite *r, instruction *in, const int64_t *ids, size_t n)
{
	in->operand_ids = arena_dup(&r->g.mem, ids, n * sizeof *ids);
	in->n_operand_ids = n;
}

static void append(struct rewrite *r, instruction *in)
{
	MEM_GROW(&r->v, &r->cap, r->n + 1);
	r->v[r->n++] = in;
}

static instruction *add(struct rewrite *r, const char *opcode, Hlo__ShapeProto *shape, const int64_t *ids, size_t n)
{
	instruction *in = blank(r, opcode, shape);

	in->name = arena_printf(&r->g.mem, "vantage_turns.%u", ++r->names);
	in->id = ids_next(&r->ids, r->comp->instructions[0]);
	operands(r, in, ids, n);
	append(r, in);
	return in;
}

static int64_t number(struct rewrite *r, int32_t value)
{
	instruction *in = add(r, "constant", r->number, NULL, 0);

	in->literal = ARENA_NEW(&r->g.mem, 1, Hlo__Literal);
	hlo__literal__init(in->literal);
	in->literal->shape = r->number;
	in->literal->n_s32s = 1;
	in->literal->s32s = arena_dup(&r->g.mem, &value, sizeof value);
	return in->id;
}

static Hlo__ShapeProto *wider(struct rewrite *r, const Hlo__ShapeProto *narrow)
{
	Hlo__ShapeProto *s = arena_dup(&r->g.mem, narrow, sizeof *s);
	size_t n = narrow->n_tuple_shapes;

	s->tuple_shapes = ARENA_NEW(&r->g.mem, n + 1, Hlo__ShapeProto *);
	if (n)
		memcpy(s->tuple_shapes, narrow->tuple_shapes, n * sizeof *s->tuple_shapes);
	s->tuple_shapes[n] = r->number;
	s->n_tuple_shapes = n + 1;
	return s;
}

/* Takes a tuple apart: returns the ids of its elements, with room for one more. */
static int64_t *apart(struct rewrite *r, int64_t tuple, const Hlo__ShapeProto *shape)
{
	int64_t *id = ARENA_NEW(&r->g.mem, shape->n_tuple_shapes + 1, int64_t);

	for (size_t i = 0; i < shape->n_tuple_shapes; i++) {
		instruction *e = add(r, "get-tuple-element", shape->tuple_shapes[i], &tuple, 1);
		e->tuple_index = (int64_t)i;
		id[i] = e->id;
	}
	return id;
}

/* Makes `old` the tuple of all elements of `wide` but the last; returns the id of the last. */
static int64_t narrow_again(struct rewrite *r, instruction *old, const instruction *wide)
{
	int64_t *id = apart(r, wide->id, wide->shape);
	size_t n = wide->shape->n_tuple_shapes - 1;
	instruction *in = blank(r, "tuple", old->shape);

	in->name = old->name;
	in->id = old->id;
	in->n_control_predecessor_ids = old->n_control_predecessor_ids;
	in->control_predecessor_ids = old->control_predecessor_ids;
	operands(r, in, id, n);
	append(r, in);
	return id[n];
}

static void widen_parameter(struct rewrite *r, instruction *old)
{
	r->in = narrow_again(r, old, add(r, "parameter", wider(r, old->shape), NULL, 0));
}

/* The parameter of a loop's body or condition: the state. */
static instruction *parameter_of(const Hlo__HloComputationProto *c)
{
	size_t i = 0;

	while (strcmp(c->instructions[i]->opcode, "parameter") != 0)
		i++;
	return c->instructions[i];
}

static void widen_loop(struct rewrite *r, instruction *old)
{
	size_t n = old->shape->n_tuple_shapes;
	int64_t *start = apart(r, old->operand_ids[0], old->shape);
	Hlo__ShapeProto *shape = wider(r, old->shape);
	instruction *loop;

	start[n] = r->in;
	int64_t state = add(r, "tuple", shape, start, n + 1)->id;
	loop = add(r, "while", shape, &state, 1);
	loop->called_computation_ids = old->called_computation_ids;
	loop->n_called_computation_ids = old->n_called_computation_ids;
	r->out = narrow_again(r, old, loop);
}

/* Begins to rewrite a computation: its parameter first, or, in the entry, the count; then what it holds. */
static void rewrite_comp(struct rewrite *r, uint32_t comp, uint32_t inner)
{
	const struct comp *c = &r->g.comp[comp];

	r->comp = c->proto;
	r->n = 0;
	if (comp == r->g.entry)
		r->in = number(r, 0);
	else
		/* First, because a loop that does not need the parameter may stand before it. */
		widen_parameter(r, parameter_of(c->proto));
	for (size_t i = 0; i < c->proto->n_instructions; i++) {
		instruction *in = c->proto->instructions[i];
		if (comp != r->g.entry && strcmp(in->opcode, "parameter") == 0)
			continue;
		if (inner != NONE && in == r->g.node[inner].proto)
			widen_loop(r, in);
		else
			append(r, in);
	}
}

/* Puts the computation into its message; where a shape is NULL, the old one stays. */
static void finish_comp(struct rewrite *r, int64_t root, Hlo__ShapeProto *state, Hlo__ShapeProto *result)
{
	Hlo__ProgramShapeProto *p = r->comp->program_shape;

	r->comp->instructions = arena_dup(&r->g.mem, r->v, r->n * sizeof *r->v);
	r->comp->n_instructions = r->n;
	r->comp->root_id = root;
	if (p && state && p->n_parameters)
		p->parameters[0] = state;
	if (p && result)
		p->result = result;
}

static void count_in_condition(struct rewrite *r, uint32_t comp, Hlo__ShapeProto *state)
{
	rewrite_comp(r, comp, NONE);
	finish_comp(r, r->comp->root_id, state, NULL);
}

static void count_in_body(struct rewrite *r, uint32_t comp, uint32_t inner, Hlo__ShapeProto *state)
{
	const instruction *root = r->g.node[r->g.comp[comp].root].proto;
	size_t n = state->n_tuple_shapes - 1;

	rewrite_comp(r, comp, inner);
	if (inner == NONE) {
		int64_t sum[2] = {r->in, number(r, r->step)};
		r->out = add(r, "add", r->number, sum, 2)->id;
	}
	int64_t *end = apart(r, root->id, root->shape);
	end[n] = r->out;
	finish_comp(r, add(r, "tuple", state, end, n + 1)->id, state, state);
}

/* Lists the loops around this one, outermost first, and then itself. Returns 0 if the count cannot be carried out. */
static size_t way_in(const struct graph *g, uint32_t loop, uint32_t *way)
{
	uint32_t inward[DEPTH];
	size_t n = 0;

	for (uint32_t v = loop;; v = g->comp[g->node[v].comp].caller) {
		const uint32_t *called = node_calls(g, v);
		if (n == DEPTH || g->node[v].opcode != OP_WHILE || g->node[v].dtype != DT_TUPLE ||
			g->comp[called[0]].n_callers != 1 || g->comp[called[1]].n_callers != 1 ||
			(n && called[0] != g->node[inward[n - 1]].comp))
			return 0;
		inward[n++] = v;
		if (g->node[v].comp == g->entry)
			break;
	}
	for (size_t i = 0; i < n; i++)
		way[i] = inward[n - 1 - i];
	return n;
}

static void count_on_the_way(struct rewrite *r, const uint32_t *way, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		Hlo__ShapeProto *state = wider(r, r->g.node[way[i]].proto->shape);
		count_in_condition(r, node_calls(&r->g, way[i])[1], state);
		count_in_body(r, node_calls(&r->g, way[i])[0], i + 1 < n ? way[i + 1] : NONE, state);
	}
	rewrite_comp(r, r->g.entry, way[0]);
	finish_comp(r, r->out, NULL, r->number);
}

bool turns_program(const struct graph *g, uint32_t loop, int32_t step, struct buf *out)
{
	uint32_t way[DEPTH];
	size_t n = way_in(g, loop, way);
	struct rewrite r = {.step = step};
	struct buf bytes = {0};
	Hlo__HloModuleProto *m;
	bool sound;

	if (n == 0)
		return false;
	graph_write(g, &bytes);
	sound = graph_parse(&r.g, bytes.data, bytes.len, "the program", NULL) == 0; /* same nodes, same numbers */
	if (sound) {
		r.ids = ids_of(r.g.module);
		r.number = ARENA_NEW(&r.g.mem, 1, Hlo__ShapeProto);
		hlo__shape_proto__init(r.number);
		r.number->element_type = DT_S32;
		r.number->layout = ARENA_NEW(&r.g.mem, 1, Hlo__Layout);
		hlo__layout__init(r.number->layout);
		count_on_the_way(&r, way, n);
		m = r.g.module;
		m->schedule = NULL;
		m->input_output_alias = NULL;
		m->buffer_donor = NULL;
		if (m->host_program_shape)
			m->host_program_shape->result = r.number;
		pack_message(&m->base, out);
	}
	mem_free(r.v);
	graph_release(&r.g);
	buf_release(&bytes);
	return sound;
}

double turns_entered(const struct graph *g, uint32_t loop)
{
	uint32_t way[DEPTH];
	size_t n = way_in(g, loop, way);
	double times = n > 0;

	for (size_t i = 0; i + 1 < n; i++)
		times *= fmax(0, g->node[way[i]].trip_count);
	return times;
}
