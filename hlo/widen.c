/*
 * widen.c - lets a program compute with floats of 64 bits, and complex numbers of 128.
 *
 * What comes out is as good as exact beside the program itself, so it tells how far rounding took each result, however
 * long the sums are and in whatever order they were added up. Parameters are converted when they come in, results when
 * they go out, and constants are written anew. All other instructions keep their numbers and names, and get wider
 * shapes.
 *
 * Some operations are about the bits of a number or are known only for some types, such as the calls of libraries.
 * These keep their types: what they read is narrowed again, and what they give is widened. (A call that is a product or
 * a convolution becomes that again, hlo/library.h.) Rounding that the program asks for by name (reduce-precision)
 * remains; a conversion to a shorter type and back does not, nor what keeps the digits of the shorter type after that.
 */
#include "hlo/widen.h"

#include <stdlib.h>
#include <string.h>
#include "hlo/edit.h"
#include "hlo/field.h"
#include "hlo/float.h"
#include "hlo/ids.h"
#include "hlo/library.h"
#include "hlo/op.h"

typedef Hlo__HloInstructionProto instruction;
typedef Hlo__ShapeProto shape;

struct value { /* of an instruction of the computation at hand */
	int64_t id;
	instruction *wide;
	shape *was;
	uint8_t rounded; /* the floats that it was converted from, or DT_INVALID */
};

struct widening {
	struct arena *mem;
	struct ids ids;
	Hlo__HloComputationProto *comp;
	instruction **out; /* what the computation will hold */
	size_t n, cap;
	struct value *value; /* sorted by id */
	size_t n_values;
};

/* The type that takes this one's place. */
static int32_t widened(int32_t dtype)
{
	static const uint8_t class[] = {
#define DTYPE(id, number, name, bits, class, ...) [DT_##id] = DTYPE_##class,
#include "schemas/dtype.def"
#undef DTYPE
	};

	if (dtype < 0 || (size_t)dtype >= sizeof class || class[dtype] < DTYPE_COMPLEX)
		return dtype;
	return class[dtype] == DTYPE_COMPLEX ? DT_C128 : DT_F64;
}

/* A shape with wider types; itself, if nothing in it becomes wider. */
static shape *widened_shape(struct arena *mem, shape *s)
{
	shape *w = s;

	if (widened(s->element_type) != s->element_type) {
		w = arena_dup(mem, s, sizeof *s);
		w->element_type = widened(s->element_type);
	}
	for (size_t i = 0; i < s->n_tuple_shapes; i++) {
		shape *part = widened_shape(mem, s->tuple_shapes[i]);
		if (part == s->tuple_shapes[i])
			continue;
		if (w == s) {
			w = arena_dup(mem, s, sizeof *s);
			w->tuple_shapes = arena_dup(mem, s->tuple_shapes, s->n_tuple_shapes * sizeof(shape *));
		}
		w->tuple_shapes[i] = part;
	}
	return w;
}

/* ---- constants ---- */

/* Number i of a literal's list of floats; complex numbers are two each. */
static double read_float(const struct field *from, uint8_t dtype, size_t i)
{
	size_t n, width = dtype == DT_C64 || dtype == DT_F32 ? sizeof(float) : literal_width(dtype);
	const char *p = from->f->type == PROTOBUF_C_TYPE_BYTES ? field_string(from, &n) : field_pointer(from);
	uint64_t bits = 0;
	float f;

	memcpy(&f, p + i * width, width < sizeof f ? width : sizeof f);
	if (width == sizeof f)
		return (double)f;
	memcpy(&bits, p + i * width, width);
	return float_decode(dtype, bits);
}

static size_t count_floats(const struct field *from, uint8_t dtype)
{
	size_t n = 0;

	if (from->f->type != PROTOBUF_C_TYPE_BYTES)
		return field_count(from);
	field_string(from, &n);
	return n / literal_width(dtype);
}

