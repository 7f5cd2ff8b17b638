/*
 * draft.c - see draft.h. Each function checks what XLA would check, so that a wrong rule fails here and not in a
 * compiler.
 */
#include "space/rewrite/draft_own.h"

#include <string.h>
#include "hlo/field.h"
#include "hlo/float.h"

struct fresh fresh_of(const struct graph *g)
{
	return (struct fresh){.ids = ids_of(g->module), .comp = ids_next_comp(g->module),
		.named = ids_unnamed(g->module, DRAFT_MARK)};
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

Hlo__ShapeProto *draft_shape(struct draft *d, int32_t dtype, const int64_t *dims, uint32_t rank)
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
	in->name = arena_printf(d->mem, "%s" DRAFT_MARK "%lld", in->opcode,
		(long long)d->fresh.ids.low + d->fresh.named);
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
	in->shape = draft_shape(d, dtype, dims, rank);
	return number(d, in, x, n);
}

Hlo__HloInstructionProto *draft_op(struct draft *d, const char *opcode, const int64_t *dims, uint32_t rank,
	Hlo__HloInstructionProto **x, uint32_t n)
{
	Hlo__HloInstructionProto *in = arena_alloc(d->mem, sizeof *in);

	hlo__hlo_instruction_proto__init(in);
	in->opcode = (char *)opcode;
	return add(d, in, dims, rank, x[0]->shape->element_type, x, n);
}

