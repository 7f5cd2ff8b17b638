/*
 * pairs.c - finds where the largest or smallest number is: first the number, then the first place that has it.
 *
 * A framework reduces pairs of a number and its place by a function of a dozen operations, one pair after the other,
 * for which the compiler has no vector code. For a maximum, a comparison with it, and a minimum over places it has.
 *
 * The function that reduces may be written in many ways, so it is not recognised but tried. If it has no operations but
 * comparisons, choices and logic over its four parameters, all that it can depend on is which of two numbers is larger,
 * whether they are NaN, and which of two places comes first. These are few cases, and each is computed. It must choose
 * a NaN before all numbers, then the larger one, then the one that came first.
 *
 * Only the place may be used. The number would be right but for the sign of a zero, and if maxima keep NaNs, which
 * those of a library may not (YNNPACK's lose them). So a NaN is not sought by the maximum: of n places, those of NaNs
 * keep their numbers, and those of the largest come n later.
 */
#include <math.h>
#include <string.h>
#include "space/rewrite/codes.h"

#define LARGEST 64 /* function, in nodes */
#define LONGEST (1 << 29) /* row: twice as many places are numbered */

static const char *const measures[] = {"elements", "row", NULL};

static bool compares(const char *direction, double a, double b, double *out)
{
	static const char *const known[] = {"EQ", "NE", "LT", "LE", "GT", "GE"};
	const double is[] = {a == b, a != b, a < b, a <= b, a > b, a >= b};

	for (size_t i = 0; i < sizeof known / sizeof *known; i++)
		if (strcmp(direction, known[i]) == 0) {
			*out = is[i];
			return true;
		}
	return false;
}

/* Computes one node of a function of pairs; false if it is none of the operations that are allowed. */
static bool compute(const struct graph *g, uint32_t v, uint32_t first, const double given[4], double *value)
{
	const struct node *n = &g->node[v];
	const uint32_t *x = node_operands(g, v);
	double *out = &value[v - first], of[3] = {0};

	if (n->rank || n->flags & (NODE_SIDE_EFFECT | NODE_CONTROL))
		return false;
	for (uint32_t k = 0; k < n->n_operands && k < 3; k++)
		of[k] = value[x[k] - first];
	switch (n->opcode) {
	case OP_PARAMETER:
		*out = given[n->proto->parameter_number & 3];
		return n->proto->parameter_number < 4;
	case OP_COMPARE:
		return strcmp(n->proto->comparison_type, "TOTALORDER") != 0 && g->node[x[0]].dtype != DT_PRED &&
			compares(n->proto->comparison_direction, of[0], of[1], out);
	case OP_SELECT:
		*out = of[0] > 0 ? of[1] : of[2];
		return true;
	case OP_AND:
		*out = of[0] > 0 && of[1] > 0;
		return n->dtype == DT_PRED;
	case OP_OR:
		*out = of[0] > 0 || of[1] > 0;
		return n->dtype == DT_PRED;
	case OP_NOT:
		*out = !(of[0] > 0);
		return n->dtype == DT_PRED;
	case OP_TUPLE:
		return n->n_operands == 2 && v == g->comp[n->comp].root;
	default:
		return false;
	}
}

/* What a reduction's function makes of two pairs; false if it cannot be told. */
static bool apply(const struct graph *g, uint32_t reduce, const double given[4], double out[2])
{
	const struct comp *c = &g->comp[node_calls(g, reduce)[0]];
	double value[LARGEST] = {0};

	if (c->n_nodes > LARGEST || g->node[c->root].opcode != OP_TUPLE)
		return false;
	for (uint32_t v = c->first; v < c->first + c->n_nodes; v++)
		if (!compute(g, v, c->first, given, value))
			return false;
	for (uint32_t k = 0; k < 2; k++)
		out[k] = value[node_operands(g, c->root)[k] - c->first];
	return true;
}

/* Does the function choose the first of the largest (sign 1) or smallest (-1) numbers, NaNs before all? */
static bool chooses(const struct graph *g, uint32_t reduce, double sign)
{
	static const double numbers[] = {1, 2, NAN};

	for (int i = 0; i < 9; i++) {
		double a = numbers[i / 3], b = numbers[i % 3], out[2];
		bool second = !isnan(a) && (isnan(b) || sign * b > sign * a);
		if (!apply(g, reduce, (double[]){a, 0, b, 1}, out) || (out[1] > 0) != second)
			return false;
		if (!apply(g, reduce, (double[]){a, 0, b, 0}, out) || isnan(out[0]) != (isnan(a) || isnan(b)) ||
			(!isnan(out[0]) && fabs(out[0] - (second ? b : a)) > 0))
			return false;
	}
	return true;
}

/* Does an operand number the places along a dimension? */
static bool is_places(const struct graph *g, uint32_t v, int64_t dim)
{
	const Hlo__HloInstructionProto *in = g->node[v].proto;

	if (g->node[v].opcode == OP_IOTA)
		return in->n_dimensions == 1 && in->dimensions[0] == dim;
	return g->node[v].opcode == OP_BROADCAST && g->node[node_operands(g, v)[0]].opcode == OP_IOTA &&
		g->node[node_operands(g, v)[0]].rank == 1 && in->n_dimensions == 1 && in->dimensions[0] == dim;
}