static Hlo__Literal *widened_literal(struct arena *mem, Hlo__Literal *l)
{
	uint8_t dtype = l->shape ? (uint8_t)l->shape->element_type : DT_INVALID, wide;
	Hlo__Literal *w;
	struct field from, to;
	double *v;
	size_t n;

	for (size_t i = 0; i < l->n_tuple_literals; i++)
		l->tuple_literals[i] = widened_literal(mem, l->tuple_literals[i]);
	if (!l->shape)
		return l;
	l->shape = widened_shape(mem, l->shape);
	wide = (uint8_t)l->shape->element_type;
	if (wide == dtype)
		return l;
	from = field_of_literal(l, dtype);
	if (!from.f)
		return l;
	w = arena_alloc(mem, sizeof *w);
	hlo__literal__init(w);
	w->shape = l->shape;
	to = field_of_literal(w, wide);
	n = count_floats(&from, dtype);
	v = arena_alloc(mem, n * sizeof *v);
	for (size_t i = 0; i < n; i++)
		v[i] = read_float(&from, dtype, i);
	*to.count = n;
	field_set_pointer(&to, v);
	return w;
}

/* ---- instructions ---- */

static void add(struct widening *w, instruction *in)
{
	MEM_GROW(&w->out, &w->cap, w->n + 1);
	w->out[w->n++] = in;
}

static instruction *make(struct widening *w, uint16_t op, shape *s, instruction **x, size_t n)
{
	instruction *in = arena_alloc(w->mem, sizeof *in);

	hlo__hlo_instruction_proto__init(in);
	in->opcode = arena_strdup(w->mem, opcode_name(op));
	in->name = arena_printf(w->mem, "%s.wide%lld", in->opcode, (long long)w->ids.low);
	in->id = ids_next(&w->ids, w->comp->instructions[0]);
	in->shape = s;
	in->n_operand_ids = n;
	in->operand_ids = arena_alloc(w->mem, n * sizeof *in->operand_ids);
	for (size_t i = 0; i < n; i++)
		in->operand_ids[i] = x[i]->id;
	add(w, in);
	return in;
}

/* Does nothing become wider from one shape to the other, which has the same form? */
static bool same_types(const shape *a, const shape *b)
{
	bool same = a->element_type == b->element_type;

	for (size_t i = 0; i < a->n_tuple_shapes && i < b->n_tuple_shapes; i++)
		same = same && same_types(a->tuple_shapes[i], b->tuple_shapes[i]);
	return same;
}

/* Writes what makes a value of this shape of another one that differs in its types only; tuples part by part. */
static instruction *convert(struct widening *w, instruction *x, shape *to)
{
	instruction **part, *got;

	if (same_types(x->shape, to))
		return x;
	if (x->shape->element_type != DT_TUPLE)
		return make(w, OP_CONVERT, to, &x, 1);
	part = ARENA_NEW(w->mem, to->n_tuple_shapes + 1, instruction *);
	for (size_t i = 0; i < to->n_tuple_shapes; i++) {
		got = make(w, OP_GET_TUPLE_ELEMENT, x->shape->tuple_shapes[i], &x, 1);
		got->tuple_index = (int64_t)i;
		part[i] = convert(w, got, to->tuple_shapes[i]);
	}
	return make(w, OP_TUPLE, to, part, to->n_tuple_shapes);
}

/* Does it keep the types of what it reads and gives? */
static bool keeps_types(const struct edit *e, const struct widening *w, const instruction *in)
{
	uint16_t op = opcode_of(in->opcode);

	if (op == OP_PARAMETER)
		return w->comp == e->entry;
	return op == OP_BITCAST_CONVERT || op == OP_STOCHASTIC_CONVERT || op == OP_CUSTOM_CALL || op == OP_RNG;
}

/* Would somebody else have to be widened, too? */
static bool meets_others(uint16_t op)
{
	return op == OP_INFEED || op == OP_OUTFEED || op == OP_SEND || op == OP_SEND_DONE || op == OP_RECV ||
	       op == OP_RECV_DONE || op == OP_COUNT;
}

static int by_id(const void *a, const void *b)
{
	const struct value *x = a, *y = b;

	return (x->id > y->id) - (x->id < y->id);
}

static struct value *value_of(const struct widening *w, int64_t id)
{
	struct value key = {.id = id};

	return bsearch(&key, w->value, w->n_values, sizeof key, by_id);
}

/* Notes which floats the instruction was converted from, if from any. */
static void note_rounded(const struct widening *w, struct value *own, const instruction *in)
{
	uint16_t op = opcode_of(in->opcode);
	const struct value *x = in->n_operand_ids == 1 ? value_of(w, in->operand_ids[0]) : NULL;

	if (!x || !x->wide)
		return;
	if (op == OP_CONVERT && float_known((uint8_t)x->was->element_type))
		own->rounded = (uint8_t)x->was->element_type;
	if (op == OP_OPTIMIZATION_BARRIER)
		own->rounded = x->rounded;
}

