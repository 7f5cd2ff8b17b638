/*
 * pool.c - rewrites a sum, maximum or minimum over a moving window as shifted inputs that are combined tap by tap.
 *
 * As with convolutions in groups, a loop over the output with a generic window inside becomes elementwise operations,
 * which the compiler fuses with their neighbours.
 */
#include "space/rewrite/codes.h"

static const char *const measures[] = {"taps", "out", "in", NULL};

bool rule_window(const struct graph *g, uint32_t v)
{
	const Hlo__Window *w = g->node[v].proto->window;
	uint32_t x;

	if (g->node[v].opcode != OP_REDUCE_WINDOW || g->node[v].n_operands != 2 || !rule_plain(g, v) || !w ||
		!rule_applied(g, v))
		return false;
	x = node_operands(g, v)[0];
	if (w->n_dimensions != g->node[v].rank || !g->node[v].elements || !g->node[x].elements ||
		g->node[x].dtype != g->node[v].dtype)
		return false;
	for (size_t i = 0; i < w->n_dimensions; i++)
		if (w->dimensions[i]->size < 1 || w->dimensions[i]->window_reversal)
			return false;
	return true;
}

Hlo__HloInstructionProto *rule_padded(struct draft *d, uint32_t v)
{
	const Hlo__Window *w = d->g->node[v].proto->window;
	int64_t low[DRAFT_RANK], high[DRAFT_RANK], inner[DRAFT_RANK];

	for (size_t i = 0; i < w->n_dimensions; i++) {
		low[i] = w->dimensions[i]->padding_low;
		high[i] = w->dimensions[i]->padding_high;
		inner[i] = rule_factor(w->dimensions[i]->base_dilation) - 1;
	}
	return draft_pad(d, rule_seen(d, v, 0), low, high, inner, draft_operand(d, v, 1));
}

static bool match(const struct graph *g, uint32_t v, struct found *f)
{
	const Hlo__Window *w = g->node[v].proto->window;

	if (!rule_window(g, v))
		return false;
	f->measure[0] = 1;
	for (size_t i = 0; i < w->n_dimensions; i++)
		f->measure[0] *= (double)w->dimensions[i]->size;
	f->measure[1] = (double)g->node[v].elements;
	f->measure[2] = (double)g->node[node_operands(g, v)[0]].elements;
	return true;
}

static Hlo__HloInstructionProto *write(struct draft *d, const struct found *f, uint32_t variant)
{
	const Hlo__HloInstructionProto *in = d->g->node[f->anchor].proto;
	const char *opcode = rule_applied(d->g, f->anchor);
	int64_t step[DRAFT_RANK], tap[DRAFT_RANK] = {0};
	uint32_t rank = (uint32_t)in->window->n_dimensions, i;
	Hlo__HloInstructionProto *x = rule_padded(d, f->anchor), *sum = NULL;

	(void)variant;
	for (i = 0; i < rank; i++)
		step[i] = rule_factor(in->window->dimensions[i]->stride);
	do {
		int64_t first[DRAFT_RANK];
		for (i = 0; i < rank; i++)
			first[i] = tap[i] * rule_factor(in->window->dimensions[i]->window_dilation);
		Hlo__HloInstructionProto *seen = draft_slice(d, x, first, in->shape->dimensions, step);
		sum = sum ? draft_binary(d, opcode, sum, seen) : seen;
		for (i = rank; i-- > 0 && ++tap[i] == in->window->dimensions[i]->size;)
			tap[i] = 0;
	} while (i != UINT32_MAX);
	return rule_begun(d, f->anchor, sum);
}

const struct rule_code window_slices_code = {.name = "window_slices", .measures = measures, .match = match,
	.write = write};
