/*
 * turns.c - see the header.
 *
 * All counts are one vector of s32. It goes through the program beside the states of the loops, and the operands and
 * results of the conditionals, that are on the way to what is counted: where a value `x` went in or came out, the pair
 * (x, counts) does. What is counted begins by adding a vector with a single 1. The entry starts with zeros, and returns
 * the elements.
 *
 * The rest of the program does not notice. Where a parameter, a loop or a conditional became a pair, the old
 * instruction becomes the first element of it, and keeps its id, its shape and its readers. Loops and conditionals that
 * stand side by side hand the counts on in the order of the text, which is one in which they can run.
 */
#include <string.h>
#include "hlo/ids.h"
#include "hlo/pack.h"
#include "graph/turns.h"

#define DEPTH 32 /* the deepest nesting of loops and conditionals */

typedef Hlo__HloInstructionProto instruction;

struct rewrite {
	struct graph g; /* the copy that is changed */
	Hlo__ShapeProto *number, *counts;
	uint32_t names;
	const uint32_t *counted; /* computations */
	uint32_t n_counted;
	uint32_t *way; /* loops and conditionals: what holds the counted ones, and what these are in; nodes of g */
	size_t n_way, cap_way;
	/* The computation that is being rewritten. */
	Hlo__HloComputationProto *comp;
	instruction **v;
	size_t n, cap;
	struct ids ids;
	int64_t count; /* id of the counts at the place that was reached */
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

static Hlo__ShapeProto *shape_new(struct rewrite *r, int32_t type, int64_t elements)
{
	Hlo__ShapeProto *s = ARENA_NEW(&r->g.mem, 1, Hlo__ShapeProto);

	hlo__shape_proto__init(s);
	s->element_type = type;
	if (type == DT_TUPLE)
		return s;
	s->layout = ARENA_NEW(&r->g.mem, 1, Hlo__Layout);
	hlo__layout__init(s->layout);
	if (elements == 0)
		return s; /* a scalar */
	s->dimensions = arena_dup(&r->g.mem, &elements, sizeof elements);
	s->is_dynamic_dimension = ARENA_NEW(&r->g.mem, 1, protobuf_c_boolean);
	s->layout->minor_to_major = ARENA_NEW(&r->g.mem, 1, int64_t);
	s->n_dimensions = s->n_is_dynamic_dimension = s->layout->n_minor_to_major = 1;
	return s;
}

static Hlo__ShapeProto *tuple_of(struct rewrite *r, Hlo__ShapeProto **part, size_t n)
{
	Hlo__ShapeProto *s = shape_new(r, DT_TUPLE, 0);

	s->tuple_shapes = arena_dup(&r->g.mem, part, n * sizeof *part);
	s->n_tuple_shapes = n;
	return s;
}

static Hlo__ShapeProto *pair_of(struct rewrite *r, Hlo__ShapeProto *of)
{
	return tuple_of(r, (Hlo__ShapeProto *[]){of, r->counts}, 2);
}

/* A vector of counts: zeros, or with a 1 for one of them. */
static int64_t vector(struct rewrite *r, uint32_t one)
{
	instruction *in = add(r, "constant", r->counts, NULL, 0);

	in->literal = ARENA_NEW(&r->g.mem, 1, Hlo__Literal);
	hlo__literal__init(in->literal);
	in->literal->shape = r->counts;
	in->literal->n_s32s = r->n_counted;
	in->literal->s32s = ARENA_NEW(&r->g.mem, r->n_counted, int32_t);
	if (one < r->n_counted)
		in->literal->s32s[one] = 1;
	return in->id;
}

/* The value and the counts as one. */
static int64_t join(struct rewrite *r, int64_t value, Hlo__ShapeProto *shape)
{
	int64_t both[] = {value, r->count};

	return add(r, "tuple", pair_of(r, shape), both, 2)->id;
}

/* Makes `old` the first of a pair, whose second is the counts from here on. */
static void part(struct rewrite *r, instruction *old, int64_t pair)
{
	instruction *in = blank(r, "get-tuple-element", old->shape), *counts;

	in->name = old->name;
	in->id = old->id;
	in->n_control_predecessor_ids = old->n_control_predecessor_ids;
	in->control_predecessor_ids = old->control_predecessor_ids;
	operands(r, in, &pair, 1);
	append(r, in);
	counts = add(r, "get-tuple-element", r->counts, &pair, 1);
	counts->tuple_index = 1;
	r->count = counts->id;
}

/* The parameter of a loop's body or condition, or of a branch. */
static instruction *parameter_of(const Hlo__HloComputationProto *c)
{
	size_t i = 0;

	while (strcmp(c->instructions[i]->opcode, "parameter") != 0)
		i++;
	return c->instructions[i];
}

/* A loop or conditional takes and gives pairs. The first operand of a conditional says which branch; it stays. */
static void widen(struct rewrite *r, uint32_t node)
{
	const struct node *v = &r->g.node[node];
	const uint32_t *operand = node_operands(&r->g, node);
	instruction *old = v->proto, *wide;
	int64_t *id = ARENA_NEW(&r->g.mem, v->n_operands, int64_t);

	for (uint32_t i = 0; i < v->n_operands; i++) {
		bool chooses = v->opcode == OP_CONDITIONAL && i == 0;
		id[i] = chooses ? old->operand_ids[i] :
			join(r, old->operand_ids[i], r->g.node[operand[i]].proto->shape);
	}
	wide = add(r, old->opcode, pair_of(r, old->shape), id, v->n_operands);
	wide->called_computation_ids = old->called_computation_ids;
	wide->n_called_computation_ids = old->n_called_computation_ids;
	part(r, old, wide->id);
}

/* The loop or conditional on the way that this instruction is, or NONE. */
static uint32_t on_the_way(const struct rewrite *r, const instruction *in)
{
	for (size_t i = 0; i < r->n_way; i++)
		if (r->g.node[r->way[i]].proto == in)
			return r->way[i];
	return NONE;
}

/* Begins to rewrite a computation: its parameter first, or, in the entry, zeros; then what it holds. */
static void rewrite_comp(struct rewrite *r, uint32_t comp)
{
	const struct comp *c = &r->g.comp[comp];
	instruction *parameter = comp == r->g.entry ? NULL : parameter_of(c->proto);

	r->comp = c->proto;
	r->n = 0;
	if (parameter) /* first, because what needs no parameter may stand before it */
		part(r, parameter, add(r, "parameter", pair_of(r, parameter->shape), NULL, 0)->id);
	else
		r->count = vector(r, NONE);
	for (uint32_t k = 0; k < r->n_counted; k++)
		if (r->counted[k] == comp) {
			int64_t sum[2] = {r->count, vector(r, k)};
			r->count = add(r, "add", r->counts, sum, 2)->id;
		}
	for (size_t i = 0; i < c->proto->n_instructions; i++) {
		instruction *in = c->proto->instructions[i];
		uint32_t node = on_the_way(r, in);
		if (node != NONE)
			widen(r, node);
		else if (in != parameter)
			append(r, in);
	}
}

/* Puts the computation into its message; where a shape is NULL, the old one stays. */
static void finish_comp(struct rewrite *r, int64_t root, Hlo__ShapeProto *parameter, Hlo__ShapeProto *result)
{
	Hlo__ProgramShapeProto *p = r->comp->program_shape;

	r->comp->instructions = arena_dup(&r->g.mem, r->v, r->n * sizeof *r->v);
	r->comp->n_instructions = r->n;
	r->comp->root_id = root;
	if (p && parameter && p->n_parameters)
		p->parameters[0] = parameter;
	if (p && result)
		p->result = result;
}

/* Rewrites one that a loop or conditional on the way calls. `gives`: it returns a pair, which a condition does not. */
static void count_inside(struct rewrite *r, uint32_t comp, bool gives)
{
	const struct comp *c = &r->g.comp[comp];
	Hlo__ShapeProto *parameter = pair_of(r, parameter_of(c->proto)->shape), *result = NULL;
	int64_t root = c->proto->root_id;

	rewrite_comp(r, comp);
	if (gives) {
		result = pair_of(r, r->g.node[c->root].proto->shape);
		root = join(r, root, r->g.node[c->root].proto->shape);
	}
	finish_comp(r, root, parameter, result);
}

/* The entry returns the counts, each by itself. Returns the shape of that. */
static Hlo__ShapeProto *count_in_entry(struct rewrite *r)
{
	int64_t *result = ARENA_NEW(&r->g.mem, r->n_counted, int64_t);
	Hlo__ShapeProto **number = ARENA_NEW(&r->g.mem, r->n_counted, Hlo__ShapeProto *),
		*single = shape_new(r, DT_S32, 1), *all;

	rewrite_comp(r, r->g.entry);
	for (uint32_t k = 0; k < r->n_counted; k++) {
		instruction *slice = add(r, "slice", single, &r->count, 1);
		Hlo__SliceDimensions *d = ARENA_NEW(&r->g.mem, 1, Hlo__SliceDimensions);
		hlo__slice_dimensions__init(d);
		d->start = k;
		d->limit = k + 1;
		d->stride = 1;
		slice->slice_dimensions = arena_dup(&r->g.mem, &d, sizeof d);
		slice->n_slice_dimensions = 1;
		result[k] = add(r, "reshape", r->number, &slice->id, 1)->id;
		number[k] = r->number;
	}
	all = tuple_of(r, number, r->n_counted);
	finish_comp(r, add(r, "tuple", all, result, r->n_counted)->id, NULL, all);
	return all;
}

/* Does each of the computations that a node calls have no other caller? */
static bool calls_alone(const struct graph *g, uint32_t v)
{
	for (uint32_t k = 0; k < g->node[v].n_called; k++)
		if (g->comp[node_calls(g, v)[k]].n_callers != 1)
			return false;
	return true;
}

/*
 * Lists what runs the computation, and what that is in, the entry's own first. Returns how many; 0 if a count cannot be
 * carried out.
 */
static size_t way_in(const struct graph *g, uint32_t comp, uint32_t *way)
{
	uint32_t inward[DEPTH];
	size_t n = 0;

	for (uint32_t c = comp; c != g->entry; c = g->node[inward[n - 1]].comp) {
		uint32_t v = g->comp[c].caller;
		uint16_t op = v == NONE ? OP_COUNT : g->node[v].opcode;
		bool body = op == OP_WHILE && node_calls(g, v)[0] == c;
		if (n == DEPTH || !(body || op == OP_CONDITIONAL) || !calls_alone(g, v))
			return 0;
		inward[n++] = v;
	}
	for (size_t i = 0; i < n; i++)
		way[i] = inward[n - 1 - i];
	return n;
}

static void take_way(struct rewrite *r, uint32_t node)
{
	for (size_t i = 0; i < r->n_way; i++)
		if (r->way[i] == node)
			return;
	MEM_GROW(&r->way, &r->cap_way, r->n_way + 1);
	r->way[r->n_way++] = node;
}

/* Finds what becomes wider; false if one of the counts cannot be carried out. */
static bool find_way(struct rewrite *r, const struct graph *g)
{
	uint32_t way[DEPTH];

	for (uint32_t k = 0; k < r->n_counted; k++) {
		size_t n = way_in(g, r->counted[k], way);
		if (n == 0)
			return false;
		for (size_t i = 0; i < n; i++)
			take_way(r, way[i]);
	}
	return r->n_counted > 0;
}

/* Returns the shape of the result. */
static Hlo__ShapeProto *count_all(struct rewrite *r)
{
	r->number = shape_new(r, DT_S32, 0);
	r->counts = shape_new(r, DT_S32, r->n_counted);
	for (size_t i = 0; i < r->n_way; i++) {
		const struct node *v = &r->g.node[r->way[i]];
		for (uint32_t k = 0; k < v->n_called; k++)
			count_inside(r, node_calls(&r->g, r->way[i])[k], v->opcode == OP_CONDITIONAL || k == 0);
	}
	return count_in_entry(r);
}

/* Leaves out what nobody calls: it may itself call what has changed. */
static void leave_dead(struct rewrite *r)
{
	Hlo__HloModuleProto *m = r->g.module;

	m->n_computations = r->g.entry + 1; /* all others come after the entry */
	m->computations = ARENA_NEW(&r->g.mem, m->n_computations, Hlo__HloComputationProto *);
	for (uint32_t c = 0; c <= r->g.entry; c++)
		m->computations[c] = r->g.comp[c].proto;
}

bool turns_program(const struct graph *g, const uint32_t *comp, uint32_t n, struct buf *out)
{
	struct rewrite r = {.counted = comp, .n_counted = n};
	struct buf bytes = {0};
	Hlo__HloModuleProto *m;
	bool sound = find_way(&r, g);

	if (sound)
		graph_write(g, &bytes);
	sound = sound && graph_parse(&r.g, bytes.data, bytes.len, "the program", NULL) == 0; /* same nodes */
	if (sound) {
		r.ids = ids_of(r.g.module);
		Hlo__ShapeProto *result = count_all(&r);
		leave_dead(&r);
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

bool turns_countable(const struct graph *g, uint32_t comp)
{
	uint32_t way[DEPTH];

	return way_in(g, comp, way) > 0;
}

double turns_entered(const struct graph *g, uint32_t node)
{
	uint32_t way[DEPTH];
	size_t n = way_in(g, node_calls(g, node)[0], way);
	double times = n > 0 ? 1 : -1;

	for (size_t i = 0; i + 1 < n && times > 0; i++) {
		const struct node *v = &g->node[way[i]];
		const uint32_t *called = node_calls(g, way[i]);
		uint32_t k = 0;
		while (called[k] != g->node[way[i + 1]].comp)
			k++;
		double runs = v->opcode == OP_WHILE ? v->trip_count : turns_noted(v->proto, k);
		times = runs < 0 ? -1 : times * runs;
	}
	return times;
}
