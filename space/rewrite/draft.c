/*
 * draft.c - see draft.h. Each function checks what XLA would check, so that a wrong rule fails here and not in a
 * compiler.
 */
#include "space/rewrite/draft.h"

#include <string.h>
#include "hlo/field.h"

#define MARK ".w" /* in a new name, before its number */

struct fresh fresh_of(const struct graph *g)
{
	struct fresh f = {.ids = ids_of(g->module), .comp = 1, .named = ids_unnamed(g->module, MARK)};

	for (uint32_t c = 0; c < g->n_comps; c++)
		f.comp = g->comp[c].proto->id >= f.comp ? g->comp[c].proto->id + 1 : f.comp;
	return f;
}

void draft_begin(struct draft *d, const struct graph *g, const struct fresh *fresh, struct arena *mem)
{
	*d = (struct draft){.mem = mem, .g = g, .fresh = *fresh};
}

void draft_at(struct draft *d, uint32_t anchor)
{
	d->like = d->g->node[anchor].proto;
	d->n = d->n_wide = 0;
	d->widens = d->g->node[anchor].dtype == DT_BF16 || d->g->node[anchor].dtype == DT_F16;
}

void draft_release(struct draft *d)
{
	mem_free(d->v);
	mem_free(d->wide);
	mem_free(d->comp);
	*d = (struct draft){0};
}

static Hlo__ShapeProto *new_shape(struct draft *d, int32_t dtype, const int64_t *dims, uint32_t rank)
{
	Hlo__ShapeProto *s = arena_alloc(d->mem, sizeof *s);
	Hlo__Layout *l = arena_alloc(d->mem, sizeof *l);

	BUG_ON(rank > DRAFT_RANK);
	hlo__shape_proto__init(s);
	hlo__layout__init(l);
	s->element_type = dtype;
	s->n_dimensions = s->n_is_dynamic_dimension = l->n_minor_to_major = rank;
	s->dimensions = arena_dup(d->mem, dims, rank * sizeof *dims);
	s->is_dynamic_dimension = ARENA_NEW(d->mem, rank, protobuf_c_boolean);
	l->minor_to_major = arena_alloc(d->mem, rank * sizeof *l->minor_to_major);
	for (uint32_t i = 0; i < rank; i++)
		l->minor_to_major[i] = rank - 1 - i;
	s->layout = l;
	return s;
}

/* Numbers and names an instruction and adds it to the list. */
static Hlo__HloInstructionProto *number(struct draft *d, Hlo__HloInstructionProto *in, Hlo__HloInstructionProto **x,
	uint32_t n)
{
	in->name = arena_printf(d->mem, "%s" MARK "%lld", in->opcode, (long long)d->fresh.ids.low + d->fresh.named);
	in->id = ids_next(&d->fresh.ids, d->like);
	in->n_operand_ids = n;
	in->operand_ids = arena_alloc(d->mem, n * sizeof *in->operand_ids);
	for (uint32_t i = 0; i < n; i++)
		in->operand_ids[i] = x[i]->id;
	MEM_GROW(&d->v, &d->cap, d->n + 1);
	return d->v[d->n++] = in;
}

static Hlo__HloInstructionProto *add(struct draft *d, Hlo__HloInstructionProto *in, const int64_t *dims, uint32_t rank,
	int32_t dtype, Hlo__HloInstructionProto **x, uint32_t n)
{
	in->metadata = d->like->metadata;
	in->shape = new_shape(d, dtype, dims, rank);
	return number(d, in, x, n);
}

static Hlo__HloInstructionProto *write_op(struct draft *d, const char *opcode, const int64_t *dims, uint32_t rank,
	Hlo__HloInstructionProto **x, uint32_t n)
{
	Hlo__HloInstructionProto *in = arena_alloc(d->mem, sizeof *in);

	hlo__hlo_instruction_proto__init(in);
	in->opcode = (char *)opcode;
	return add(d, in, dims, rank, x[0]->shape->element_type, x, n);
}

static Hlo__HloInstructionProto *copy_of(struct draft *d, const Hlo__HloInstructionProto *of)
{
	Hlo__HloInstructionProto *in = arena_dup(d->mem, of, sizeof *in);

	in->sharding = NULL;
	in->original_value = NULL;
	in->n_control_predecessor_ids = 0;
	return in;
}

Hlo__HloInstructionProto *draft_copy(struct draft *d, const Hlo__HloInstructionProto *of, const int64_t *dims,
	uint32_t rank, Hlo__HloInstructionProto **x, uint32_t n)
{
	return add(d, copy_of(d, of), dims, rank, n ? x[0]->shape->element_type : of->shape->element_type, x, n);
}

