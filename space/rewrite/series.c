/*
 * series.c - see series.h.
 */
#include "space/rewrite/series.h"

bool series_applies(const struct graph *g, uint32_t v, uint16_t opcode)
{
	uint8_t t = g->node[v].dtype;

	return g->node[v].opcode == opcode && (t == DT_F32 || t == DT_BF16 || t == DT_F16) && rule_plain(g, v) &&
		g->node[v].elements;
}

Hlo__HloInstructionProto *series_fill(struct draft *d, const Hlo__HloInstructionProto *x, double value)
{
	return draft_broadcast(d, draft_real(d, x->shape->element_type, value), x->shape->dimensions, draft_rank(x),
		NULL);
}

Hlo__HloInstructionProto *series_with(struct draft *d, const char *opcode, Hlo__HloInstructionProto *x, double value)
{
	return draft_binary(d, opcode, x, series_fill(d, x, value));
}

Hlo__HloInstructionProto *series_round(struct draft *d, Hlo__HloInstructionProto *x)
{
	return draft_unary(d, "round-nearest-even", x);
}

Hlo__HloInstructionProto *series_compare(struct draft *d, const char *direction, Hlo__HloInstructionProto *x,
	double value)
{
	return draft_compare(d, direction, x, series_fill(d, x, value));
}

Hlo__HloInstructionProto *series_negative(struct draft *d, Hlo__HloInstructionProto *x)
{
	BUG_ON(x->shape->element_type != DT_F32);
	return draft_compare(d, "LT", draft_bits(d, x, DT_S32), draft_filled(d, DT_S32, 0, x->shape->dimensions,
		draft_rank(x)));
}

Hlo__HloInstructionProto *series_polynomial(struct draft *d, Hlo__HloInstructionProto *x, const double *c, uint32_t n)
{
	Hlo__HloInstructionProto *sum = series_fill(d, x, c[n - 1]);

	for (uint32_t i = n - 1; i-- > 0;)
		sum = series_with(d, "add", draft_binary(d, "multiply", sum, x), c[i]);
	return sum;
}
