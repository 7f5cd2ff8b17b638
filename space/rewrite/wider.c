/*
 * wider.c - does in f32, on numbers of 16 bits, what the compiler has fast for f32 alone.
 *
 * XLA:CPU finds the largest of a row by a library's function where they are f32, and sorts the row where they are not:
 * the largest 50 of 131,072 numbers of type bf16 took 26 ms, and 0.3 as f32. It runs a window over f32 in a loop of
 * vector instructions, and rounds numbers of 16 bits after each step: a running sum of 262,144 took 5.5 ms, and 0.9 as
 * f32 (Xeon, one core). A sum is rounded after each term as well: of the columns of 256 x 512 numbers of type bf16, as
 * the gradient of a bias is, it took 0.6 ms, and 0.03 as f32. (An extreme needs no rounding, and is fast either way.)
 *
 * The largest are the same ones, in the same order: both ways order numbers by their bits, and equal ones by their
 * places, as long as they stay rounded (draft_rounded). (Not of f16: what converts them changes the bits of NaNs.)
 * Sums are rounded once, and are nearer to the truth.
 */
#include <string.h>
#include "space/rewrite/codes.h"

static const char *const measures[] = {"elements", NULL};

static bool match_top(const struct graph *g, uint32_t v, struct found *f)
{
	const Hlo__ShapeProto *s = g->node[v].proto->shape;
	uint32_t x;

	if (g->node[v].opcode != OP_TOPK || g->node[v].n_operands != 1 || !rule_regular(g, v) ||
		s->n_tuple_shapes != 2)
		return false;
	x = node_operands(g, v)[0];
	f->measure[0] = (double)g->node[x].elements;
	return g->node[x].dtype == DT_BF16 && rule_plain(g, x) && s->tuple_shapes[0]->element_type == g->node[x].dtype;
}

static Hlo__HloInstructionProto *write_top(struct draft *d, const struct found *f, uint32_t variant)
{
	const Hlo__HloInstructionProto *in = d->g->node[f->anchor].proto;
	int32_t dtype = in->shape->tuple_shapes[0]->element_type;
	Hlo__HloInstructionProto *x = draft_convert(d, draft_operand(d, f->anchor, 0), DT_F32), *part[2];

	(void)variant;
	x = draft_rounded(d, x, dtype);
	x = draft_again(d, in, &x, 1);
	x->shape = arena_dup(d->mem, x->shape, sizeof *x->shape);
	x->shape->tuple_shapes = arena_dup(d->mem, x->shape->tuple_shapes, 2 * sizeof *x->shape->tuple_shapes);
	x->shape->tuple_shapes[0] = arena_dup(d->mem, x->shape->tuple_shapes[0], sizeof *x->shape);
	x->shape->tuple_shapes[0]->element_type = DT_F32;
	part[0] = draft_convert(d, draft_element(d, x, 0), dtype);
	part[1] = draft_element(d, x, 1);
	return draft_tuple(d, part, 2);
}

static bool match_window(const struct graph *g, uint32_t v, struct found *f)
{
	f->measure[0] = (double)g->node[v].elements;
	return g->node[v].opcode == OP_REDUCE_WINDOW && g->node[v].n_operands == 2 && rule_in_16_bits(g, v) &&
		rule_plain(g, v) && rule_combines(g, v);
}

static Hlo__HloInstructionProto *write_window(struct draft *d, const struct found *f, uint32_t variant)
{
	(void)variant;
	return draft_window(d, d->g->node[f->anchor].proto, rule_combines(d->g, f->anchor),
		draft_operand(d, f->anchor, 0), draft_operand(d, f->anchor, 1));
}

static bool match_sum(const struct graph *g, uint32_t v, struct found *f)
{
	const struct node *n = &g->node[v];
	const char *how;
	uint32_t x;

	if (n->opcode != OP_REDUCE || n->n_operands != 2 || !rule_in_16_bits(g, v) || !rule_plain(g, v))
		return false;
	how = rule_combines(g, v);
	x = node_operands(g, v)[0];
	f->measure[0] = (double)g->node[x].elements;
	return how && (strcmp(how, "add") == 0 || strcmp(how, "multiply") == 0) && g->node[x].dtype == n->dtype &&
		rule_plain(g, x) && g->node[x].rank <= DRAFT_RANK - 2;
}

static Hlo__HloInstructionProto *write_sum(struct draft *d, const struct found *f, uint32_t variant)
{
	const Hlo__HloInstructionProto *in = d->g->node[f->anchor].proto;

	(void)variant;
	return draft_reduce(d, rule_combines(d->g, f->anchor), draft_operand(d, f->anchor, 0),
		draft_operand(d, f->anchor, 1), in->dimensions, (uint32_t)in->n_dimensions);
}

const struct rule_code wide_top_code = {.name = "wide_top", .measures = measures, .match = match_top,
	.write = write_top};
const struct rule_code wide_window_code = {.name = "wide_window", .measures = measures, .match = match_window,
	.write = write_window};
const struct rule_code wide_sum_code = {.name = "wide_sum", .measures = measures, .match = match_sum,
	.write = write_sum};
