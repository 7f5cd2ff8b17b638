/*
 * draft_sum.c - see draft.h: what applies another computation, and products.
 */
#include "space/rewrite/draft_own.h"

#include <string.h>

/* The computation of an operation on two numbers of a type; a comparison asks for the smaller one. */
static int64_t applied(struct draft *d, const char *opcode, int32_t dtype)
{
	Hlo__HloComputationProto *c = arena_alloc(d->mem, sizeof *c);
	Hlo__ProgramShapeProto *s = arena_alloc(d->mem, sizeof *s);
	Hlo__ShapeProto *number = draft_shape(d, dtype, NULL, 0);
	bool compares = strcmp(opcode, "compare") == 0;
	const char *const opcodes[] = {"parameter", "parameter", opcode};
	int64_t high = d->fresh.comp << 32, ids[] = {high | 1, high | 2};

	for (size_t i = 0; i < d->n_comps; i++)
		if (d->comp[i]->program_shape->parameters[0]->element_type == dtype &&
			strcmp(d->comp[i]->instructions[2]->opcode, opcode) == 0)
			return d->comp[i]->id;
	hlo__hlo_computation_proto__init(c);
	hlo__program_shape_proto__init(s);
	c->id = d->fresh.comp++;
	c->name = arena_printf(d->mem, "%s" DRAFT_MARK "%lld", opcode, (long long)c->id + d->fresh.named);
	c->instructions = ARENA_NEW(d->mem, 3, Hlo__HloInstructionProto *);
	c->n_instructions = 3;
	c->program_shape = s;
	s->n_parameters = s->n_parameter_names = 2;
	s->parameters = ARENA_NEW(d->mem, 2, Hlo__ShapeProto *);
	s->parameter_names = ARENA_NEW(d->mem, 2, char *);
	s->result = compares ? draft_shape(d, DT_PRED, NULL, 0) : number;
	for (int i = 0; i < 3; i++) {
		Hlo__HloInstructionProto *in = c->instructions[i] = arena_alloc(d->mem, sizeof *in);
		hlo__hlo_instruction_proto__init(in);
		in->opcode = (char *)opcodes[i];
		in->id = c->root_id = high | (i + 1);
		in->name = arena_printf(d->mem, "%s" DRAFT_MARK "%lld.%d", in->opcode,
			(long long)c->id + d->fresh.named, i);
		in->shape = i == 2 ? s->result : number;
		if (i == 2) {
			in->comparison_direction = (char *)(compares ? "LT" : "");
			in->operand_ids = arena_dup(d->mem, ids, sizeof ids);
			in->n_operand_ids = 2;
			break;
		}
		in->parameter_number = i;
		s->parameters[i] = number;
		s->parameter_names[i] = in->name;
	}
	MEM_GROW(&d->comp, &d->cap_comps, d->n_comps + 1);
	d->comp[d->n_comps++] = c;
	return c->id;
}

static void call(struct draft *d, Hlo__HloInstructionProto *in, int64_t comp)
{
	in->called_computation_ids = arena_dup(d->mem, &comp, sizeof comp);
	in->n_called_computation_ids = 1;
}

Hlo__HloInstructionProto *draft_reduce(struct draft *d, const char *opcode, Hlo__HloInstructionProto *x,
	Hlo__HloInstructionProto *first, const int64_t *dims, uint32_t n)
{
	int64_t rest[DRAFT_RANK];
	uint32_t rank = 0;
	Hlo__HloInstructionProto *in;

	for (uint32_t i = 0; i < draft_rank(x); i++) {
		bool gone = false;
		for (uint32_t k = 0; k < n; k++)
			gone |= dims[k] == i;
		if (!gone)
			rest[rank++] = x->shape->dimensions[i];
	}
	in = draft_op(d, "reduce", rest, rank, (Hlo__HloInstructionProto *[]){x, first}, 2);
	draft_set_dims(d, in, dims, n);
	call(d, in, applied(d, opcode, x->shape->element_type));
	return in;
}

