/*
 * keys.c - sorts by integers that stand in the order of what was to be sorted.
 *
 * A compiler has a fast sort for one array of integers under a plain comparison, and calls any other comparator once
 * for every two numbers. JAX compares floats by a dozen operations: zeros become one zero, NaNs become one NaN, and
 * what is left is compared by the total order of its bits. A comparator like this is f(a) < f(b), with one f on both
 * sides. So f is computed once for each number, and the bits of its result, read as an integer, are the key: a negative
 * float has all bits but the sign turned over, because its bits grow as it falls. Keys in the other order are
 * complements.
 *
 * One array (float_keys) is made again from its sorted keys, so they must not forget anything. Where f only joins zeros
 * or NaNs, the keys are those of the numbers themselves: the result has the bits that went in, and at most numbers that
 * the comparator takes for equal stand in another order among themselves. All NaNs are larger than all numbers then:
 * those with a sign are the smallest keys at first, and a subtraction that wraps around makes them the largest.
 *
 * Otherwise (packed_keys) the upper half of an integer of 64 bits has the key and the lower half the place. Sorted, the
 * lower halves tell which element goes where; each array is gathered by them, and one that numbers the places, as for
 * an argsort, is these numbers. Places make all keys different, so ties come out as a stable sort leaves them, and the
 * result is the same bit for bit. The keys are what f gives, computed by f's own operations. So where JAX's comparator
 * takes denormals for zeros, because XLA:CPU lets the processor do so, the keys do. A comparator that joins zeros but
 * not NaNs may differ there: XLA optimises as if denormals were not zeros, in one place and not in another.
 *
 * Keys can also be sorted by a network (network.c), which makes short rows many times as fast. It calls no comparator,
 * so it serves one array of integers, too, whose own sort is fast only where rows are long.
 *
 * Left out: comparators that look at several arrays, and plain comparisons of floats, which are no order where there
 * are NaNs. Three arrays sorted by integer keys that lie beside them were twice as slow as the comparator's sort.
 */
#include <math.h>
#include <string.h>
#include "hlo/shape.h"
#include "space/rewrite/codes.h"

#define LARGEST 64 /* comparator, in nodes */
#define MIXED UINT32_MAX

static const char *const measures[] = {"elements", "row", "levels", "steps", NULL};

struct order { /* what a comparator says of two numbers */
	const struct comp *c;
	uint32_t value;	      /* its node f(a) */
	uint32_t operand;     /* of the sort: where a and b are from */
	uint32_t of[LARGEST]; /* per node from c->first on: 1 + the parameter it is made of, or 0, or MIXED */
	bool descending;
};

/* Does it give the same numbers wherever it is computed? */
static bool is_exact(const struct graph *g, uint32_t v)
{
	if (g->node[v].rank || g->node[v].elements != 1 || g->node[v].dtype == DT_TUPLE)
		return false;
	switch (g->node[v].opcode) {
	case OP_PARAMETER:
	case OP_CONSTANT:
	case OP_COMPARE:
	case OP_SELECT:
	case OP_CONVERT:
	case OP_BITCAST_CONVERT:
	case OP_SUBTRACT:
	case OP_NEGATE:
	case OP_ABS:
	case OP_NOT:
	case OP_AND:
	case OP_OR:
	case OP_XOR:
	case OP_SHIFT_LEFT:
	case OP_SHIFT_RIGHT_ARITHMETIC:
	case OP_SHIFT_RIGHT_LOGICAL:
		return !(g->node[v].flags & (NODE_SIDE_EFFECT | NODE_CONTROL));
	default:
		return false;
	}
}

static bool is_float(int32_t dtype)
{
	return dtype == DT_F32 || dtype == DT_F64 || dtype == DT_F16 || dtype == DT_BF16;
}

static bool has_sign(int32_t dtype)
{
	return is_float(dtype) || dtype == DT_S32 || dtype == DT_S16 || dtype == DT_S8;
}

/* Is it a type from which a key of 32 bits follows? */
static bool fits_beside_place(int32_t dtype)
{
	return dtype != DT_F64 && (has_sign(dtype) || dtype == DT_U32 || dtype == DT_U16 || dtype == DT_U8);
}

static bool is_integer(int32_t dtype)
{
	return dtype == DT_S64 || dtype == DT_U64 || (!is_float(dtype) && fits_beside_place(dtype));
}

