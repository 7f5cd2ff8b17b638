/*
 * doubling.c - rewrites a sum, maximum or minimum over a long window: each dimension on its own, by doubling.
 *
 * A window over several dimensions is one over the first, of windows over the rest. Along a dimension, windows of two
 * elements are pairs of neighbours, those of four are pairs of windows of two, and so on:
 *
 *	w1[i] = x[i]	w2[i] = w1[i] + w1[i + 1]	w4[i] = w2[i] + w2[i + 2]
 *	a window of 13: w1[i] + w4[i + 1] + w8[i + 5]
 *
 * An extreme may see an element twice, so two that overlap are enough: max(w8[i], w8[i + 5]). So 7 by 7 elements take 6
 * operations instead of 48, and running sums along 512 elements 9, all of them with their neighbours at once, where the
 * compiler's loop goes over the window anew for each result, or adds up one element after the other.
 *
 * The compiler would make one loop of it, in which each element is computed as often as it is read, so every third
 * doubling and what a dimension gives are kept in memory.
 */
#include <string.h>

#include "space/rewrite/codes.h"

#define DOUBLINGS_AT_ONCE 3

static const char *const measures[] = {"taps", "out", "steps", "running", NULL};

/* How many doublings a window of that size takes. */
static uint32_t doublings(int64_t size)
{
	uint32_t n = 0;

	while (size >>= 1)
		n++;
	return n;
}

/* Does the window see all elements up to its own one, or from there on? */
static bool is_running(const Hlo__WindowDimension *w, int64_t size)
{
	return w->size == size && w->padding_low + w->padding_high == size - 1 &&
		(w->padding_low == 0 || w->padding_high == 0);
}

static bool match(const struct graph *g, uint32_t v, struct found *f)
{
	const Hlo__Window *w = g->node[v].proto->window;
	uint32_t x;

	if (!rule_window(g, v))
		return false;
	x = node_operands(g, v)[0];
	f->measure[0] = 1;
	f->measure[1] = (double)g->node[v].elements;
	for (size_t i = 0; i < w->n_dimensions; i++) {
		int64_t size = w->dimensions[i]->size;
		f->measure[0] *= (double)size;
		f->measure[2] += size > 1 ? doublings(size) + 1 : 0;
		f->measure[3] += size > 1 && is_running(w->dimensions[i], rule_dim(g, x, (int64_t)i));
	}
	return true;
}

struct along { /* the window along one dimension of a padded array */
	struct draft *d;
	const char *opcode;
	uint32_t dim;
	int64_t size, stride, dilation, count;
};

/* What windows give that begin `at` elements behind those of the result. */
static Hlo__HloInstructionProto *begin_at(const struct along *a, Hlo__HloInstructionProto *x, int64_t at)
{
	return draft_every(a->d, x, a->dim, at * a->dilation, a->count, a->stride);
}

/* Windows of twice the size, of which each is two of x, one behind the other. */
static Hlo__HloInstructionProto *doubled(const struct along *a, Hlo__HloInstructionProto *x, int64_t size)
{
	int64_t apart = size * a->dilation, n = x->shape->dimensions[a->dim] - apart;

	x = draft_binary(a->d, a->opcode, draft_part(a->d, x, a->dim, 0, n), draft_part(a->d, x, a->dim, apart, n));
	return doublings(2 * size) % DOUBLINGS_AT_ONCE == 0 ? draft_unary(a->d, "opt-barrier", x) : x;
}

static Hlo__HloInstructionProto *sum_of(const struct along *a, Hlo__HloInstructionProto *x)
{
	Hlo__HloInstructionProto *sum = NULL;
	int64_t at = 0;

	for (int64_t size = 1; size <= a->size; size *= 2) {
		x = size > 1 ? doubled(a, x, size / 2) : x;
		if (a->size & size) {
			Hlo__HloInstructionProto *more = begin_at(a, x, at);
			sum = sum ? draft_binary(a->d, a->opcode, sum, more) : more;
			at += size;
		}
	}
	return sum;
}

static Hlo__HloInstructionProto *extreme_of(const struct along *a, Hlo__HloInstructionProto *x)
{
	Hlo__HloInstructionProto *most;
	int64_t size = 1;

	for (; 2 * size <= a->size; size *= 2)
		x = doubled(a, x, size);
	most = begin_at(a, x, 0);
	return size == a->size ? most : draft_binary(a->d, a->opcode, most, begin_at(a, x, a->size - size));
}

static Hlo__HloInstructionProto *write(struct draft *d, const struct found *f, uint32_t variant)
{
	const Hlo__HloInstructionProto *in = d->g->node[f->anchor].proto;
	Hlo__HloInstructionProto *x = rule_padded(d, f->anchor);
	uint32_t sums = 0;

	(void)variant;
	for (uint32_t i = 0; i < draft_rank(x); i++) {
		const Hlo__WindowDimension *w = in->window->dimensions[i];
		const struct along a = {.d = d, .opcode = rule_applied(d->g, f->anchor), .dim = i, .size = w->size,
			.stride = rule_factor(w->stride), .dilation = rule_factor(w->window_dilation),
			.count = in->shape->dimensions[i]};
		x = strcmp(a.opcode, "add") == 0 ? sum_of(&a, x) : extreme_of(&a, x);
		if (w->size > 1) /* numbers none of which is -0 add up to none */
			x = draft_unary(d, "opt-barrier", sums++ ? x : rule_begun(d, f->anchor, x));
	}
	return x;
}

const struct rule_code window_doubling_code = {.name = "window_doubling", .measures = measures, .match = match,
	.write = write};
