/*
 * turns.c - see the header.
 *
 * The state of every loop that is counted, and of every loop around one, gets an element more for each count. The
 * body of a counted loop adds 1 to its own; all others are passed on. The entry starts them at 0 and returns them.
 *
 * The rest of the program does not notice. Where a parameter or a loop became wider, the old instruction becomes the
 * tuple of all but the last elements, and keeps its id, its shape and its readers. Loops that stand side by side hand
 * the counts on in the order of the text, which is one in which they can run.
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
	const uint32_t *loop; /* those that are counted */
	uint32_t n_loops;
	uint32_t *way; /* these and the loops around them, nodes of g, inner ones first */
	size_t n_way, cap_way;
	/* The computation that is being rewritten. */
	Hlo__HloComputationProto *comp;
	instruction **v;
	size_t n, cap;
	struct ids ids;
	int64_t *count; /* ids of the counts at the place that was reached in the computation */
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

	s->tuple_shapes = ARENA_NEW(&r->g.mem, n + r->n_loops, Hlo__ShapeProto *);
	if (n)
		memcpy(s->tuple_shapes, narrow->tuple_shapes, n * sizeof *s->tuple_shapes);
	for (uint32_t k = 0; k < r->n_loops; k++)
		s->tuple_shapes[n + k] = r->number;
	s->n_tuple_shapes = n + r->n_loops;
	return s;
}

/* Takes a tuple apart: returns the ids of its elements, with room for the counts. */
static int64_t *apart(struct rewrite *r, int64_t tuple, const Hlo__ShapeProto *shape)
{
	int64_t *id = ARENA_NEW(&r->g.mem, shape->n_tuple_shapes + r->n_loops, int64_t);

	for (size_t i = 0; i < shape->n_tuple_shapes; i++) {
		instruction *e = add(r, "get-tuple-element", shape->tuple_shapes[i], &tuple, 1);
		e->tuple_index = (int64_t)i;
		id[i] = e->id;
	}
	return id;
}

/* Makes `old` the tuple of all elements of `wide` but the last, which are the counts from here on. */
static void narrow_again(struct rewrite *r, instruction *old, const instruction *wide)
{
	int64_t *id = apart(r, wide->id, wide->shape);
	size_t n = wide->shape->n_tuple_shapes - r->n_loops;
	instruction *in = blank(r, "tuple", old->shape);

	in->name = old->name;
	in->id = old->id;
	in->n_control_predecessor_ids = old->n_control_predecessor_ids;
	in->control_predecessor_ids = old->control_predecessor_ids;
	operands(r, in, id, n);
	append(r, in);
	memcpy(r->count, id + n, r->n_loops * sizeof *id);
}

static void widen_parameter(struct rewrite *r, instruction *old)
{
	narrow_again(r, old, add(r, "parameter", wider(r, old->shape), NULL, 0));
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

	memcpy(start + n, r->count, r->n_loops * sizeof *start);
	int64_t state = add(r, "tuple", shape, start, n + r->n_loops)->id;
	loop = add(r, "while", shape, &state, 1);
	loop->called_computation_ids = old->called_computation_ids;
	loop->n_called_computation_ids = old->n_called_computation_ids;
	narrow_again(r, old, loop);
}

/* Is it a loop that becomes wider? */
static bool on_the_way(const struct rewrite *r, const instruction *in)
{
	for (size_t i = 0; i < r->n_way; i++)
		if (r->g.node[r->way[i]].proto == in)
			return true;
	return false;
}