void draft_set_dims(struct draft *d, Hlo__HloInstructionProto *in, const int64_t *v, uint32_t n)
{
	in->dimensions = arena_dup(d->mem, v, n * sizeof *v);
	in->n_dimensions = n;
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

void draft_keep(struct draft *d, Hlo__HloInstructionProto **x, uint32_t n)
{
	Hlo__HloInstructionProto *all = draft_tuple(d, x, n), *kept = draft_unary(d, "opt-barrier", all);

	kept->shape = all->shape;
	for (uint32_t i = 0; i < n; i++)
		x[i] = draft_element(d, kept, i);
}

Hlo__HloInstructionProto *draft_unary(struct draft *d, const char *opcode, Hlo__HloInstructionProto *x)
{
	return draft_op(d, opcode, x->shape->dimensions, draft_rank(x), &x, 1);
}

static void must_agree(const Hlo__HloInstructionProto *a, const Hlo__HloInstructionProto *b)
{
	BUG_ON(draft_rank(a) != draft_rank(b));
	for (uint32_t i = 0; i < draft_rank(a); i++)
		BUG_ON(a->shape->dimensions[i] != b->shape->dimensions[i]);
}

Hlo__HloInstructionProto *draft_binary(struct draft *d, const char *opcode, Hlo__HloInstructionProto *a,
	Hlo__HloInstructionProto *b)
{
	must_agree(a, b);
	return draft_op(d, opcode, a->shape->dimensions, draft_rank(a), (Hlo__HloInstructionProto *[]){a, b}, 2);
}

Hlo__HloInstructionProto *draft_compare(struct draft *d, const char *direction, Hlo__HloInstructionProto *a,
	Hlo__HloInstructionProto *b)
{
	Hlo__HloInstructionProto *in = draft_binary(d, "compare", a, b);

	BUG_ON(a->shape->element_type != b->shape->element_type);
	in->comparison_direction = (char *)direction;
	in->shape->element_type = DT_PRED;
	return in;
}

Hlo__HloInstructionProto *draft_select(struct draft *d, Hlo__HloInstructionProto *which, Hlo__HloInstructionProto *a,
	Hlo__HloInstructionProto *b)
{
	Hlo__HloInstructionProto *in;

	must_agree(which, a);
	must_agree(a, b);
	BUG_ON(which->shape->element_type != DT_PRED || a->shape->element_type != b->shape->element_type);
	in = draft_op(d, "select", a->shape->dimensions, draft_rank(a),
		(Hlo__HloInstructionProto *[]){which, a, b}, 3);
	in->shape->element_type = a->shape->element_type;
	return in;
}

Hlo__HloInstructionProto *draft_convert(struct draft *d, Hlo__HloInstructionProto *x, int32_t dtype)
{
	if (x->shape->element_type == dtype)
		return x;
	x = draft_unary(d, "convert", x);
	x->shape->element_type = dtype;
	return x;
}

Hlo__HloInstructionProto *draft_rounded(struct draft *d, Hlo__HloInstructionProto *x, int32_t dtype)
{
	if (x->shape->element_type == dtype)
		return x;
	x = draft_unary(d, "reduce-precision", x);
	x->exponent_bits = float_exponent_bits((uint8_t)dtype);
	x->mantissa_bits = float_mantissa_bits((uint8_t)dtype);
	return x;
}

Hlo__HloInstructionProto *draft_bits(struct draft *d, Hlo__HloInstructionProto *x, int32_t dtype)
{
	x = draft_unary(d, "bitcast-convert", x);
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

bool draft_is_integer(int32_t dtype)
{
	return dtype == DT_S16 || dtype == DT_S32 || dtype == DT_S64 || dtype == DT_U32 || dtype == DT_U64;
}

/* Puts a number, which lies at `from` in that type, into the literal's field for it; NULL: 0. */
static void set_value(struct draft *d, Hlo__Literal *l, uint8_t dtype, const void *from)
{
	struct field w = field_of_literal(l, dtype);
	size_t width = literal_width(dtype);
	char *bytes = arena_zalloc(d->mem, 1, 2 * sizeof(double));

	BUG_ON(!w.f);
	if (from)
		memcpy(bytes, from, width);
	if (w.f->type == PROTOBUF_C_TYPE_BYTES) {
		field_set_string(&w, bytes, width);
		return;
	}
	*w.count = dtype == DT_C64 || dtype == DT_C128 ? 2 : 1;
	field_set_pointer(&w, bytes);
}

static Hlo__HloInstructionProto *constant(struct draft *d, int32_t dtype, const void *from)
{
	Hlo__HloInstructionProto *in = arena_alloc(d->mem, sizeof *in);

	hlo__hlo_instruction_proto__init(in);
	in->opcode = (char *)"constant";
	in->literal = arena_alloc(d->mem, sizeof *in->literal);
	hlo__literal__init(in->literal);
	add(d, in, NULL, 0, dtype, NULL, 0);
	in->literal->shape = in->shape;
	set_value(d, in->literal, (uint8_t)dtype, from);
	return in;
}

Hlo__HloInstructionProto *draft_number(struct draft *d, int32_t dtype, int64_t value)
{
	bool real = dtype == DT_F32 || dtype == DT_F64;

	BUG_ON(value && !real && dtype != DT_PRED && !draft_is_integer(dtype));
	return real ? draft_real(d, dtype, (double)value) : constant(d, dtype, value ? &value : NULL);
}

Hlo__HloInstructionProto *draft_real(struct draft *d, int32_t dtype, double value)
{
	float f = (float)value;

	BUG_ON(dtype != DT_F32 && dtype != DT_F64);
	return constant(d, dtype, dtype == DT_F64 ? (void *)&value : &f);
}

Hlo__HloInstructionProto *draft_scalar(struct draft *d, const Hlo__HloInstructionProto *like, int64_t value)
{
	return draft_number(d, like->shape->element_type, value);
}

Hlo__HloInstructionProto *draft_filled(struct draft *d, int32_t dtype, int64_t value, const int64_t *dims,
	uint32_t rank)
{
	return draft_broadcast(d, draft_number(d, dtype, value), dims, rank, NULL);
}

Hlo__HloInstructionProto *draft_with(struct draft *d, const char *opcode, Hlo__HloInstructionProto *x, int64_t value)
{
	return draft_binary(d, opcode, x, draft_filled(d, x->shape->element_type, value, x->shape->dimensions,
		draft_rank(x)));
}

Hlo__HloInstructionProto *draft_iota(struct draft *d, int32_t dtype, const int64_t *dims, uint32_t rank, int64_t along)
{
	Hlo__HloInstructionProto *in = arena_alloc(d->mem, sizeof *in);

	BUG_ON(along < 0 || along >= rank);
	hlo__hlo_instruction_proto__init(in);
	in->opcode = (char *)"iota";
	draft_set_dims(d, in, &along, 1);
	return add(d, in, dims, rank, dtype, NULL, 0);
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
	in = draft_op(d, "pad", dims, rank, (Hlo__HloInstructionProto *[]){x, with ? with : draft_scalar(d, x, 0)}, 2);
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
	in = draft_op(d, "slice", count, rank, &x, 1);
	in->slice_dimensions = s;
	in->n_slice_dimensions = rank;
	return in;
}

Hlo__HloInstructionProto *draft_every(struct draft *d, Hlo__HloInstructionProto *x, uint32_t dim, int64_t first,
	int64_t count, int64_t step)
{
	int64_t start[DRAFT_RANK] = {0}, size[DRAFT_RANK], steps[DRAFT_RANK];

	memcpy(size, x->shape->dimensions, draft_rank(x) * sizeof *size);
	for (uint32_t i = 0; i < draft_rank(x); i++)
		steps[i] = i == dim ? step : 1;
	start[dim] = first;
	size[dim] = count;
	return draft_slice(d, x, start, size, steps);
}

Hlo__HloInstructionProto *draft_part(struct draft *d, Hlo__HloInstructionProto *x, uint32_t dim, int64_t first,
	int64_t count)
{
	return draft_every(d, x, dim, first, count, 1);
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
	return same ? x : draft_op(d, "reshape", dims, rank, &x, 1);
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
	x = draft_op(d, "transpose", dims, rank, &x, 1);
	draft_set_dims(d, x, perm, rank);
	return x;
}

Hlo__HloInstructionProto *draft_moved(struct draft *d, Hlo__HloInstructionProto *x, int64_t from, int64_t to)
{
	int64_t perm[DRAFT_RANK], next = 0;

	for (int64_t i = 0; i < draft_rank(x); i++) {
		next += next == from;
		perm[i] = i == to ? from : next++;
	}
	return draft_transpose(d, x, perm);
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
	x = draft_op(d, "broadcast", dims, rank, &x, 1);
	draft_set_dims(d, x, map, n);
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
	in = draft_op(d, "concatenate", dims, draft_rank(x[0]), x, n);
	draft_set_dims(d, in, &at, 1);
	return in;
}
