/*
 * series.c - see series.h.
 */
#include "space/rewrite/series.h"

const char *const series_measures[] = {"elements", NULL};

#define CHAIN 256 /* nodes in a row that are looked at; who reads the value after more of them does not count */

/* Is the value read more than once, or what is made of it number by number? */
static bool is_shared(const struct graph *g, uint32_t v)
{
	for (uint32_t i = 0; i < CHAIN && g->node[v].n_users == 1; i++) {
		uint32_t user = *node_users(g, v);
		if (g->node[user].elements != g->node[v].elements)
			return false;
		v = user;
	}
	return g->node[v].n_users > 1;
}

bool series_match(const struct graph *g, uint32_t v, uint16_t opcode, struct found *f)
{
	uint8_t t = g->node[v].dtype;

	if (g->node[v].opcode != opcode || (t != DT_F32 && t != DT_BF16 && t != DT_F16) || !rule_plain(g, v))
		return false;
	f->measure[0] = (double)g->node[v].elements;
	f->variants = is_shared(g, v) ? f->variants : 1;
	return g->node[v].elements > 0;
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