/* 1: the largest is looked for; -1: the smallest; 0: another thing. By what the reduction begins with. */
static double sign_of(const struct graph *g, uint32_t v)
{
	uint32_t place = node_operands(g, v)[3];
	const Hlo__Literal *l = g->node[place].proto->literal;
	double first;

	if (!rule_constant(g, node_operands(g, v)[2], &first) || !isinf(first))
		return 0;
	if (g->node[place].opcode != OP_CONSTANT || !l || l->n_s32s + l->n_s64s != 1)
		return 0;
	return (l->n_s32s ? l->s32s[0] : l->s64s[0]) ? 0 : first < 0 ? 1 : -1;
}

/* Does nobody read the number? */
static bool only_place_is_used(const struct graph *g, uint32_t v)
{
	for (uint32_t i = 0; i < g->node[v].n_users; i++) {
		const struct node *u = &g->node[node_users(g, v)[i]];
		bool dead = !u->n_users && !(u->flags & NODE_ROOT);
		if (u->opcode != OP_GET_TUPLE_ELEMENT || (u->proto->tuple_index != 1 && !dead))
			return false;
	}
	return !(g->node[v].flags & NODE_ROOT);
}

static bool match(const struct graph *g, uint32_t v, struct found *f)
{
	const struct node *n = &g->node[v];
	const uint32_t *x = node_operands(g, v);

	if (n->opcode != OP_REDUCE || n->n_operands != 4 || n->proto->n_dimensions != 1 || n->proto->sharding ||
		n->flags & (NODE_SIDE_EFFECT | NODE_CONTROL) || !only_place_is_used(g, v))
		return false;
	if (!rule_plain(g, x[0]) || g->node[x[0]].rank > DRAFT_RANK - 2 || !g->node[x[0]].elements ||
		!is_places(g, x[1], n->proto->dimensions[0]) ||
		(g->node[x[1]].dtype != DT_S32 && g->node[x[1]].dtype != DT_S64))
		return false;
	if (!(fabs(sign_of(g, v)) > 0) || !chooses(g, v, sign_of(g, v)))
		return false;
	for (uint32_t k = 1; k < 4; k++)
		f->inside[f->n_inside++] = x[k];
	if (g->node[x[1]].opcode == OP_BROADCAST)
		f->inside[f->n_inside++] = node_operands(g, x[1])[0];
	f->measure[0] = (double)g->node[x[0]].elements;
	f->measure[1] = (double)rule_dim(g, x[0], n->proto->dimensions[0]);
	return f->measure[1] <= LONGEST;
}

/* A number in all places of an array. */
static Hlo__HloInstructionProto *spread(struct draft *d, int32_t dtype, int64_t value, const int64_t *dims,
	uint32_t rank)
{
	return draft_broadcast(d, draft_number(d, dtype, value), dims, rank, NULL);
}

/* The extreme is looked for among the numbers it was found in. Two loops might compute these differently: none does. */
static Hlo__HloInstructionProto *write(struct draft *d, const struct found *f, uint32_t variant)
{
	const char *extreme = sign_of(d->g, f->anchor) > 0 ? "maximum" : "minimum";
	const int64_t along = d->g->node[f->anchor].proto->dimensions[0];
	const int32_t of_places = d->g->node[node_operands(d->g, f->anchor)[1]].dtype;
	Hlo__HloInstructionProto *x = rule_from_memory(d, f->anchor, 0, INFINITY), *most, *place, *late, *length;
	const int64_t *dims = x->shape->dimensions;
	const int64_t n = dims[along];
	int64_t rest[DRAFT_RANK], kept[DRAFT_RANK];
	uint32_t rank = draft_rank(x), n_rest = 0;

	(void)variant;
	for (uint32_t i = 0; i < rank; i++)
		if (i != along) {
			kept[n_rest] = dims[i];
			rest[n_rest++] = i;
		}
	most = draft_reduce(d, extreme, x, draft_operand(d, f->anchor, 2), &along, 1);
	place = draft_iota(d, of_places, dims, rank, along);
	late = draft_binary(d, "add", place, spread(d, of_places, n, dims, rank));
	late = draft_select(d, draft_compare(d, "EQ", x, draft_broadcast(d, most, dims, rank, rest)), late,
		spread(d, of_places, 2 * n, dims, rank));
	place = draft_select(d, draft_compare(d, "NE", x, x), place, late);
	place = draft_reduce(d, "minimum", place, draft_number(d, of_places, 2 * n), &along, 1);
	length = spread(d, of_places, n, kept, n_rest);
	place = draft_select(d, draft_compare(d, "LT", place, length), place,
		draft_binary(d, "subtract", place, length));
	return draft_tuple(d, (Hlo__HloInstructionProto *[]){most, place}, 2);
}

const struct rule_code first_place_code = {.name = "first_place", .measures = measures, .match = match,
	.write = write};