Hlo__HloInstructionProto *draft_again(struct draft *d, const Hlo__HloInstructionProto *of,
	Hlo__HloInstructionProto **x, uint32_t n)
{
	return number(d, copy_of(d, of), x, n);
}

Hlo__HloInstructionProto *draft_element(struct draft *d, Hlo__HloInstructionProto *tuple, uint32_t i)
{
	Hlo__HloInstructionProto *in = arena_alloc(d->mem, sizeof *in);

	hlo__hlo_instruction_proto__init(in);
	in->opcode = (char *)"get-tuple-element";
	in->tuple_index = i;
	in->metadata = d->like->metadata;
	in->shape = tuple->shape->tuple_shapes[i];
	return number(d, in, &tuple, 1);
}

Hlo__HloInstructionProto *draft_tuple(struct draft *d, Hlo__HloInstructionProto **x, uint32_t n)
{
	Hlo__HloInstructionProto *in = arena_alloc(d->mem, sizeof *in);

	hlo__hlo_instruction_proto__init(in);
	in->opcode = (char *)"tuple";
	in->metadata = d->like->metadata;
	in->shape = arena_alloc(d->mem, sizeof *in->shape);
	hlo__shape_proto__init(in->shape);
	in->shape->element_type = DT_TUPLE;
	in->shape->n_tuple_shapes = n;
	in->shape->tuple_shapes = ARENA_NEW(d->mem, n + 1, Hlo__ShapeProto *);
	for (uint32_t i = 0; i < n; i++)
		in->shape->tuple_shapes[i] = x[i]->shape;
	return number(d, in, x, n);
}

Hlo__HloInstructionProto *draft_unary(struct draft *d, const char *opcode, Hlo__HloInstructionProto *x)
{
	return write_op(d, opcode, x->shape->dimensions, draft_rank(x), &x, 1);
}

Hlo__HloInstructionProto *draft_binary(struct draft *d, const char *opcode, Hlo__HloInstructionProto *a,
	Hlo__HloInstructionProto *b)
{
	BUG_ON(draft_rank(a) != draft_rank(b));
	for (uint32_t i = 0; i < draft_rank(a); i++)
		BUG_ON(a->shape->dimensions[i] != b->shape->dimensions[i]);
	return write_op(d, opcode, a->shape->dimensions, draft_rank(a), (Hlo__HloInstructionProto *[]){a, b}, 2);
}

Hlo__HloInstructionProto *draft_convert(struct draft *d, Hlo__HloInstructionProto *x, int32_t dtype)
{
	if (x->shape->element_type == dtype)
		return x;
	x = draft_unary(d, "convert", x);
	x->shape->element_type = dtype;
	return x;
}

Hlo__HloInstructionProto *draft_value(struct draft *d, uint32_t node)
{
	Hlo__HloInstructionProto *x = d->g->node[node].proto;

	if (!d->widens || d->g->node[node].dtype != d->like->shape->element_type)
		return x;
	for (size_t i = 0; i < d->n_wide; i++)
		if (d->wide[i].node == node)
			return d->wide[i].x;
	MEM_GROW(&d->wide, &d->cap_wide, d->n_wide + 1);
	d->wide[d->n_wide].node = node;
	return d->wide[d->n_wide++].x = draft_convert(d, x, DT_F32);
}

static bool is_integer(int32_t dtype)
{
	return dtype == DT_S16 || dtype == DT_S32 || dtype == DT_S64 || dtype == DT_U64;
}

/* Puts the value into the literal's field for that type. */
static void set_value(struct draft *d, Hlo__Literal *l, uint8_t dtype, int64_t value)
{
	struct field w = field_of_literal(l, dtype);
	size_t width = literal_width(dtype);
	float f = (float)value;
	double g = (double)value;
	char *bytes = arena_zalloc(d->mem, 1, 2 * sizeof(double));

	BUG_ON(!w.f || (value && dtype != DT_F32 && dtype != DT_F64 && !is_integer(dtype)));
	if (value)
		memcpy(bytes, is_integer(dtype) ? (void *)&value : dtype == DT_F64 ? (void *)&g : (void *)&f, width);
	if (w.f->type == PROTOBUF_C_TYPE_BYTES) {
		field_set_string(&w, bytes, width);
		return;
	}
	*w.count = dtype == DT_C64 || dtype == DT_C128 ? 2 : 1;
	field_set_pointer(&w, bytes);
}

Hlo__HloInstructionProto *draft_scalar(struct draft *d, const Hlo__HloInstructionProto *like, int64_t value)
{
	Hlo__HloInstructionProto *in = arena_alloc(d->mem, sizeof *in);

	hlo__hlo_instruction_proto__init(in);
	in->opcode = (char *)"constant";
	in->literal = arena_alloc(d->mem, sizeof *in->literal);
	hlo__literal__init(in->literal);
	add(d, in, NULL, 0, like->shape->element_type, NULL, 0);
	in->literal->shape = in->shape;
	set_value(d, in->literal, (uint8_t)like->shape->element_type, value);
	return in;
}

