/*
 * turn.c - rewrites a transposed product as a product of the operands in the other order.
 *
 *	transpose(dot(a, b))  =  dot(b, a)		where the transposition puts what is left of b before what is
 *							left of a, and leaves what both share in front
 *
 * The gradient of a weight is such a product in most training steps: automatic differentiation multiplies the gradient
 * of the result with the input, and turns what comes out of it. XLA turns the product itself, as we do, but late. By
 * then it has chosen a library for the product as it stood, and the library may not take the turned one. XLA:CPU 0.11.2
 * multiplies numbers of type bf16 one by one then, which takes a hundred times as long. (The gradient of a weight of
 * 160 x 640 over 192 rows took 35.7 ms. Written in the other order it takes 0.24 ms.) So it does with floats of 8 bits,
 * which it makes bf16, and with whole numbers of 8 bits that are added up in 32, which take forty times as long.
 * Products of f32 lose a third at most.
 *
 * Either way is offered with that operand as it lies, and turned in memory first where that changes anything (side.c
 * says why); and as a call of oneDNN, which reads operands however they lie (library.c).
 *
 * The numbers multiplied are the same, and are rounded at the same places, so the type stays what it is.
 */
#include <string.h>
#include "space/rewrite/codes.h"

static const char *const measures[] = {"shared", "rows", "columns", "depth", "brain", NULL};

bool rule_turning(const struct dot_dims *dims, int side, uint32_t rank, int64_t *order)
{
	int64_t rest[DRAFT_RANK];
	uint32_t n_rest = dot_rest(dims, side, rank, rest), n = 0;
	bool before = false;

	for (uint32_t k = 0; k < dims->n_batch; k++)
		order[n++] = dims->batch[side][k];
	for (uint32_t k = 0; k < n_rest; k++)
		order[n++] = rest[k];
	for (uint32_t k = 0; k < dims->n_sum; k++) {
		order[n++] = dims->sum[side][k];
		before = before || (n_rest && dims->sum[side][k] < rest[n_rest - 1]);
	}
	return before;
}

Hlo__HloInstructionProto *rule_turn_side(struct draft *d, Hlo__HloInstructionProto *x, int side, struct dot_dims *dims)
{
	uint32_t rank = draft_rank(x);
	int64_t order[DRAFT_RANK];

	if (!rule_turning(dims, side, rank, order))
		return x;
	for (uint32_t k = 0; k < dims->n_batch; k++)
		dims->batch[side][k] = k;
	for (uint32_t k = 0; k < dims->n_sum; k++)
		dims->sum[side][k] = rank - dims->n_sum + k;
	return draft_unary(d, "opt-barrier", draft_transpose(d, x, order));
}

bool rule_turned(const struct graph *g, uint32_t v, struct dot_dims *dims)
{
	const Hlo__HloInstructionProto *in = g->node[v].proto;
	uint32_t u, left, right;
	int64_t rest[DRAFT_RANK];

	if (g->node[v].opcode != OP_TRANSPOSE || !rule_plain(g, v))
		return false;
	u = node_operands(g, v)[0];
	if (!rule_dot_laid(g, u, dims) || !rule_only_for(g, u, v))
		return false;
	left = dot_rest(dims, 0, g->node[node_operands(g, u)[0]].rank, rest);
	right = dot_rest(dims, 1, g->node[node_operands(g, u)[1]].rank, rest);
	if (left == 0 || right == 0)
		return false;
	for (uint32_t i = 0; i < g->node[v].rank; i++) {
		uint32_t from = i < dims->n_batch ? i : i < dims->n_batch + right ? i + left : i - right;
		if (in->dimensions[i] != from)
			return false;
	}
	return true;
}

static bool match(const struct graph *g, uint32_t v, struct found *f)
{
	struct dot_dims dims;
	int64_t order[DRAFT_RANK];
	uint32_t u;

	if (!rule_turned(g, v, &dims))
		return false;
	u = node_operands(g, v)[0];
	f->inside[f->n_inside++] = u;
	f->variants = rule_turning(&dims, 1, g->node[node_operands(g, u)[1]].rank, order) ? 2 : 1;
	rule_dot_sizes(g, u, &dims, f->measure);
	f->measure[4] = g->node[v].dtype == DT_BF16 || g->node[v].dtype == DT_S32;
	return true;
}

/* The precision that a product asks for of each operand, for the operands in the other order. */
static Hlo__PrecisionConfig *other_precision(struct draft *d, Hlo__PrecisionConfig *p)
{
	Hlo__PrecisionConfig *other;

	if (!p || p->n_operand_precision != 2 || p->operand_precision[0] == p->operand_precision[1])
		return p;
	other = arena_dup(d->mem, p, sizeof *p);
	other->operand_precision = arena_dup(d->mem, (int32_t[]){p->operand_precision[1], p->operand_precision[0]},
		2 * sizeof *p->operand_precision);
	return other;
}

struct dot_dims rule_other_dims(const struct dot_dims *dims)
{
	struct dot_dims other = {.n_batch = dims->n_batch, .n_sum = dims->n_sum};

	for (int side = 0; side < 2; side++) {
		memcpy(other.batch[side], dims->batch[!side], sizeof *other.batch);
		memcpy(other.sum[side], dims->sum[!side], sizeof *other.sum);
	}
	return other;
}

Hlo__HloInstructionProto *rule_exchanged(struct draft *d, uint32_t u, Hlo__HloInstructionProto *first,
	Hlo__HloInstructionProto *second, const struct dot_dims *dims)
{
	struct dot_dims other = rule_other_dims(dims);
	Hlo__HloInstructionProto *product = draft_dot(d, first, second, &other, d->g->node[u].proto);

	product->shape->element_type = d->g->node[u].dtype;
	product->precision_config = other_precision(d, product->precision_config);
	return product;
}

Hlo__HloInstructionProto *rule_other_first(struct draft *d, uint32_t u, bool turn)
{
	struct dot_dims dims;
	Hlo__HloInstructionProto *first;

	BUG_ON(!rule_dot_laid(d->g, u, &dims));
	d->widens = false; /* one rounding for each sum, as before */
	first = draft_operand(d, u, 1);
	if (turn)
		first = rule_turn_side(d, first, 1, &dims);
	return rule_exchanged(d, u, first, draft_operand(d, u, 0), &dims);
}

Hlo__HloInstructionProto *rule_back(struct draft *d, Hlo__HloInstructionProto *x, uint32_t shared, uint32_t first)
{
	int64_t order[DRAFT_RANK];
	uint32_t rank = draft_rank(x);

	for (uint32_t i = 0; i < rank; i++)
		order[i] = i < shared ? i : shared + (i - shared + first) % (rank - shared);
	return draft_transpose(d, draft_unary(d, "opt-barrier", x), order);
}

static Hlo__HloInstructionProto *write(struct draft *d, const struct found *f, uint32_t variant)
{
	return rule_other_first(d, node_operands(d->g, f->anchor)[0], variant == 1);
}

const struct rule_code dot_turned_code = {.name = "dot_turned", .measures = measures, .match = match, .write = write};