/* Does an instruction compare by total order? Integers have no other one. */
static bool is_total(const Hlo__HloInstructionProto *in, int32_t dtype)
{
	return !is_float(dtype) || strcmp(in->comparison_type, "TOTALORDER") == 0;
}

/* Does a parameter have the type of the elements that it stands for? */
static bool is_given(const struct graph *g, uint32_t sort, uint32_t v)
{
	uint64_t k = (uint64_t)g->node[v].proto->parameter_number / 2;

	return k < g->node[sort].n_operands && g->node[node_operands(g, sort)[k]].dtype == g->node[v].dtype;
}

/*
 * Fills `of`, and a hash of what each node computes, in which all parameters are alike: two nodes with the same hash
 * are one function. False if the comparator has other operations than those above.
 */
static bool read_nodes(const struct graph *g, uint32_t sort, struct order *o, uint64_t *hash)
{
	for (uint32_t i = 0; i < o->c->n_nodes; i++) {
		uint32_t v = o->c->first + i;
		const uint32_t *x = node_operands(g, v);
		bool given = g->node[v].opcode == OP_PARAMETER;
		if (!is_exact(g, v) || (given && !is_given(g, sort, v)))
			return false;
		o->of[i] = given ? 1 + (uint32_t)g->node[v].proto->parameter_number : 0;
		hash[i] = given ? g->node[v].dtype : node_local_hash(g, v, false);
		for (uint32_t k = 0; k < g->node[v].n_operands; k++) {
			uint32_t of = o->of[x[k] - o->c->first];
			hash[i] = hash_mix(hash[i], hash[x[k] - o->c->first]);
			if (of && of != o->of[i])
				o->of[i] = o->of[i] ? MIXED : of;
		}
	}
	return true;
}

/* Is the comparator of a sort f(a) < f(b), or f(a) > f(b)? */
static bool read_order(const struct graph *g, uint32_t v, struct order *o)
{
	const struct comp *c = &g->comp[node_calls(g, v)[0]];
	const Hlo__HloInstructionProto *root = g->node[c->root].proto;
	uint64_t hash[LARGEST];
	const uint32_t *side;
	uint32_t a, b;
	bool greater;

	*o = (struct order){.c = c};
	if (c->n_nodes > LARGEST || g->node[c->root].opcode != OP_COMPARE || !read_nodes(g, v, o, hash))
		return false;
	side = node_operands(g, c->root);
	a = o->of[side[0] - c->first];
	b = o->of[side[1] - c->first];
	o->value = side[0];
	o->operand = (a - 1) / 2;
	greater = strcmp(root->comparison_direction, "GT") == 0;
	o->descending = greater == (a % 2 == 1);
	return (greater || strcmp(root->comparison_direction, "LT") == 0) && a && b && a != MIXED && b != MIXED &&
		((a - 1) ^ 1) == b - 1 && hash[side[0] - c->first] == hash[side[1] - c->first] &&
		is_total(root, g->node[side[0]].dtype);
}

/* Is it a sort along one dimension of arrays of one shape, whose results have the shapes of its operands? */
static bool is_sort(const struct graph *g, uint32_t v)
{
	const struct node *n = &g->node[v];
	const Hlo__ShapeProto *s = n->proto->shape;
	bool alone = n->n_operands == 1;

	if (n->opcode != OP_SORT || n->proto->n_dimensions != 1 || n->proto->sharding || n->n_called != 1 ||
		(n->flags & (NODE_SIDE_EFFECT | NODE_CONTROL)) || (!alone && s->n_tuple_shapes != n->n_operands))
		return false;
	for (uint32_t k = 0; k < n->n_operands; k++) {
		const struct node *x = &g->node[node_operands(g, v)[k]], *first = &g->node[node_operands(g, v)[0]];
		const Hlo__ShapeProto *shape = x->proto->shape;
		if (x->dtype == DT_TUPLE || !x->rank || x->rank > DRAFT_RANK - 2 || x->rank != first->rank ||
			!x->elements || !shape_same(shape, alone ? s : s->tuple_shapes[k]))
			return false;
		for (uint32_t i = 0; i < x->rank; i++)
			if (shape->dimensions[i] != first->proto->shape->dimensions[i] ||
				(i < shape->n_is_dynamic_dimension && shape->is_dynamic_dimension[i]))
				return false;
	}
	return n->proto->dimensions[0] >= 0 && n->proto->dimensions[0] < g->node[node_operands(g, v)[0]].rank;
}

