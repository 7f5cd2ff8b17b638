/*
 * few.c - rewrites a sum, maximum or minimum of few terms that lie side by side as slices that are combined.
 *
 * The squared distance of two points is a sum of three numbers, and so is a norm, a colour's brightness, the sum of a
 * two by two block. Compilers write a reduction as a loop over the results with a loop over the terms inside. If the
 * last dimension is among those reduced, the inner loop is the one that vector code would run along, and it is over
 * after three numbers. The terms are parts of one array, so each can be had by a slice, and the slices are combined
 * element by element: then vector code runs along the results. What the slices are of, which a reduction that is left
 * to a library keeps in memory, is computed in the same loop if that is little work.
 *
 * Where the result is repeated, as the distance of two points is for each of their coordinates, the compiler would
 * compute all of it anew for each. A second variant keeps the result in memory by a barrier.
 *
 * Terms are combined in the order in which they lie, as the plain reduction would. From about sixteen terms on, as many
 * strides through memory cost what they save.
 *
 * A sum that begins with 0 is 0 where all terms are -0, and 1 by it is infinity, not minus infinity. XLA drops an
 * addition of 0, which changes that sign alone. It does not drop 0 - -x, so that is what makes -0 a 0.
 */
#include <math.h>
#include <string.h>

#include "space/rewrite/codes.h"

static const char *const measures[] = {"terms", "out", "last", NULL};

Hlo__HloInstructionProto *rule_begun(struct draft *d, uint32_t v, Hlo__HloInstructionProto *sum)
{
	int32_t t = sum->shape->element_type;
	bool signs = t == DT_F32 || t == DT_F64 || t == DT_BF16 || t == DT_F16;
	double first;

	if (!signs || strcmp(rule_applied(d->g, v), "add") != 0 ||
		!rule_constant(d->g, node_operands(d->g, v)[1], &first) || signbit(first))
		return sum;
	return draft_binary(d, "subtract", draft_filled(d, t, 0, sum->shape->dimensions, draft_rank(sum)),
		draft_unary(d, "negate", sum));
}

static bool is_reduced(const Hlo__HloInstructionProto *in, int64_t dim)
{
	for (size_t i = 0; i < in->n_dimensions; i++)
		if (in->dimensions[i] == dim)
			return true;
	return false;
}

static bool match(const struct graph *g, uint32_t v, struct found *f)
{
	const struct node *n = &g->node[v];
	uint32_t x;

	if (n->opcode != OP_REDUCE || n->n_operands != 2 || !rule_plain(g, v) || !n->elements || !rule_applied(g, v))
		return false;
	x = node_operands(g, v)[0];
	if (g->node[x].dtype != n->dtype || g->node[x].rank > DRAFT_RANK - 2 || !g->node[x].elements)
		return false;
	f->measure[0] = rule_size_of(g, x, n->proto->dimensions, (uint32_t)n->proto->n_dimensions);
	f->measure[1] = (double)n->elements;
	f->measure[2] = is_reduced(n->proto, (int64_t)g->node[x].rank - 1);
	return true;
}

static Hlo__HloInstructionProto *write(struct draft *d, const struct found *f, uint32_t variant)
{
	const Hlo__HloInstructionProto *in = d->g->node[f->anchor].proto;
	Hlo__HloInstructionProto *x = rule_from_memory(d, f->anchor, 0, RULE_ACROSS), *sum = NULL;
	int64_t first[DRAFT_RANK] = {0}, count[DRAFT_RANK];
	uint32_t rank = draft_rank(x), i;

	(void)variant;
	for (i = 0; i < rank; i++)
		count[i] = is_reduced(in, i) ? 1 : x->shape->dimensions[i];
	do {
		Hlo__HloInstructionProto *term = draft_slice(d, x, first, count, NULL);
		sum = sum ? draft_binary(d, rule_applied(d->g, f->anchor), sum, term) : term;
		for (i = rank; i-- > 0;) {
			if (count[i] < x->shape->dimensions[i] && ++first[i] < x->shape->dimensions[i])
				break;
			first[i] = 0;
		}
	} while (i != UINT32_MAX);
	sum = draft_reshape(d, sum, in->shape->dimensions, (uint32_t)in->shape->n_dimensions);
	return rule_begun(d, f->anchor, sum);
}

const struct rule_code few_terms_code = {.name = "few_terms", .measures = measures, .match = match, .write = write};
