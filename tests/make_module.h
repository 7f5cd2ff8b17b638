/*
 * make_module.h - HLO modules written by hand, for tests and benches.
 *
 *	struct make mk = {0};
 *	struct make_comp *add = make_comp(&mk, "add");		// callees first
 *	... make_op(add, "add", make_shape(&mk, DT_F32, 0), 2, p0, p1);
 *	struct make_comp *main = make_comp(&mk, "main");	// the last one is the entry
 *	make_bytes(&mk, &buf);
 *	make_release(&mk);
 *
 * The root of a computation is its last instruction, unless `root` says otherwise. Ids are (computation << 32 |
 * number), as XLA writes them. A test that wants an odd module changes the messages before make_bytes.
 */
#ifndef TESTS_MAKE_MODULE_H
#define TESTS_MAKE_MODULE_H

#include <stdarg.h>
#include <string.h>
#include "graph/graph.h"

typedef Hlo__HloInstructionProto make_instruction;

struct make_comp {
	struct make *mk;
	Hlo__HloComputationProto *p;
	size_t cap;
	int64_t params;
	make_instruction *root; /* NULL: the last */
};

struct make {
	struct arena mem;
	struct make_comp *comp[4096];
	size_t n;
};

static inline Hlo__ShapeProto *make_shape_v(struct make *mk, int dtype, size_t rank, const int64_t *dims)
{
	Hlo__ShapeProto *s = ARENA_NEW(&mk->mem, 1, Hlo__ShapeProto);
	hlo__shape_proto__init(s);
	s->element_type = dtype;
	if (dtype == DT_TUPLE)
		return s;
	s->n_dimensions = rank;
	s->dimensions = arena_dup(&mk->mem, dims, rank * sizeof(*dims));
	s->layout = ARENA_NEW(&mk->mem, 1, Hlo__Layout);
	hlo__layout__init(s->layout);
	s->layout->n_minor_to_major = rank;
	s->layout->minor_to_major = ARENA_NEW(&mk->mem, rank, int64_t);
	for (size_t i = 0; i < rank; i++)
		s->layout->minor_to_major[i] = (int64_t)(rank - 1 - i);
	return s;
}

/* make_shape(&mk, DT_F32, 2, 3, 4) is f32[3,4]. Dimensions are ints. */
static inline Hlo__ShapeProto *make_shape(struct make *mk, int dtype, int rank, ...)
{
	int64_t dims[16];
	va_list ap;
	va_start(ap, rank);
	for (int i = 0; i < rank; i++)
		dims[i] = va_arg(ap, int);
	va_end(ap);
	return make_shape_v(mk, dtype, (size_t)rank, dims);
}

static inline struct make_comp *make_comp(struct make *mk, const char *name)
{
	struct make_comp *c = ARENA_NEW(&mk->mem, 1, struct make_comp);
	c->mk = mk;
	c->p = ARENA_NEW(&mk->mem, 1, Hlo__HloComputationProto);
	hlo__hlo_computation_proto__init(c->p);
	c->p->name = arena_strdup(&mk->mem, name);
	BUG_ON(mk->n == sizeof(mk->comp) / sizeof(*mk->comp));
	mk->comp[mk->n++] = c;
	c->p->id = (int64_t)mk->n;
	return c;
}

static inline make_instruction *make_op_v(struct make_comp *c, const char *opcode, Hlo__ShapeProto *shape,
	size_t n, make_instruction *const *operand)
{
	struct arena *mem = &c->mk->mem;
	Hlo__HloComputationProto *p = c->p;
	make_instruction *in = ARENA_NEW(mem, 1, make_instruction);
	hlo__hlo_instruction_proto__init(in);
	if (p->n_instructions == c->cap) {
		c->cap = c->cap ? 2 * c->cap : 8;
		make_instruction **v = ARENA_NEW(mem, c->cap, make_instruction *);
		if (p->n_instructions)
			memcpy(v, p->instructions, p->n_instructions * sizeof(*v));
		p->instructions = v;
	}
	p->instructions[p->n_instructions++] = in;
	in->opcode = arena_strdup(mem, opcode);
	in->name = arena_printf(mem, "%s.%zu", opcode, p->n_instructions);
	in->id = p->id << 32 | (int64_t)p->n_instructions;
	in->shape = shape;
	in->n_operand_ids = n;
	in->operand_ids = ARENA_NEW(mem, n, int64_t);
	for (size_t i = 0; i < n; i++)
		in->operand_ids[i] = operand[i]->id;
	return in;
}

static inline make_instruction *make_op(struct make_comp *c, const char *opcode, Hlo__ShapeProto *shape,
	int n, ...)
{
	make_instruction *operand[16];
	va_list ap;
	va_start(ap, n);
	for (int i = 0; i < n; i++)
		operand[i] = va_arg(ap, make_instruction *);
	va_end(ap);
	return make_op_v(c, opcode, shape, (size_t)n, operand);
}

static inline make_instruction *make_param(struct make_comp *c, Hlo__ShapeProto *shape)
{
	make_instruction *in = make_op(c, "parameter", shape, 0);
	in->parameter_number = c->params++;
	return in;
}

static inline make_instruction *make_s32(struct make_comp *c, int32_t value)
{
	struct arena *mem = &c->mk->mem;
	make_instruction *in = make_op(c, "constant", make_shape(c->mk, DT_S32, 0), 0);
	in->literal = ARENA_NEW(mem, 1, Hlo__Literal);
	hlo__literal__init(in->literal);
	in->literal->shape = in->shape;
	in->literal->n_s32s = 1;
	in->literal->s32s = arena_dup(mem, &value, sizeof(value));
	return in;
}