static bool is_nan(const struct graph *g, uint32_t v)
{
	double x;

	return rule_constant(g, v, &x) && isnan(x) && !signbit(x);
}

static bool is_zero(const struct graph *g, uint32_t v)
{
	double x;

	return rule_constant(g, v, &x) && !(x < 0) && !(x > 0) && !isnan(x);
}

/* Does f do no more than to make one number of zeros, or a NaN that is larger than all numbers of NaNs (`last`)? */
static bool joins_few(const struct graph *g, uint32_t f, bool *last)
{
	*last = false;
	while (g->node[f].opcode == OP_SELECT) {
		const uint32_t *x = node_operands(g, f), *y = node_operands(g, x[0]);
		const Hlo__HloInstructionProto *test = g->node[x[0]].proto;
		if (g->node[x[0]].opcode != OP_COMPARE || g->node[y[0]].opcode != OP_PARAMETER ||
			strcmp(test->comparison_type, "TOTALORDER") == 0)
			return false;
		if (strcmp(test->comparison_direction, "NE") == 0 && y[0] == y[1] && is_nan(g, x[1]))
			*last = true;
		else if (strcmp(test->comparison_direction, "EQ") != 0 || !is_zero(g, y[1]) || !is_zero(g, x[1]))
			return false;
		f = x[2];
	}
	return g->node[f].opcode == OP_PARAMETER && is_float(g->node[f].dtype);
}

static bool match(const struct graph *g, uint32_t v, struct order *o, struct found *f)
{
	uint32_t x;

	if (!is_sort(g, v) || !read_order(g, v, o))
		return false;
	x = node_operands(g, v)[o->operand];
	f->measure[0] = (double)g->node[x].elements;
	f->measure[1] = (double)rule_dim(g, x, g->node[v].proto->dimensions[0]);
	f->measure[2] = log2(f->measure[1]);
	f->measure[3] = (double)o->c->n_nodes;
	return true;
}

static bool match_float(const struct graph *g, uint32_t v, struct found *f)
{
	struct order o;
	bool last;

	return match(g, v, &o, f) && g->node[v].n_operands == 1 && joins_few(g, o.value, &last);
}

/* Is it one array of integers in their own order? */
static bool match_integer(const struct graph *g, uint32_t v, struct found *f)
{
	struct order o;

	return match(g, v, &o, f) && g->node[v].n_operands == 1 && g->node[o.value].opcode == OP_PARAMETER &&
		is_integer(g->node[o.value].dtype);
}

/* Adds an array that numbers the places along a dimension to what is looked through. */
static void add_places(const struct graph *g, uint32_t x, int64_t dim, struct found *f)
{
	uint32_t iota = x;

	if (g->node[x].opcode == OP_BROADCAST && g->node[x].proto->n_dimensions == 1 &&
		g->node[x].proto->dimensions[0] == dim) {
		iota = node_operands(g, x)[0];
		dim = 0;
	}
	if (g->node[iota].opcode != OP_IOTA || g->node[iota].proto->n_dimensions != 1 ||
		g->node[iota].proto->dimensions[0] != dim || !rule_plain(g, x) || !rule_plain(g, iota) ||
		is_float(g->node[iota].dtype) || dtype_bits(g->node[iota].dtype) < 32 ||
		f->n_inside + 2 > FOUND_INSIDE)
		return;
	f->inside[f->n_inside++] = x;
	if (iota != x && !found_inside(f, iota))
		f->inside[f->n_inside++] = iota;
}

static bool match_packed(const struct graph *g, uint32_t v, struct found *f)
{
	struct order o;
	bool last;

	if (!match(g, v, &o, f) || f->measure[1] > INT32_MAX)
		return false;
	if (g->node[v].n_operands == 1 &&
		(g->node[o.value].opcode == OP_PARAMETER || joins_few(g, o.value, &last)))
		return false;
	if (!fits_beside_place(g->node[o.value].dtype))
		return false;
	for (uint32_t k = 0; k < g->node[v].n_operands; k++)
		if (!found_inside(f, node_operands(g, v)[k]))
			add_places(g, node_operands(g, v)[k], g->node[v].proto->dimensions[0], f);
	return true;
}