Hlo__HloInstructionProto *draft_pad(struct draft *d, Hlo__HloInstructionProto *x, const int64_t *low,
	const int64_t *high, const int64_t *inner, Hlo__HloInstructionProto *with)
{
	uint32_t rank = draft_rank(x);
	int64_t dims[DRAFT_RANK];
	bool any = false;
	Hlo__PaddingConfig *c = arena_alloc(d->mem, sizeof *c);
	Hlo__HloInstructionProto *in;

	hlo__padding_config__init(c);
	c->dimensions = arena_alloc(d->mem, rank * sizeof(*c->dimensions));
	c->n_dimensions = rank;
	for (uint32_t i = 0; i < rank; i++) {
		int64_t n = x->shape->dimensions[i], between = inner && n > 0 ? inner[i] : 0;
		Hlo__PaddingConfigDimension *p = c->dimensions[i] = arena_alloc(d->mem, sizeof *p);
		hlo__padding_config_dimension__init(p);
		p->edge_padding_low = low[i];
		p->edge_padding_high = high[i];
		p->interior_padding = between;
		dims[i] = low[i] + high[i] + n + (n > 0 ? (n - 1) * between : 0);
		BUG_ON(dims[i] < 0);
		any |= low[i] || high[i] || (between && n > 1);
	}
	if (!any)
		return x;
	in = write_op(d, "pad", dims, rank, (Hlo__HloInstructionProto *[]){x, with ? with : draft_scalar(d, x, 0)}, 2);
	in->padding_config = c;
	return in;
}

Hlo__HloInstructionProto *draft_slice(struct draft *d, Hlo__HloInstructionProto *x, const int64_t *first,
	const int64_t *count, const int64_t *step)
{
	uint32_t rank = draft_rank(x);
	bool any = false;
	Hlo__SliceDimensions **s = arena_alloc(d->mem, rank * sizeof(*s));
	Hlo__HloInstructionProto *in;

	for (uint32_t i = 0; i < rank; i++) {
		int64_t by = step ? step[i] : 1;
		s[i] = arena_alloc(d->mem, sizeof **s);
		hlo__slice_dimensions__init(s[i]);
		s[i]->start = first[i];
		s[i]->limit = count[i] ? first[i] + (count[i] - 1) * by + 1 : first[i];
		s[i]->stride = by;
		BUG_ON(first[i] < 0 || s[i]->limit > x->shape->dimensions[i]);
		any |= count[i] != x->shape->dimensions[i];
	}
	if (!any)
		return x;
	in = write_op(d, "slice", count, rank, &x, 1);
	in->slice_dimensions = s;
	in->n_slice_dimensions = rank;
	return in;
}

Hlo__HloInstructionProto *draft_part(struct draft *d, Hlo__HloInstructionProto *x, uint32_t dim, int64_t first,
	int64_t count)
{
	int64_t start[DRAFT_RANK] = {0}, size[DRAFT_RANK];

	memcpy(size, x->shape->dimensions, draft_rank(x) * sizeof *size);
	start[dim] = first;
	size[dim] = count;
	return draft_slice(d, x, start, size, NULL);
}

Hlo__HloInstructionProto *draft_reshape(struct draft *d, Hlo__HloInstructionProto *x, const int64_t *dims,
	uint32_t rank)
{
	int64_t was = 1, is = 1;
	bool same = rank == draft_rank(x);

	for (uint32_t i = 0; i < draft_rank(x); i++)
		was *= x->shape->dimensions[i];
	for (uint32_t i = 0; i < rank; i++) {
		is *= dims[i];
		same = same && dims[i] == x->shape->dimensions[i];
	}
	BUG_ON(was != is);
	return same ? x : write_op(d, "reshape", dims, rank, &x, 1);
}

static void set_dims(struct draft *d, Hlo__HloInstructionProto *in, const int64_t *v, uint32_t n)
{
	in->dimensions = arena_dup(d->mem, v, n * sizeof *v);
	in->n_dimensions = n;
}

Hlo__HloInstructionProto *draft_transpose(struct draft *d, Hlo__HloInstructionProto *x, const int64_t *perm)
{
	uint32_t rank = draft_rank(x);
	int64_t dims[DRAFT_RANK];
	bool any = false;

	for (uint32_t i = 0; i < rank; i++) {
		dims[i] = x->shape->dimensions[perm[i]];
		any |= perm[i] != i;
	}
	if (!any)
		return x;
	x = write_op(d, "transpose", dims, rank, &x, 1);
	set_dims(d, x, perm, rank);
	return x;
}

