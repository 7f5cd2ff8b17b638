/*
 * complex.c - rewrites a product of complex matrices as products of real ones.
 *
 *	(a + bi) (c + di)  =  (ac - bd) + (ad + bc) i
 *
 * The libraries of XLA:CPU 0.11.2 take real matrices only. It multiplies complex ones in loops of its own, which take
 * several times as long as four real products do.
 *
 * Where b or d is known to be zero, two real products are enough. That is common: an operand with real numbers that
 * meets a complex one is converted. A chain of instructions that only move numbers is followed to the conversion. What
 * is left out then is a product with zero, which differs only where something is infinite or no number.
 *
 * Three products are enough in general, but the differences between their sums lose digits, so it is four.
 */
#include "space/rewrite/codes.h"

#define CHAIN 16 /* instructions between a product and a conversion */

static const char *const measures[] = {"shared", "rows", "columns", "depth", "real", NULL};

static bool moves(uint16_t opcode)
{
	return opcode == OP_TRANSPOSE || opcode == OP_RESHAPE || opcode == OP_BITCAST || opcode == OP_BROADCAST ||
		opcode == OP_SLICE || opcode == OP_REVERSE || opcode == OP_COPY;
}

/* Are these real numbers all zero, because they are written so? */
static bool is_zero(const struct graph *g, uint32_t v)
{
	double x;

	for (int i = 0; i < CHAIN && g->node[v].opcode == OP_BROADCAST; i++)
		v = node_operands(g, v)[0];
	return rule_constant(g, v, &x) && !(x < 0) && !(x > 0) && x == x;
}

/* Have these complex numbers no imaginary parts? */
static bool is_real(const struct graph *g, uint32_t v)
{
	for (int i = 0; i < CHAIN && moves(g->node[v].opcode); i++)
		v = node_operands(g, v)[0];
	if (g->node[v].opcode == OP_CONVERT)
		return rule_plain(g, node_operands(g, v)[0]);
	return g->node[v].opcode == OP_COMPLEX && is_zero(g, node_operands(g, v)[1]);
}

static bool match(const struct graph *g, uint32_t v, struct found *f)
{
	struct dot_dims dims;

	if (!rule_dot_complex(g, v, &dims))
		return false;
	rule_dot_sizes(g, v, &dims, f->measure);
	f->measure[4] = is_real(g, node_operands(g, v)[0]) || is_real(g, node_operands(g, v)[1]);
	return true;
}

/* The real or imaginary parts of complex numbers, or numbers made of both. */
static Hlo__HloInstructionProto *of_type(Hlo__HloInstructionProto *x, int32_t dtype)
{
	x->shape->element_type = dtype;
	return x;
}

static Hlo__HloInstructionProto *write(struct draft *d, const struct found *f, uint32_t variant)
{
	const struct graph *g = d->g;
	const struct node *n = &g->node[f->anchor];
	int32_t part = n->dtype == DT_C64 ? DT_F32 : DT_F64;
	Hlo__HloInstructionProto *re[2], *im[2], *real, *imag;
	struct dot_dims dims;

	(void)variant;
	BUG_ON(!rule_dot_complex(g, f->anchor, &dims));
	for (int side = 0; side < 2; side++) {
		Hlo__HloInstructionProto *x = draft_operand(d, f->anchor, (uint32_t)side);
		re[side] = of_type(draft_unary(d, "real", x), part);
		im[side] = is_real(g, node_operands(g, f->anchor)[side]) ? NULL :
			of_type(draft_unary(d, "imag", x), part);
	}
	real = draft_dot(d, re[0], re[1], &dims, n->proto);
	if (im[0] && im[1])
		real = draft_binary(d, "subtract", real, draft_dot(d, im[0], im[1], &dims, n->proto));
	imag = im[1] ? draft_dot(d, re[0], im[1], &dims, n->proto) : NULL;
	if (im[0] && imag)
		imag = draft_binary(d, "add", imag, draft_dot(d, im[0], re[1], &dims, n->proto));
	else if (im[0])
		imag = draft_dot(d, im[0], re[1], &dims, n->proto);
	if (!imag)
		imag = draft_filled(d, part, 0, real->shape->dimensions, draft_rank(real));
	return of_type(draft_binary(d, "complex", real, imag), n->dtype);
}

const struct rule_code complex_dot_code = {.name = "complex_dot", .measures = measures, .match = match,
	.write = write};