static bool match_network(const struct graph *g, uint32_t v, struct found *f)
{
	return match_float(g, v, f) || match_integer(g, v, f) || match_packed(g, v, f);
}

/* ---- writing ---- */
typedef Hlo__HloInstructionProto *sorter(struct draft *d, Hlo__HloInstructionProto *x, int64_t dim);

/* Turns over all bits but the sign of negative integers. Twice, that changes nothing. */
static Hlo__HloInstructionProto *turned(struct draft *d, Hlo__HloInstructionProto *x, uint32_t bits)
{
	Hlo__HloInstructionProto *ones = draft_with(d, "shift-right-arithmetic", x, bits - 1);

	return draft_binary(d, "xor", x, draft_with(d, "shift-right-logical", ones, 1));
}

/* The integers in the order of floats. */
static Hlo__HloInstructionProto *key_of(struct draft *d, Hlo__HloInstructionProto *x)
{
	uint32_t bits = dtype_bits((uint8_t)x->shape->element_type);

	return turned(d, draft_bits(d, x, bits == 64 ? DT_S64 : bits == 32 ? DT_S32 : DT_S16), bits);
}

/* How many NaNs have a sign. So many keys come before that of minus infinity. */
static int64_t signed_nans(int32_t dtype)
{
	switch (dtype) {
	case DT_F64:
		return (INT64_C(1) << 52) - 1;
	case DT_F32:
		return (1 << 23) - 1;
	case DT_F16:
		return (1 << 10) - 1;
	default:
		return (1 << 7) - 1;
	}
}

/* One array of floats or integers, made again from its sorted keys. */
static Hlo__HloInstructionProto *write_one(struct draft *d, const struct found *f, sorter *by)
{
	const struct graph *g = d->g;
	Hlo__HloInstructionProto *x = g->node[node_operands(g, f->anchor)[0]].proto;
	int32_t dtype = x->shape->element_type;
	bool floats = is_float(dtype), last = false;
	struct order o;

	read_order(g, f->anchor, &o);
	if (floats)
		joins_few(g, o.value, &last);
	x = floats ? key_of(d, x) : x;
	x = last ? draft_with(d, "subtract", x, signed_nans(dtype)) : x;
	x = o.descending ? draft_unary(d, "not", x) : x;
	x = by(d, x, g->node[f->anchor].proto->dimensions[0]);
	x = o.descending ? draft_unary(d, "not", x) : x;
	x = last ? draft_with(d, "add", x, signed_nans(dtype)) : x;
	return floats ? draft_bits(d, turned(d, x, dtype_bits((uint8_t)dtype)), dtype) : x;
}

static Hlo__HloInstructionProto *write_float(struct draft *d, const struct found *f, uint32_t variant)
{
	(void)variant;
	return write_one(d, f, draft_sort);
}

/* f of all numbers of an array. */
static Hlo__HloInstructionProto *mapped(struct draft *d, const struct order *o, Hlo__HloInstructionProto *x)
{
	const struct graph *g = d->g;
	const int64_t *dims = x->shape->dimensions;
	uint32_t rank = draft_rank(x), of = o->of[o->value - o->c->first];
	Hlo__HloInstructionProto *value[LARGEST] = {NULL};

	for (uint32_t i = 0; i <= o->value - o->c->first; i++) {
		uint32_t v = o->c->first + i;
		Hlo__HloInstructionProto *y[3] = {NULL};
		if (o->of[i] && o->of[i] != of)
			continue;
		for (uint32_t k = 0; k < g->node[v].n_operands && k < 3; k++)
			y[k] = value[node_operands(g, v)[k] - o->c->first];
		if (g->node[v].opcode == OP_PARAMETER) {
			value[i] = x;
		} else if (g->node[v].opcode == OP_CONSTANT) {
			value[i] = draft_copy(d, g->node[v].proto, NULL, 0, NULL, 0);
			value[i] = draft_broadcast(d, value[i], dims, rank, NULL);
		} else {
			value[i] = draft_copy(d, g->node[v].proto, dims, rank, y, g->node[v].n_operands);
			value[i]->shape->element_type = g->node[v].dtype;
		}
	}
	return value[o->value - o->c->first];
}