Hlo__HloInstructionProto *draft_broadcast(struct draft *d, Hlo__HloInstructionProto *x, const int64_t *dims,
	uint32_t rank, const int64_t *map)
{
	uint32_t n = draft_rank(x);
	bool same = n == rank;

	for (uint32_t i = 0; i < n; i++) {
		BUG_ON(dims[map[i]] != x->shape->dimensions[i]);
		same = same && map[i] == i;
	}
	if (same)
		return x;
	x = write_op(d, "broadcast", dims, rank, &x, 1);
	set_dims(d, x, map, n);
	return x;
}

Hlo__HloInstructionProto *draft_concat(struct draft *d, Hlo__HloInstructionProto **x, uint32_t n, uint32_t dim)
{
	int64_t dims[DRAFT_RANK], at = dim;
	Hlo__HloInstructionProto *in;

	if (n == 1)
		return x[0];
	memcpy(dims, x[0]->shape->dimensions, draft_rank(x[0]) * sizeof *dims);
	for (uint32_t i = 1; i < n; i++)
		dims[dim] += x[i]->shape->dimensions[dim];
	in = write_op(d, "concatenate", dims, draft_rank(x[0]), x, n);
	set_dims(d, in, &at, 1);
	return in;
}

/* The computation of an operation on two numbers of a type; a comparison asks for the smaller one. */
static int64_t applied(struct draft *d, const char *opcode, int32_t dtype)
{
	Hlo__HloComputationProto *c = arena_alloc(d->mem, sizeof *c);
	Hlo__ProgramShapeProto *s = arena_alloc(d->mem, sizeof *s);
	Hlo__ShapeProto *number = new_shape(d, dtype, NULL, 0);
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
	c->name = arena_printf(d->mem, "%s" MARK "%lld", opcode, (long long)c->id + d->fresh.named);
	c->instructions = ARENA_NEW(d->mem, 3, Hlo__HloInstructionProto *);
	c->n_instructions = 3;
	c->program_shape = s;
	s->n_parameters = s->n_parameter_names = 2;
	s->parameters = ARENA_NEW(d->mem, 2, Hlo__ShapeProto *);
	s->parameter_names = ARENA_NEW(d->mem, 2, char *);
	s->result = compares ? new_shape(d, DT_PRED, NULL, 0) : number;
	for (int i = 0; i < 3; i++) {
		Hlo__HloInstructionProto *in = c->instructions[i] = arena_alloc(d->mem, sizeof *in);
		hlo__hlo_instruction_proto__init(in);
		in->opcode = (char *)opcodes[i];
		in->id = c->root_id = high | (i + 1);
		in->name = arena_printf(d->mem, "%s" MARK "%lld.%d", in->opcode, (long long)c->id + d->fresh.named, i);
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

Hlo__HloInstructionProto *draft_sum(struct draft *d, Hlo__HloInstructionProto *x, const int64_t *dims, uint32_t n)
{
	int64_t rest[DRAFT_RANK];
	uint32_t rank = 0;
	Hlo__HloInstructionProto *in;

	if (n == 0)
		return x;
	for (uint32_t i = 0; i < draft_rank(x); i++) {
		bool gone = false;
		for (uint32_t k = 0; k < n; k++)
			gone |= dims[k] == i;
		if (!gone)
			rest[rank++] = x->shape->dimensions[i];
	}
	in = write_op(d, "reduce", rest, rank, (Hlo__HloInstructionProto *[]){x, draft_scalar(d, x, 0)}, 2);
	set_dims(d, in, dims, n);
	call(d, in, applied(d, "add", x->shape->element_type));
	return in;
}

Hlo__HloInstructionProto *draft_sort(struct draft *d, Hlo__HloInstructionProto *x, int64_t dim)
{
	BUG_ON(!is_integer(x->shape->element_type));
	x = draft_unary(d, "sort", x);
	set_dims(d, x, &dim, 1);
	x->is_stable = true;
	call(d, x, applied(d, "compare", x->shape->element_type));
	return x;
}

Hlo__HloInstructionProto *draft_iota(struct draft *d, int32_t dtype, const Hlo__HloInstructionProto *like, int64_t dim)
{
	Hlo__HloInstructionProto *in = arena_alloc(d->mem, sizeof *in);

	hlo__hlo_instruction_proto__init(in);
	in->opcode = (char *)"iota";
	add(d, in, like->shape->dimensions, draft_rank(like), dtype, NULL, 0);
	set_dims(d, in, &dim, 1);
	return in;
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
	in = write_op(d, "dot", size, n, x, 2);
	in->dot_dimension_numbers = dot_numbers(d, dims);
	in->precision_config = like ? like->precision_config : highest(d);
	return in;
}
