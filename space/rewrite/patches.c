/*
 * patches.c - rewrites a convolution as one product of matrices over what its window sees.
 *
 * If a window has few numbers, it costs little to gather them into rows ("im2col"), and a product of matrices is
 * the fastest code there is. A window of one tap needs no gathering. The gradient of a filter has a window as large
 * as the image and an output of a few positions; there a row is gathered for each position.
 */
#include <string.h>
#include "space/rewrite/conv.h"
#include "space/rewrite/codes.h"

static const char *const measures[] = {"taps", "channels", "positions", "features", "batch", "spread", "out", "in",
	"rank", NULL};

static bool match(const struct graph *g, uint32_t v, struct found *f, struct conv *c)
{
	if (!conv_read(g, v, c) || c->feature_groups != 1 || c->batch_groups != 1)
		return false;
	f->measure[0] = (double)c->taps;
	f->measure[1] = (double)c->inner;
	f->measure[2] = (double)c->positions;
	f->measure[3] = (double)c->outputs;
	f->measure[4] = (double)c->batch;
	f->measure[5] = c->spread;
	f->measure[6] = (double)g->node[v].elements;
	f->measure[7] = (double)g->node[node_operands(g, v)[0]].elements;
	f->measure[8] = c->rank;
	return true;
}

static bool match_window(const struct graph *g, uint32_t v, struct found *f)
{
	struct conv c;

	return match(g, v, f, &c);
}

/* What a tap of the window meets at all positions; dimensions in the order of the input. */
static Hlo__HloInstructionProto *met(struct draft *d, const struct conv *c, Hlo__HloInstructionProto *x,
	const int64_t *tap)
{
	int64_t first[DRAFT_RANK] = {0}, count[DRAFT_RANK], step[DRAFT_RANK];

	for (uint32_t i = 0; i < c->rank; i++) {
		count[i] = x->shape->dimensions[i];
		step[i] = 1;
	}
	for (uint32_t i = 0; i < c->n; i++) {
		int64_t at = c->in.spatial[i];
		first[at] = (c->w[i].reversed ? c->w[i].size - 1 - tap[i] : tap[i]) * c->w[i].dilation;
		count[at] = c->w[i].out;
		step[at] = c->w[i].stride;
	}
	return draft_slice(d, x, first, count, step);
}

static Hlo__HloInstructionProto *write_window(struct draft *d, const struct found *f, uint32_t variant)
{
	Hlo__HloInstructionProto *x, *kernel = draft_operand(d, f->anchor, 1), **seen;
	struct conv_dims product = {0}, kernel_rows = {0};
	int64_t perm[DRAFT_RANK], tap[CONV_SPATIAL] = {0};
	struct dot_dims dot = {.n_sum = 1};
	uint32_t n = 0, at = 0;
	struct conv c;

	(void)variant;
	BUG_ON(!conv_read(d->g, f->anchor, &c));
	x = conv_padded(d, &c, draft_operand(d, f->anchor, 0));
	seen = arena_alloc(d->mem, (size_t)c.taps * sizeof(*seen));
	do
		seen[n++] = met(d, &c, x, tap);
	while (conv_step(&c, tap, false));
	kernel_rows = (struct conv_dims){.batch = c.n + 1, .feature = c.n};
	for (uint32_t i = 0; i < c.n; i++)
		kernel_rows.spatial[i] = i;
	conv_order(&c, &c.kernel, &kernel_rows, perm);
	kernel = draft_reshape(d, draft_transpose(d, kernel, perm), (int64_t[]){c.taps * c.inner, c.outputs}, 2);
	dot.sum[0][0] = c.in.feature;
	x = draft_dot(d, draft_concat(d, seen, n, (uint32_t)c.in.feature), kernel, &dot, d->like);
	for (uint32_t i = 0; i < c.rank; i++) { /* the input's dimensions without the features, then the outputs */
		if (i == c.in.batch)
			product.batch = at;
		for (uint32_t k = 0; k < c.n; k++)
			if (i == c.in.spatial[k])
				product.spatial[k] = at;
		at += i != c.in.feature;
	}
	product.feature = at;
	conv_order(&c, &product, &c.out, perm);
	return draft_transpose(d, x, perm);
}

static bool match_image(const struct graph *g, uint32_t v, struct found *f)
{
	struct conv c;

	if (!match(g, v, f, &c))
		return false;
	for (uint32_t i = 0; i < c.n; i++)
		if (c.w[i].reversed)
			return false;
	return true;
}

/* The part of the input that the window meets at one position of the output. */
static Hlo__HloInstructionProto *from_here(struct draft *d, const struct conv *c, Hlo__HloInstructionProto *x,
	const int64_t *here)
{
	int64_t first[DRAFT_RANK] = {0}, count[DRAFT_RANK], step[DRAFT_RANK];

	for (uint32_t i = 0; i < c->rank; i++) {
		count[i] = x->shape->dimensions[i];
		step[i] = 1;
	}
	for (uint32_t i = 0; i < c->n; i++) {
		first[c->in.spatial[i]] = here[i] * c->w[i].stride;
		count[c->in.spatial[i]] = c->w[i].size;
		step[c->in.spatial[i]] = c->w[i].dilation;
	}
	return draft_slice(d, x, first, count, step);
}

static Hlo__HloInstructionProto *write_image(struct draft *d, const struct found *f, uint32_t variant)
{
	Hlo__HloInstructionProto *x, **seen;
	struct dot_dims dot = {0};
	struct conv_dims product = {0};
	int64_t here[CONV_SPATIAL] = {0}, dims[DRAFT_RANK], perm[DRAFT_RANK];
	uint32_t n = 0;
	struct conv c;

	(void)variant;
	BUG_ON(!conv_read(d->g, f->anchor, &c));
	x = conv_padded(d, &c, draft_operand(d, f->anchor, 0));
	seen = arena_alloc(d->mem, (size_t)c.positions * sizeof(*seen));
	do
		seen[n++] = from_here(d, &c, x, here);
	while (conv_step(&c, here, true));
	for (uint32_t i = 0; i < c.n; i++) {
		dot.sum[0][dot.n_sum] = c.in.spatial[i];
		dot.sum[1][dot.n_sum++] = c.kernel.spatial[i];
		dims[i] = c.w[i].out;
		product.spatial[i] = i;
	}
	dot.sum[0][dot.n_sum] = c.in.feature;
	dot.sum[1][dot.n_sum++] = c.kernel.feature;
	x = draft_dot(d, draft_concat(d, seen, n, (uint32_t)c.in.batch), draft_operand(d, f->anchor, 1), &dot, d->like);
	dims[product.batch = c.n] = c.batch;
	dims[product.feature = c.n + 1] = c.outputs;
	conv_order(&c, &product, &c.out, perm);
	return draft_transpose(d, draft_reshape(d, x, dims, c.rank), perm);
}

const struct rule_code window_dot_code = {.name = "window_dot", .measures = measures, .match = match_window,
	.write = write_window};
const struct rule_code image_dot_code = {.name = "image_dot", .measures = measures, .match = match_image,
	.write = write_image};
