/*
 * side.c - rewrites a product so that its sides lie in memory as the library wants them.
 *
 *	dot(a, b)  =  dot(barrier(transpose(a)), b)	where the transposition puts what is summed over last
 *		   =  transpose(barrier(dot(barrier(transpose(b)), a)))
 *
 * XLA folds every transposition into the product that reads it, so sides are multiplied as they lie. Both sides of the
 * gradient of a weight are summed over their first dimension. The library of XLA:CPU 0.11.2 is slow with a first side
 * that lies so: of ten shapes of such gradients nine took 51 to 93% of the time when the side was copied first, with
 * the copy, and one 99% (Zen 3, one core). Other shapes take up to a third more.
 *
 * In the gradients of attention the first side is large and the second one narrow, and a copy of the first costs more
 * than it saves. There the second side can be turned and made the first, and the result turned back: both are narrow.
 * (Twelve products of 1,024 x 1,024 x 64 took 45% of the time so, and with the first side turned twice the time.)
 *
 * Whole numbers of 8 bits that are added up in 32 take thirty times as long where the first side lies so.
 *
 * A barrier keeps XLA from folding the transposition. XLA drops it once all passes have run.
 *
 * The first side is the one that makes the rows. Where the result is only read with the columns in front, XLA takes the
 * operands in the other order, so there it is the second operand. turn.c turns that one.
 */
#include "space/rewrite/codes.h"

static const char *const measures[] = {"shared", "rows", "columns", "depth", "whole", NULL};

/* Is the product only read by a transposition that puts what the second side makes in front? */
static bool is_turned(const struct graph *g, uint32_t v, const struct dot_dims *dims)
{
	int64_t rest[DRAFT_RANK];
	uint32_t left = dot_rest(dims, 0, g->node[node_operands(g, v)[0]].rank, rest), user;

	if (g->node[v].n_users != 1 || (g->node[v].flags & NODE_ROOT))
		return false;
	user = node_users(g, v)[0];
	return g->node[user].opcode == OP_TRANSPOSE && dims->n_batch + left < g->node[v].rank &&
	       g->node[user].proto->dimensions[dims->n_batch] == dims->n_batch + left;
}

/* The operand that makes the rows as XLA computes the product, if what is summed over is not last in it; else -1. */
static int slow_side(const struct graph *g, uint32_t v, struct dot_dims *dims)
{
	int64_t order[DRAFT_RANK];
	int side;

	if (!rule_dot_laid(g, v, dims))
		return -1;
	side = is_turned(g, v, dims);
	return rule_turning(dims, side, g->node[node_operands(g, v)[side]].rank, order) ? side : -1;
}

static bool match_side(const struct graph *g, uint32_t v, struct found *f)
{
	struct dot_dims dims;

	if (slow_side(g, v, &dims) != 0)
		return false;
	rule_dot_sizes(g, v, &dims, f->measure);
	f->measure[4] = g->node[v].dtype == DT_S32;
	return true;
}

static Hlo__HloInstructionProto *turned_product(struct draft *d, uint32_t v)
{
	struct dot_dims dims;
	Hlo__HloInstructionProto *rows;

	BUG_ON(!rule_dot_laid(d->g, v, &dims));
	d->widens = false; /* one rounding for each sum, as before */
	rows = rule_turn_side(d, draft_operand(d, v, 0), 0, &dims);
	rows = draft_dot(d, rows, draft_operand(d, v, 1), &dims, d->g->node[v].proto);
	rows->shape->element_type = d->g->node[v].dtype;
	return rows;
}

static Hlo__HloInstructionProto *write_side(struct draft *d, const struct found *f, uint32_t variant)
{
	(void)variant;
	return turned_product(d, f->anchor);
}

static bool match_other(const struct graph *g, uint32_t v, struct found *f)
{
	struct dot_dims dims;
	int side = slow_side(g, v, &dims);
	double size[4];

	if (side < 0)
		return false;
	rule_dot_sizes(g, v, &dims, size);
	f->measure[0] = size[0];
	f->measure[1] = size[1 + side];
	f->measure[2] = size[1 + !side];
	f->measure[3] = size[3];
	f->measure[4] = g->node[v].dtype == DT_S32;
	return true;
}

static Hlo__HloInstructionProto *write_other(struct draft *d, const struct found *f, uint32_t variant)
{
	struct dot_dims dims;
	int64_t rest[DRAFT_RANK];
	uint32_t columns, v = f->anchor;

	(void)variant;
	BUG_ON(!rule_dot_laid(d->g, v, &dims));
	if (is_turned(d->g, v, &dims))
		return draft_unary(d, "opt-barrier", turned_product(d, v));
	columns = dot_rest(&dims, 1, d->g->node[node_operands(d->g, v)[1]].rank, rest);
	return rule_back(d, rule_other_first(d, v, true), dims.n_batch, columns);
}

const struct rule_code dot_side_code = {.name = "dot_side", .measures = measures, .match = match_side,
	.write = write_side};
const struct rule_code dot_other_side_code = {.name = "dot_other_side", .measures = measures, .match = match_other,
	.write = write_other};