/* Begins to rewrite a computation: its parameter first, or, in the entry, the counts; then what it holds. */
static void rewrite_comp(struct rewrite *r, uint32_t comp)
{
	const struct comp *c = &r->g.comp[comp];

	r->comp = c->proto;
	r->n = 0;
	if (comp == r->g.entry)
		for (uint32_t k = 0; k < r->n_loops; k++)
			r->count[k] = number(r, 0);
	else
		/* First, because a loop that does not need the parameter may stand before it. */
		widen_parameter(r, parameter_of(c->proto));
	for (size_t i = 0; i < c->proto->n_instructions; i++) {
		instruction *in = c->proto->instructions[i];
		if (comp != r->g.entry && strcmp(in->opcode, "parameter") == 0)
			continue;
		if (strcmp(in->opcode, "while") == 0 && on_the_way(r, in))
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
	rewrite_comp(r, comp);
	finish_comp(r, r->comp->root_id, state, NULL);
}

static void count_in_body(struct rewrite *r, uint32_t loop, Hlo__ShapeProto *state)
{
	uint32_t comp = node_calls(&r->g, loop)[0];
	const instruction *root = r->g.node[r->g.comp[comp].root].proto;
	size_t n = state->n_tuple_shapes - r->n_loops;

	rewrite_comp(r, comp);
	for (uint32_t k = 0; k < r->n_loops; k++)
		if (r->loop[k] == loop) {
			int64_t sum[2] = {r->count[k], number(r, 1)};
			r->count[k] = add(r, "add", r->number, sum, 2)->id;
		}
	int64_t *end = apart(r, root->id, root->shape);
	memcpy(end + n, r->count, r->n_loops * sizeof *end);
	finish_comp(r, add(r, "tuple", state, end, n + r->n_loops)->id, state, state);
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

/* Finds the loops that become wider; false if one of the counts cannot be carried out. */
static bool find_way(struct rewrite *r, const struct graph *g)
{
	uint32_t way[DEPTH];

	for (uint32_t k = 0; k < r->n_loops; k++) {
		size_t n = way_in(g, r->loop[k], way);
		if (n == 0)
			return false;
		for (size_t i = 0; i < n; i++) {
			size_t known = 0;
			while (known < r->n_way && r->way[known] != way[i])
				known++;
			if (known < r->n_way)
				continue;
			MEM_GROW(&r->way, &r->cap_way, r->n_way + 1);
			r->way[r->n_way++] = way[i];
		}
	}
	return true;
}

/* Returns the shape of the result. */
static Hlo__ShapeProto *count_all(struct rewrite *r)
{
	Hlo__ShapeProto none = HLO__SHAPE_PROTO__INIT, *result;

	none.element_type = DT_TUPLE;
	result = wider(r, &none);
	r->count = ARENA_NEW(&r->g.mem, r->n_loops, int64_t);
	for (size_t i = 0; i < r->n_way; i++) {
		Hlo__ShapeProto *state = wider(r, r->g.node[r->way[i]].proto->shape);
		count_in_condition(r, node_calls(&r->g, r->way[i])[1], state);
		count_in_body(r, r->way[i], state);
	}
	rewrite_comp(r, r->g.entry);
	finish_comp(r, add(r, "tuple", result, r->count, r->n_loops)->id, NULL, result);
	return result;
}

bool turns_program(const struct graph *g, const uint32_t *loop, uint32_t n, struct buf *out)
{
	struct rewrite r = {.loop = loop, .n_loops = n};
	struct buf bytes = {0};
	Hlo__HloModuleProto *m;
	bool sound = n > 0 && find_way(&r, g);

	if (sound)
		graph_write(g, &bytes);
	sound = sound && graph_parse(&r.g, bytes.data, bytes.len, "the program", NULL) == 0; /* same nodes */
	if (sound) {
		r.ids = ids_of(r.g.module);
		r.number = ARENA_NEW(&r.g.mem, 1, Hlo__ShapeProto);
		hlo__shape_proto__init(r.number);
		r.number->element_type = DT_S32;
		r.number->layout = ARENA_NEW(&r.g.mem, 1, Hlo__Layout);
		hlo__layout__init(r.number->layout);
		Hlo__ShapeProto *result = count_all(&r);
		m = r.g.module;
		m->schedule = NULL;
		m->input_output_alias = NULL;
		m->buffer_donor = NULL;
		if (m->host_program_shape)
			m->host_program_shape->result = result;
		pack_message(&m->base, out);
	}
	mem_free(r.v);
	mem_free(r.way);
	graph_release(&r.g);
	buf_release(&bytes);
	return sound;
}

bool turns_countable(const struct graph *g, uint32_t loop)
{
	uint32_t way[DEPTH];

	return way_in(g, loop, way) > 0;
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
