/*
 * integers.c - rewrites a product of whole numbers of 8 bits, which were converted first, as a product of these.
 *
 *	dot(convert(a), convert(b))  =  convert(dot(a, b))	where a and b are of type s8, their product s32
 *
 * Networks whose weights and inputs were made whole numbers are often multiplied in another type. XLA:CPU has code for
 * a product of 8 bits that adds up in 32; for one of 32 bits it has only loops. (256 x 512 by 512 x 2,048, Xeon, one
 * core: 59 ms in s32, 4.4 in f32, and 1.5 in s8.)
 *
 * The largest product is -128 times -128, and 131,072 of these are 2^31, which s32 has no more; so the rule allows
 * fewer. In f32 the sum is rounded once, where it was rounded after each addition.
 */
#include "space/rewrite/codes.h"

static const char *const measures[] = {"shared", "rows", "columns", "depth", "whole", NULL};

static bool is_converted(const struct graph *g, uint32_t u)
{
	return g->node[u].opcode == OP_CONVERT && g->node[node_operands(g, u)[0]].dtype == DT_S8;
}

static bool match(const struct graph *g, uint32_t v, struct found *f)
{
	struct dot_dims dims;

	if (!rule_dot(g, v, &dims) || g->node[v].dtype == DT_F64)
		return false;
	for (int side = 0; side < 2; side++) {
		uint32_t u = node_operands(g, v)[side];
		if (!is_converted(g, u))
			return false;
		if (!found_inside(f, u))
			f->inside[f->n_inside++] = u;
	}
	rule_dot_sizes(g, v, &dims, f->measure);
	f->measure[4] = g->node[v].dtype == DT_S32;
	return true;
}

/* The numbers before they are converted, and how they are multiplied. */
static struct dot_dims unconverted(struct draft *d, const struct found *f, Hlo__HloInstructionProto **x)
{
	struct dot_dims dims;

	BUG_ON(!rule_dot(d->g, f->anchor, &dims));
	for (int side = 0; side < 2; side++)
		x[side] = draft_operand(d, node_operands(d->g, f->anchor)[side], 0);
	return dims;
}

static Hlo__HloInstructionProto *write(struct draft *d, const struct found *f, uint32_t variant)
{
	Hlo__HloInstructionProto *x[2], *product;
	struct dot_dims dims = unconverted(d, f, x);

	(void)variant;
	product = draft_dot(d, x[0], x[1], &dims, d->like);
	product->shape->element_type = DT_S32;
	return product;
}

static bool match_called(const struct graph *g, uint32_t v, struct found *f)
{
	struct dot_dims dims;

	return match(g, v, f) && rule_dot(g, v, &dims) && rule_callable(&dims);
}

static Hlo__HloInstructionProto *write_called(struct draft *d, const struct found *f, uint32_t variant)
{
	Hlo__HloInstructionProto *x[2];
	struct dot_dims dims = unconverted(d, f, x);

	(void)variant;
	return rule_called(d, x[0], x[1], dims, DT_S32);
}

const struct rule_code dot_integers_code = {.name = "dot_integers", .measures = measures, .match = match,
	.write = write};
const struct rule_code dot_integers_called_code = {.name = "dot_integers_called", .measures = measures,
	.match = match_called, .write = write_called};
