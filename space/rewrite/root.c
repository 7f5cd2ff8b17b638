/*
 * root.c - rewrites one by a root as a root and a division.
 *
 *	rsqrt(x)  =  1 / max(sqrt(x), -100)
 *
 * XLA makes rsqrt of every division by a root, and XLA:CPU 0.11.2 has fast code for it only where a constant stands in
 * the same loop, as in rsqrt(x + 0.1). Without one, as where a vector is divided by its length, 131,072 numbers of type
 * f32 took 0.48 ms, and 0.10 by a root and a division (Xeon with AVX-512, one core). No root is below -100; the
 * comparison keeps XLA from making rsqrt of it again.
 */
#include "space/rewrite/codes.h"

static const char *const measures[] = {"elements", NULL};

static bool match(const struct graph *g, uint32_t v, struct found *f)
{
	f->measure[0] = (double)g->node[v].elements;
	return g->node[v].opcode == OP_RSQRT && rule_plain(g, v);
}

static Hlo__HloInstructionProto *write(struct draft *d, const struct found *f, uint32_t variant)
{
	Hlo__HloInstructionProto *root = draft_unary(d, "sqrt", draft_operand(d, f->anchor, 0)), *one, *below;
	const Hlo__ShapeProto *s = root->shape;

	(void)variant;
	one = draft_filled(d, s->element_type, 1, s->dimensions, draft_rank(root));
	below = draft_filled(d, s->element_type, -100, s->dimensions, draft_rank(root));
	return draft_binary(d, "divide", one, draft_binary(d, "maximum", root, below));
}

const struct rule_code inverse_root_code = {.name = "inverse_root", .measures = measures, .match = match,
	.write = write};