Hlo__HloInstructionProto *draft_sum(struct draft *d, Hlo__HloInstructionProto *x, const int64_t *dims, uint32_t n)
{
	return n ? draft_reduce(d, "add", x, draft_scalar(d, x, 0), dims, n) : x;
}

Hlo__HloInstructionProto *draft_window(struct draft *d, const Hlo__HloInstructionProto *of, const char *opcode,
	Hlo__HloInstructionProto *x, Hlo__HloInstructionProto *first)
{
	x = draft_copy(d, of, of->shape->dimensions, draft_rank(of), (Hlo__HloInstructionProto *[]){x, first}, 2);
	call(d, x, applied(d, opcode, x->shape->element_type));
	return x;
}

Hlo__HloInstructionProto *draft_sort(struct draft *d, Hlo__HloInstructionProto *x, int64_t dim)
{
	BUG_ON(!draft_is_integer(x->shape->element_type));
	x = draft_unary(d, "sort", x);
	draft_set_dims(d, x, &dim, 1);
	x->is_stable = true;
	call(d, x, applied(d, "compare", x->shape->element_type));
	return x;
}

uint32_t dot_rest(const struct dot_dims *dims, int side, uint32_t rank, int64_t *rest)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < rank; i++) {
		bool used = false;
		for (uint32_t k = 0; k < dims->n_batch; k++)
			used |= dims->batch[side][k] == i;
		for (uint32_t k = 0; k < dims->n_sum; k++)
			used |= dims->sum[side][k] == i;
		if (!used)
			rest[n++] = i;
	}
	return n;
}

static Hlo__DotDimensionNumbers *dot_numbers(struct draft *d, const struct dot_dims *dims)
{
	Hlo__DotDimensionNumbers *n = arena_alloc(d->mem, sizeof *n);
	size_t sum = dims->n_sum * sizeof(int64_t), batch = dims->n_batch * sizeof(int64_t);

	hlo__dot_dimension_numbers__init(n);
	n->n_lhs_contracting_dimensions = n->n_rhs_contracting_dimensions = dims->n_sum;
	n->n_lhs_batch_dimensions = n->n_rhs_batch_dimensions = dims->n_batch;
	n->lhs_contracting_dimensions = arena_dup(d->mem, dims->sum[0], sum);
	n->rhs_contracting_dimensions = arena_dup(d->mem, dims->sum[1], sum);
	n->lhs_batch_dimensions = arena_dup(d->mem, dims->batch[0], batch);
	n->rhs_batch_dimensions = arena_dup(d->mem, dims->batch[1], batch);
	return n;
}

static Hlo__PrecisionConfig *highest(struct draft *d)
{
	static const int32_t both[] = {2, 2}; /* schemas/hlo_enum.def */
	Hlo__PrecisionConfig *p = arena_alloc(d->mem, sizeof *p);

	hlo__precision_config__init(p);
	p->operand_precision = arena_dup(d->mem, both, sizeof both);
	p->n_operand_precision = 2;
	return p;
}

Hlo__HloInstructionProto *draft_dot(struct draft *d, Hlo__HloInstructionProto *a, Hlo__HloInstructionProto *b,
	const struct dot_dims *dims, const Hlo__HloInstructionProto *like)
{
	int64_t size[2 * DRAFT_RANK], rest[DRAFT_RANK];
	Hlo__HloInstructionProto *x[2] = {a, b}, *in;
	uint32_t n = 0;

	for (uint32_t k = 0; k < dims->n_batch; k++)
		size[n++] = a->shape->dimensions[dims->batch[0][k]];
	for (uint32_t k = 0; k < dims->n_sum; k++)
		BUG_ON(a->shape->dimensions[dims->sum[0][k]] != b->shape->dimensions[dims->sum[1][k]]);
	for (int side = 0; side < 2; side++) {
		uint32_t n_rest = dot_rest(dims, side, draft_rank(x[side]), rest);
		for (uint32_t k = 0; k < n_rest; k++)
			size[n++] = x[side]->shape->dimensions[rest[k]];
	}
	in = draft_op(d, "dot", size, n, x, 2);
	in->dot_dimension_numbers = dot_numbers(d, dims);
	in->precision_config = like ? like->precision_config : highest(d);
	return in;
}