/* Does it ask for no fewer digits than the floats have that its operand was converted from? */
static bool keeps_digits(const instruction *in, const struct value *x)
{
	return opcode_of(in->opcode) == OP_REDUCE_PRECISION && x->rounded != DT_INVALID &&
	       in->exponent_bits >= float_exponent_bits(x->rounded) &&
	       in->mantissa_bits >= float_mantissa_bits(x->rounded);
}

/* Widens an instruction, after all that it reads. Returns what the program lacks, or NULL. */
static const char *widen_one(const struct edit *e, struct widening *w, instruction *in)
{
	bool keeps = keeps_types(e, w, in);
	struct value *own = value_of(w, in->id);

	if (!in->shape)
		return "has an instruction without a shape";
	if (keeps && in->n_called_computation_ids)
		return "hands computations to a library";
	if (meets_others(opcode_of(in->opcode)))
		return "exchanges values with somebody who knows their types";
	note_rounded(w, own, in);
	for (size_t k = 0; k < in->n_operand_ids; k++) {
		const struct value *x = value_of(w, in->operand_ids[k]);
		if (!x || !x->wide)
			return "reads a value before it is computed";
		if (keeps_digits(in, x)) {
			own->was = in->shape;
			own->wide = x->wide;
			return NULL;
		}
		in->operand_ids[k] = keeps ? convert(w, x->wide, x->was)->id : x->wide->id;
	}
	own->was = in->shape;
	own->wide = in;
	in->original_value = NULL;
	add(w, in);
	if (keeps) {
		own->wide = convert(w, in, widened_shape(w->mem, in->shape));
		return NULL;
	}
	in->shape = widened_shape(w->mem, in->shape);
	if (in->literal)
		in->literal = widened_literal(w->mem, in->literal);
	if (in->precision_config)
		in->precision_config->algorithm = 0;
	return NULL;
}

/* The computation's own statement of what it takes and gives. */
static void widen_program_shape(struct arena *mem, Hlo__ProgramShapeProto *s)
{
	for (size_t i = 0; s && i < s->n_parameters; i++)
		s->parameters[i] = widened_shape(mem, s->parameters[i]);
	if (s && s->result)
		s->result = widened_shape(mem, s->result);
}

static const char *widen_computation(const struct edit *e, struct widening *w)
{
	Hlo__HloComputationProto *c = w->comp;
	const char *lacks = NULL;
	const struct value *root;

	w->n = 0;
	w->n_values = c->n_instructions;
	w->value = ARENA_NEW(w->mem, w->n_values + 1, struct value);
	for (size_t i = 0; i < c->n_instructions; i++)
		w->value[i].id = c->instructions[i]->id;
	qsort(w->value, w->n_values, sizeof *w->value, by_id);
	for (size_t i = 0; i < c->n_instructions && !lacks; i++) {
		library_spell(w->mem, c->instructions[i]);
		lacks = widen_one(e, w, c->instructions[i]);
	}
	root = value_of(w, c->root_id ? c->root_id : c->instructions[c->n_instructions - 1]->id);
	if (lacks || !root)
		return lacks ? lacks : "has a computation without a root";
	c->root_id = (c == e->entry ? convert(w, root->wide, root->was) : root->wide)->id;
	if (c != e->entry)
		widen_program_shape(w->mem, c->program_shape);
	c->instructions = arena_dup(w->mem, w->out, w->n * sizeof *w->out);
	c->n_instructions = w->n;
	return NULL;
}

static const char *widen(const struct edit *e)
{
	struct widening w = {.mem = e->mem, .ids = ids_of(e->module)};
	const char *lacks = NULL;

	for (size_t i = 0; i < e->module->n_computations && !lacks; i++) {
		w.comp = e->module->computations[i];
		lacks = w.comp->n_instructions ? widen_computation(e, &w) : "has an empty computation";
	}
	e->module->schedule = NULL;
	e->module->input_output_alias = NULL;
	e->module->buffer_donor = NULL;
	mem_free(w.out);
	return lacks;
}

int hlo_widen(const void *p, size_t n, const char *name, struct buf *out, struct err *err)
{
	return hlo_edit(p, n, name, widen, NULL, out, err);
}
