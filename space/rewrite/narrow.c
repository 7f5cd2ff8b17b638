/*
 * narrow.c - rewrites a product of few rows so that the wide side comes first.
 *
 *	dot(x, w)  =  transpose(barrier(dot(w, x)))
 *
 * The library of XLA:CPU is slow where the first side has only a few rows, such as a batch of 2 to 64 that meets a
 * layer's weights. With 8 rows and weights of 2,048 x 2,048 a product takes 7.3 ms, and 2.2 in the other order; with
 * 32 rows 19.8, and 10.1. A single row is multiplied by other code. It gains where a transposition stands between it
 * and the weights, because XLA folds none into a product of a vector, and copies the weights.
 *
 * The wide side has to lie with what is summed over last. Weights that do not are turned first, which takes longer
 * than the product. That is offered only in a loop that leaves them as they are: XLA turns them before the loop then,
 * as its time shows. (64 steps of a recurrent network of 1,024, 32 at a time, take 140 ms, and 367 as they were.) The
 * place alone does not show that.
 *
 * A transposition of the wide side is looked through: where it lies is what counts.
 */
#include "space/rewrite/codes.h"

static const char *const measures[] = {"shared", "rows", "columns", "depth", "turns", "through", NULL};

uint32_t rule_wide_side(const struct graph *g, uint32_t v, int side, struct dot_dims *dims)
{
	uint32_t w = node_operands(g, v)[side], n_rest;
	const int64_t *perm = g->node[w].proto->dimensions;
	int64_t rest[DRAFT_RANK];

	if (g->node[w].opcode != OP_TRANSPOSE || !rule_plain(g, w))
		return w;
	n_rest = dot_rest(dims, side, g->node[w].rank, rest);
	for (uint32_t i = 1; i < n_rest; i++)
		if (perm[rest[i - 1]] > perm[rest[i]])
			return w;
	for (uint32_t i = 0; i < dims->n_batch; i++)
		dims->batch[side][i] = perm[dims->batch[side][i]];
	for (uint32_t i = 0; i < dims->n_sum; i++)
		dims->sum[side][i] = perm[dims->sum[side][i]];
	return node_operands(g, w)[0];
}

/* Fills the place, if it has a wide side; *turning: it has to be turned first. */
static bool match(const struct graph *g, uint32_t v, struct found *f, bool *turning)
{
	struct dot_dims dims;
	int64_t order[DRAFT_RANK];
	uint32_t w;

	if (!rule_dot(g, v, &dims))
		return false;
	rule_dot_sizes(g, v, &dims, f->measure);
	w = rule_wide_side(g, v, 1, &dims);
	if (w != node_operands(g, v)[1])
		f->inside[f->n_inside++] = node_operands(g, v)[1];
	*turning = rule_turning(&dims, 1, g->node[w].rank, order);
	f->measure[4] = rule_stays_for(g, w);
	f->measure[5] = f->n_inside;
	return true;
}

static bool match_lying(const struct graph *g, uint32_t v, struct found *f)
{
	bool turning;

	return match(g, v, f, &turning) && !turning;
}

static bool match_turned(const struct graph *g, uint32_t v, struct found *f)
{
	bool turning;

	return match(g, v, f, &turning) && turning;
}

static Hlo__HloInstructionProto *write(struct draft *d, const struct found *f, uint32_t variant)
{
	Hlo__HloInstructionProto *first;
	struct dot_dims dims;
	int64_t rest[DRAFT_RANK];
	uint32_t w, wide, v = f->anchor;

	(void)variant;
	BUG_ON(!rule_dot(d->g, v, &dims));
	w = rule_wide_side(d->g, v, 1, &dims);
	wide = dot_rest(&dims, 1, d->g->node[w].rank, rest);
	d->widens = false; /* one rounding for each sum, as before */
	first = rule_turn_side(d, draft_value(d, w), 1, &dims);
	return rule_back(d, rule_exchanged(d, v, first, draft_operand(d, v, 0), &dims), dims.n_batch, wide);
}

const struct rule_code dot_wide_first_code = {.name = "dot_wide_first", .measures = measures, .match = match_lying,
	.write = write};
const struct rule_code dot_wide_turned_code = {.name = "dot_wide_turned", .measures = measures, .match = match_turned,
	.write = write};
