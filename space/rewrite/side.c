/*
 * side.c - rewrites a product so that the side that makes its rows is turned in memory first.
 *
 *	dot(a, b)  =  dot(barrier(transpose(a)), b)	where the transposition puts what is summed over last
 *
 * XLA folds every transposition into the product that reads it, so sides are multiplied as they lie. Both sides of the
 * gradient of a weight are summed over their first dimension. The library of XLA:CPU 0.11.2 is slow with a first side
 * that lies so: of ten shapes of such gradients nine took 51 to 93% of the time when the side was copied first, with
 * the copy, and one 99% (Zen 3, one core). There are others that take up to a third more.
 *
 * The barrier keeps XLA from folding the transposition. XLA drops it once all passes have run.
 *
 * The side is the first one: that makes the rows of the result. A product that is only transposed afterwards is left to
 * turn.c, which does the same there, for XLA takes the sides of such a product in the other order.
 */
#include "space/rewrite/codes.h"

static const char *const measures[] = {"shared", "rows", "columns", "depth", NULL};

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

/* Is the product only read by a transposition? */
static bool is_turned(const struct graph *g, uint32_t v)
{
	return g->node[v].n_users == 1 && !(g->node[v].flags & NODE_ROOT) &&
	       g->node[node_users(g, v)[0]].opcode == OP_TRANSPOSE;
}

static bool match(const struct graph *g, uint32_t v, struct found *f)
{
	struct dot_dims dims;
	int64_t order[DRAFT_RANK];

	if (!rule_dot(g, v, &dims) || is_turned(g, v) ||
		!rule_turning(&dims, 0, g->node[node_operands(g, v)[0]].rank, order))
		return false;
	rule_dot_sizes(g, v, &dims, f->measure);
	return true;
}

static Hlo__HloInstructionProto *write(struct draft *d, const struct found *f, uint32_t variant)
{
	struct dot_dims dims;
	Hlo__HloInstructionProto *rows;

	(void)variant;
	BUG_ON(!rule_dot(d->g, f->anchor, &dims));
	d->widens = false; /* one rounding for each sum, as before */
	rows = rule_turn_side(d, draft_operand(d, f->anchor, 0), 0, &dims);
	return draft_dot(d, rows, draft_operand(d, f->anchor, 1), &dims, d->g->node[f->anchor].proto);
}

const struct rule_code dot_side_code = {.name = "dot_side", .measures = measures, .match = match, .write = write};