/* Keys and places, sorted. */
static Hlo__HloInstructionProto *sorted(struct draft *d, const struct order *o, uint32_t v, sorter *by)
{
	int64_t dim = d->g->node[v].proto->dimensions[0];
	Hlo__HloInstructionProto *x = mapped(d, o, d->g->node[node_operands(d->g, v)[o->operand]].proto);
	int32_t dtype = x->shape->element_type;

	x = is_float(dtype) ? key_of(d, x) : x;
	x = o->descending ? draft_unary(d, "not", x) : x;
	x = draft_convert(d, x, has_sign(dtype) ? DT_S64 : DT_U64);
	x = draft_binary(d, "or", draft_with(d, "shift-left", x, 32), draft_iota(d, x->shape->element_type,
		x->shape->dimensions, draft_rank(x), dim));
	return by(d, x, dim);
}

/* The elements of x at the places, along a dimension. */
static Hlo__HloInstructionProto *taken(struct draft *d, Hlo__HloInstructionProto *x, Hlo__HloInstructionProto *places,
	int64_t dim)
{
	Hlo__GatherDimensionNumbers *n = arena_alloc(d->mem, sizeof *n);
	uint32_t rank = draft_rank(x);
	int64_t size[DRAFT_RANK], others[DRAFT_RANK], dims[DRAFT_RANK];
	Hlo__HloInstructionProto in;
	size_t n_others = 0;

	memcpy(dims, x->shape->dimensions, rank * sizeof *dims);
	dims[rank] = 1;
	for (uint32_t i = 0; i < rank; i++) {
		size[i] = 1;
		if (i != dim)
			others[n_others++] = i;
	}
	hlo__gather_dimension_numbers__init(n);
	n->index_vector_dim = rank;
	n->n_collapsed_slice_dims = n->n_start_index_map = 1;
	n->collapsed_slice_dims = n->start_index_map = arena_dup(d->mem, &dim, sizeof dim);
	n->n_operand_batching_dims = n->n_start_indices_batching_dims = n_others;
	n->operand_batching_dims = n->start_indices_batching_dims =
		arena_dup(d->mem, others, n_others * sizeof *others);
	hlo__hlo_instruction_proto__init(&in);
	in.opcode = (char *)"gather";
	in.gather_dimension_numbers = n;
	in.gather_slice_sizes = arena_dup(d->mem, size, rank * sizeof *size);
	in.n_gather_slice_sizes = rank;
	places = draft_reshape(d, places, dims, rank + 1);
	return draft_copy(d, &in, x->shape->dimensions, rank, (Hlo__HloInstructionProto *[]){x, places}, 2);
}

static Hlo__HloInstructionProto *write_several(struct draft *d, const struct found *f, sorter *by)
{
	const struct graph *g = d->g;
	const struct node *n = &g->node[f->anchor];
	Hlo__HloInstructionProto **result = ARENA_NEW(d->mem, n->n_operands, Hlo__HloInstructionProto *), *places;
	struct order o;

	read_order(g, f->anchor, &o);
	places = draft_convert(d, sorted(d, &o, f->anchor, by), DT_S32);
	for (uint32_t k = 0; k < n->n_operands; k++) {
		uint32_t x = node_operands(g, f->anchor)[k];
		result[k] = found_inside(f, x) ? draft_convert(d, places, g->node[x].dtype) :
			taken(d, g->node[x].proto, places, n->proto->dimensions[0]);
	}
	return n->n_operands == 1 ? result[0] : draft_tuple(d, result, n->n_operands);
}

static Hlo__HloInstructionProto *write_packed(struct draft *d, const struct found *f, uint32_t variant)
{
	(void)variant;
	return write_several(d, f, draft_sort);
}

static Hlo__HloInstructionProto *write_network(struct draft *d, const struct found *f, uint32_t variant)
{
	struct found one;

	(void)variant;
	return match_float(d->g, f->anchor, &one) || match_integer(d->g, f->anchor, &one) ?
		write_one(d, f, rule_network) : write_several(d, f, rule_network);
}

const struct rule_code float_keys_code = {.name = "float_keys", .measures = measures, .match = match_float,
	.write = write_float};
const struct rule_code packed_keys_code = {.name = "packed_keys", .measures = measures, .match = match_packed,
	.write = write_packed};
const struct rule_code sorting_network_code = {.name = "sorting_network", .measures = measures, .match = match_network,
	.write = write_network};