static inline make_instruction *make_f32(struct make_comp *c, float value)
{
	make_instruction *in = make_s32(c, 0);
	in->shape->element_type = DT_F32;
	in->literal->n_s32s = 0;
	in->literal->n_f32s = 1;
	in->literal->f32s = arena_dup(&c->mk->mem, &value, sizeof(value));
	return in;
}

/* The tuple of some values. */
static inline make_instruction *make_tuple(struct make_comp *c, int n, ...)
{
	make_instruction *operand[16];
	Hlo__ShapeProto *s = make_shape(c->mk, DT_TUPLE, 0);
	va_list ap;
	s->n_tuple_shapes = (size_t)n;
	s->tuple_shapes = ARENA_NEW(&c->mk->mem, n, Hlo__ShapeProto *);
	va_start(ap, n);
	for (int i = 0; i < n; i++) {
		operand[i] = va_arg(ap, make_instruction *);
		s->tuple_shapes[i] = operand[i]->shape;
	}
	va_end(ap);
	return make_op_v(c, "tuple", s, (size_t)n, operand);
}

static inline make_instruction *make_element(struct make_comp *c, make_instruction *tuple, int i)
{
	make_instruction *in = make_op(c, "get-tuple-element", tuple->shape->tuple_shapes[i], 1, tuple);
	in->tuple_index = i;
	return in;
}

static inline void make_dims(struct make_comp *c, make_instruction *in, int n, ...)
{
	va_list ap;
	in->n_dimensions = (size_t)n;
	in->dimensions = ARENA_NEW(&c->mk->mem, n, int64_t);
	va_start(ap, n);
	for (int i = 0; i < n; i++)
		in->dimensions[i] = va_arg(ap, int);
	va_end(ap);
}

/* Makes `in` call these computations, in order. */
static inline make_instruction *make_calls(make_instruction *in, struct make *mk, int n, ...)
{
	va_list ap;
	in->n_called_computation_ids = (size_t)n;
	in->called_computation_ids = ARENA_NEW(&mk->mem, n, int64_t);
	va_start(ap, n);
	for (int i = 0; i < n; i++)
		in->called_computation_ids[i] = va_arg(ap, struct make_comp *)->p->id;
	va_end(ap);
	return in;
}

/* "add" of two scalars, as reducers are. */
static inline struct make_comp *make_reducer(struct make *mk, const char *opcode)
{
	struct make_comp *c = make_comp(mk, opcode);
	make_instruction *a = make_param(c, make_shape(mk, DT_F32, 0));
	make_instruction *b = make_param(c, make_shape(mk, DT_F32, 0));
	make_op(c, opcode, make_shape(mk, DT_F32, 0), 2, a, b);
	return c;
}

static inline Hlo__ProgramShapeProto *make_program_shape(struct make_comp *c, make_instruction *root)
{
	Hlo__ProgramShapeProto *s = ARENA_NEW(&c->mk->mem, 1, Hlo__ProgramShapeProto);
	hlo__program_shape_proto__init(s);
	s->parameters = ARENA_NEW(&c->mk->mem, c->params, Hlo__ShapeProto *);
	s->parameter_names = ARENA_NEW(&c->mk->mem, c->params, char *);
	s->n_parameters = s->n_parameter_names = (size_t)c->params;
	for (size_t i = 0; i < c->p->n_instructions; i++) {
		make_instruction *in = c->p->instructions[i];
		if (strcmp(in->opcode, "parameter") != 0)
			continue;
		s->parameters[in->parameter_number] = in->shape;
		s->parameter_names[in->parameter_number] = in->name;
	}
	s->result = root->shape;
	return s;
}

/* The whole module as a message; the last computation is the entry. */
static inline Hlo__HloModuleProto *make_module(struct make *mk)
{
	Hlo__HloModuleProto *m = ARENA_NEW(&mk->mem, 1, Hlo__HloModuleProto);
	hlo__hlo_module_proto__init(m);
	m->name = arena_strdup(&mk->mem, "made");
	m->n_computations = mk->n;
	m->computations = ARENA_NEW(&mk->mem, mk->n, Hlo__HloComputationProto *);
	for (size_t i = 0; i < mk->n; i++) {
		struct make_comp *c = mk->comp[i];
		make_instruction *root = c->root ? c->root : c->p->instructions[c->p->n_instructions - 1];
		c->p->root_id = root->id;
		c->p->program_shape = make_program_shape(c, root);
		m->computations[i] = c->p;
	}
	struct make_comp *entry = mk->comp[mk->n - 1];
	m->entry_computation_id = entry->p->id;
	m->entry_computation_name = entry->p->name;
	m->host_program_shape = entry->p->program_shape;
	return m;
}

static inline void make_pack(const Hlo__HloModuleProto *m, struct buf *out)
{
	size_t n = hlo__hlo_module_proto__get_packed_size(m);
	buf_reserve(out, n);
	out->len += hlo__hlo_module_proto__pack(m, (uint8_t *)out->data + out->len);
}

static inline void make_bytes(struct make *mk, struct buf *out)
{
	make_pack(make_module(mk), out);
}

static inline void make_release(struct make *mk)
{
	arena_release(&mk->mem);
	mk->n = 0;
}

#endif
