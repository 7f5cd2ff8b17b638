/*
 * nothing.c - writes a sum over nothing, which makes XLA:CPU run a region on the thread that calls it.
 *
 * XLA:CPU runs a program on the calling thread if its cost analysis counts fewer than a thousand
 * operations. Otherwise it hands the program to another thread and waits. That takes 8 us, give or take a
 * few, depending on the machine's other work and on how long the program takes. This is more than most
 * regions are worth. An example: four updates of a small array in one fusion, instead of one after the
 * other, cost +0.9 us in the program. As regions they cost -1.2 us or +1.2 us on the other thread. On the
 * calling thread they cost +0.85 +- 0.08 us, in a tenth of the runs.
 *
 * The analysis counts a reduction as the elements that it reads minus those that it makes. A reduction that
 * reads none and makes 2^40 has a huge negative count, which outweighs whatever else is in the region. It
 * costs almost nothing to run, because it stands in a fusion that asks for one element of it. Both sides of
 * a region get it.
 */
#include "space/fusion/emit.h"

#define EDGE (1 << 20)

static Hlo__ShapeProto *shape_of(struct emitter *em, size_t rank, const int64_t *dims)
{
	Hlo__ShapeProto *s = arena_alloc(&em->mem, sizeof *s);
	Hlo__Layout *l = arena_alloc(&em->mem, sizeof *l);

	hlo__shape_proto__init(s);
	hlo__layout__init(l);
	s->element_type = DT_F32;
	s->n_dimensions = s->n_is_dynamic_dimension = l->n_minor_to_major = rank;
	s->dimensions = arena_dup(&em->mem, dims, rank * sizeof *dims);
	s->is_dynamic_dimension = ARENA_NEW(&em->mem, rank, protobuf_c_boolean);
	l->minor_to_major = ARENA_NEW(&em->mem, rank, int64_t);
	for (size_t i = 0; i < rank; i++)
		l->minor_to_major[i] = (int64_t)(rank - 1 - i);
	s->layout = l;
	return s;
}

/* Adds an operation to the computation that is being written; operands are numbers within it. */
static Hlo__HloInstructionProto *add(struct emitter *em, struct instrs *l, uint32_t comp, const char *opcode,
	Hlo__ShapeProto *shape, size_t n_operands, const int64_t *operands)
{
	Hlo__HloInstructionProto *in = emit_op(em, opcode, shape, emit_id(comp, l->n + 1));

	in->n_operand_ids = n_operands;
	in->operand_ids = ARENA_NEW(&em->mem, n_operands, int64_t);
	for (size_t i = 0; i < n_operands; i++)
		in->operand_ids[i] = emit_id(comp, (size_t)operands[i]);
	instrs_add(em, l, in);
	return in;
}

static uint32_t emit_addition(struct emitter *em)
{
	uint32_t comp = emit_comp_id(em);
	Hlo__ShapeProto *scalar = shape_of(em, 0, (int64_t[]){0});
	struct instrs l = {0};

	add(em, &l, comp, "parameter", scalar, 0, NULL);
	add(em, &l, comp, "parameter", scalar, 0, NULL)->parameter_number = 1;
	emit_comp(em, &l, comp, add(em, &l, comp, "add", scalar, 2, (int64_t[]){1, 2})->id);
	return comp;
}

static Hlo__Literal *zero(struct emitter *em, Hlo__ShapeProto *scalar)
{
	Hlo__Literal *z = arena_alloc(&em->mem, sizeof *z);

	hlo__literal__init(z);
	z->shape = scalar;
	z->n_f32s = 1;
	z->f32s = ARENA_NEW(&em->mem, 1, float);
	return z;
}

Hlo__HloInstructionProto *emit_nothing(struct emitter *em, int64_t id)
{
	uint32_t addition = emit_addition(em), comp = emit_comp_id(em);
	Hlo__ShapeProto *scalar = shape_of(em, 0, (int64_t[]){0}), *one = shape_of(em, 2, (int64_t[]){1, 1});
	Hlo__HloInstructionProto *in, *fusion;
	struct instrs l = {0};

	add(em, &l, comp, "constant", scalar, 0, NULL)->literal = zero(em, scalar);
	add(em, &l, comp, "broadcast", shape_of(em, 3, (int64_t[]){0, EDGE, EDGE}), 1, (int64_t[]){1});
	in = add(em, &l, comp, "reduce", shape_of(em, 2, (int64_t[]){EDGE, EDGE}), 2, (int64_t[]){2, 1});
	in->n_dimensions = 1;
	in->dimensions = ARENA_NEW(&em->mem, 1, int64_t);
	emit_call(em, in, addition);
	in = add(em, &l, comp, "slice", one, 1, (int64_t[]){3});
	in->n_slice_dimensions = 2;
	in->slice_dimensions = ARENA_NEW(&em->mem, 2, Hlo__SliceDimensions *);
	for (int i = 0; i < 2; i++) {
		in->slice_dimensions[i] = arena_alloc(&em->mem, sizeof *in->slice_dimensions[i]);
		hlo__slice_dimensions__init(in->slice_dimensions[i]);
		in->slice_dimensions[i]->limit = in->slice_dimensions[i]->stride = 1;
	}
	emit_comp(em, &l, comp, in->id);
	fusion = emit_op(em, "fusion", one, id);
	fusion->fusion_kind = (char *)"kLoop";
	emit_call(em, fusion, comp);
	return fusion;
}
