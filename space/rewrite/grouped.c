/*
 * grouped.c - rewrites a convolution in groups, or of few features, as shifted multiply-adds.
 *
 * If each group has one feature or a few, a convolution is no product of matrices. It is a sum over the taps of the
 * window and the inner features, of the shifted input times one number per feature. Written in this way, XLA makes one
 * loop of it, with vector code, that reads the input from cache. For its own grouped convolution XLA runs a generic
 * loop. One without groups it leaves to a library, which is made for many features: an image that is blurred, or meets
 * the first layer of a network, has one or three.
 *
 * There are three rules, because they gain differently: for the convolution of the forward pass; for the gradient of
 * its input, whose kernel is reversed and whose input may be spread by zeros; and for the gradient of its filter. The
 * last one sums over all positions that the forward pass keeps, and keeps the taps that it sums over. Its output has
 * few positions, and these are unrolled.
 */
#include <string.h>
#include "space/rewrite/conv.h"
#include "space/rewrite/codes.h"

static const char *const measures[] = {"taps", "inner", "groups", "multiple", "spread", "out", "in", NULL};

/* The kernel; *turned tells whether the convolution reads it through a reverse. */
static uint32_t kernel_of(const struct graph *g, uint32_t v, const struct conv *c, bool *turned)
{
	uint32_t k = node_operands(g, v)[1];
	const Hlo__HloInstructionProto *in = g->node[k].proto;

	memset(turned, 0, CONV_SPATIAL * sizeof *turned);
	if (g->node[k].opcode != OP_REVERSE || !rule_plain(g, k))
		return k;
	for (size_t i = 0; i < in->n_dimensions; i++) {
		bool spatial = false;
		for (uint32_t s = 0; s < c->n; s++)
			if (c->kernel.spatial[s] == in->dimensions[i])
				spatial = turned[s] = true;
		if (!spatial) {
			memset(turned, 0, CONV_SPATIAL * sizeof *turned);
			return k;
		}
	}
	return node_operands(g, k)[0];
}

static void measure(const struct graph *g, uint32_t v, const struct conv *c, int64_t groups, int64_t unrolled,
	struct found *f)
{
	f->measure[0] = (double)unrolled;
	f->measure[1] = (double)c->inner;
	f->measure[2] = (double)groups;
	f->measure[3] = (double)(c->outputs / groups);
	f->measure[4] = c->spread;
	f->measure[5] = (double)g->node[v].elements;
	f->measure[6] = (double)g->node[node_operands(g, v)[0]].elements;
}

static bool match_groups(const struct graph *g, uint32_t v, struct found *f, bool gradient)
{
	bool turned[CONV_SPATIAL], backwards;
	struct conv c;
	uint32_t k;

	if (!conv_read(g, v, &c) || c.batch_groups != 1)
		return false;
	k = node_operands(g, v)[1];
	backwards = c.spread || kernel_of(g, v, &c, turned) != k;
	for (uint32_t i = 0; i < c.n; i++)
		backwards |= c.w[i].reversed;
	if (backwards != gradient)
		return false;
	if (kernel_of(g, v, &c, turned) != k)
		f->inside[f->n_inside++] = k;
	measure(g, v, &c, c.feature_groups, c.taps, f);
	return true;
}

static bool match_forward(const struct graph *g, uint32_t v, struct found *f)
{
	return match_groups(g, v, f, false);
}

static bool match_input(const struct graph *g, uint32_t v, struct found *f)
{
	return match_groups(g, v, f, true);
}

/* Repeats each element along `dim`, with the copies next to each other. */
static Hlo__HloInstructionProto *repeat(struct draft *d, Hlo__HloInstructionProto *x, int64_t dim, int64_t times)
{
	int64_t dims[DRAFT_RANK] = {0}, map[DRAFT_RANK] = {0};
	uint32_t rank = draft_rank(x);

	if (times == 1)
		return x;
	for (uint32_t i = 0, to = 0; i < rank; i++) {
		map[i] = to;
		dims[to++] = x->shape->dimensions[i];
		if (i == dim)
			dims[to++] = times;
	}
	x = draft_broadcast(d, x, dims, rank + 1, map);
	for (uint32_t i = (uint32_t)dim + 1; i < rank; i++)
		dims[i] = dims[i + 1];
	dims[dim] *= times;
	return draft_reshape(d, x, dims, rank);
}

/* The kernel at a tap and an inner feature, one number per feature, broadcast to the output. */
static Hlo__HloInstructionProto *weight(struct draft *d, const struct conv *c, Hlo__HloInstructionProto *kernel,
	const int64_t *tap, int64_t inner, const int64_t *out)
{
	int64_t first[DRAFT_RANK] = {0}, count[DRAFT_RANK], map = c->out.feature;

	for (uint32_t i = 0; i < c->rank; i++)
		count[i] = 1;
	count[c->kernel.batch] = c->outputs;
	first[c->kernel.feature] = inner;
	for (uint32_t i = 0; i < c->n; i++)
		first[c->kernel.spatial[i]] = tap[i];
	kernel = draft_reshape(d, draft_slice(d, kernel, first, count, NULL), &c->outputs, 1);
	return draft_broadcast(d, kernel, out, c->rank, &map);
}

/* The input shifted to a tap, with the output's order of dimensions. */
static Hlo__HloInstructionProto *moved(struct draft *d, const struct conv *c, Hlo__HloInstructionProto *x,
	const int64_t *tap, const int64_t *out)
{
	int64_t first[DRAFT_RANK] = {0}, step[DRAFT_RANK];

	for (uint32_t i = 0; i < c->rank; i++)
		step[i] = 1;
	for (uint32_t i = 0; i < c->n; i++) {
		first[c->out.spatial[i]] = tap[i] * c->w[i].dilation;
		step[c->out.spatial[i]] = c->w[i].stride;
	}
	return draft_slice(d, x, first, out, step);
}

/* Feature number `inner` of every group, repeated for each output of the group. */
static Hlo__HloInstructionProto *features(struct draft *d, const struct conv *c, Hlo__HloInstructionProto *x,
	int64_t inner)
{
	int64_t first[DRAFT_RANK] = {0}, count[DRAFT_RANK], step[DRAFT_RANK];

	for (uint32_t i = 0; i < c->rank; i++) {
		count[i] = x->shape->dimensions[i];
		step[i] = 1;
	}
	first[c->out.feature] = inner;
	count[c->out.feature] = c->feature_groups;
	step[c->out.feature] = c->inner;
	return repeat(d, draft_slice(d, x, first, count, step), c->out.feature, c->outputs / c->feature_groups);
}

/* Does the window see an element of the input at this tap, wherever it stands, or only padding and holes? */
static bool sees_any(const struct graph *g, uint32_t input, const struct conv *c, const int64_t *tap)
{
	for (uint32_t i = 0; i < c->n; i++) {
		const struct conv_window *w = &c->w[i];
		int64_t p = tap[i] * w->dilation - w->low, end = (rule_dim(g, input, c->in.spatial[i]) - 1) * w->base;
		int64_t left = w->out;
		while (left > 0 && (p < 0 || p > end || p % w->base)) {
			p += w->stride;
			left--;
		}
		if (left <= 0)
			return false;
	}
	return true;
}

static Hlo__HloInstructionProto *write_groups(struct draft *d, const struct found *f, uint32_t variant)
{
	const int64_t *out = d->g->node[f->anchor].proto->shape->dimensions;
	uint32_t input = node_operands(d->g, f->anchor)[0];
	Hlo__HloInstructionProto *x, *kernel, *sum = NULL;
	int64_t perm[DRAFT_RANK];
	bool turned[CONV_SPATIAL];
	struct conv c;

	(void)variant;
	BUG_ON(!conv_read(d->g, f->anchor, &c));
	kernel = draft_value(d, kernel_of(d->g, f->anchor, &c, turned));
	conv_order(&c, &c.in, &c.out, perm);
	x = draft_transpose(d, conv_padded(d, &c, rule_seen(d, f->anchor, 0)), perm);
	for (int64_t inner = 0; inner < c.inner; inner++) {
		Hlo__HloInstructionProto *part = features(d, &c, x, inner);
		int64_t tap[CONV_SPATIAL] = {0}, at[CONV_SPATIAL] = {0};
		do {
			if (!sees_any(d->g, input, &c, tap))
				continue;
			for (uint32_t i = 0; i < c.n; i++)
				at[i] = c.w[i].reversed != turned[i] ? c.w[i].size - 1 - tap[i] : tap[i];
			Hlo__HloInstructionProto *product =
				draft_binary(d, "multiply", moved(d, &c, part, tap, out), weight(d, &c, kernel, at,
				inner, out));
			sum = sum ? draft_binary(d, "add", sum, product) : product;
		} while (conv_step(&c, tap, false));
	}
	return sum ? sum : draft_filled(d, x->shape->element_type, 0, out, c.rank);
}

static bool match_filter(const struct graph *g, uint32_t v, struct found *f)
{
	struct conv c;

	if (!conv_read(g, v, &c) || c.batch_groups < 2 || c.feature_groups != 1 || c.batch != c.batch_groups)
		return false;
	for (uint32_t i = 0; i < c.n; i++)
		if (c.w[i].reversed)
			return false;
	measure(g, v, &c, c.batch_groups, c.positions, f);
	return true;
}

/* For each position of the output, one number per feature: the sum of what the window sees there, times the kernel. */
static Hlo__HloInstructionProto *write_filter(struct draft *d, const struct found *f, uint32_t variant)
{
	Hlo__HloInstructionProto *kernel = draft_operand(d, f->anchor, 1), *x, **row;
	int64_t perm[DRAFT_RANK], all[DRAFT_RANK], at[CONV_SPATIAL] = {0}, dims[DRAFT_RANK];
	uint32_t n_all = 0, n = 0;
	struct conv c;
	struct conv_dims rows;

	(void)variant;
	BUG_ON(!conv_read(d->g, f->anchor, &c));
	conv_order(&c, &c.in, &(struct conv_dims){.batch = c.kernel.batch, .feature = c.kernel.feature,
		.spatial = {c.kernel.spatial[0], c.kernel.spatial[1], c.kernel.spatial[2], c.kernel.spatial[3]}}, perm);
	x = draft_transpose(d, conv_padded(d, &c, draft_operand(d, f->anchor, 0)), perm);
	x = repeat(d, x, c.kernel.batch, c.outputs / c.batch_groups);
	for (uint32_t i = 0; i < c.rank; i++)
		if (i != c.kernel.batch)
			all[n_all++] = i;
	row = arena_alloc(d->mem, (size_t)c.positions * sizeof(*row));
	do {
		int64_t first[DRAFT_RANK] = {0}, step[DRAFT_RANK] = {0};
		for (uint32_t i = 0; i < c.rank; i++)
			step[i] = 1;
		for (uint32_t i = 0; i < c.n; i++) {
			first[c.kernel.spatial[i]] = at[i] * c.w[i].stride;
			step[c.kernel.spatial[i]] = c.w[i].dilation;
		}
		Hlo__HloInstructionProto *seen = draft_slice(d, x, first, kernel->shape->dimensions, step);
		row[n] = draft_sum(d, draft_binary(d, "multiply", seen, kernel), all, n_all);
		row[n] = draft_reshape(d, row[n], (int64_t[]){1, c.outputs}, 2);
		n++;
	} while (conv_step(&c, at, true));
	rows = (struct conv_dims){.batch = 0, .feature = c.n + 1};
	dims[0] = 1;
	for (uint32_t i = 0; i < c.n; i++) {
		rows.spatial[i] = i + 1;
		dims[i + 1] = c.w[i].out;
	}
	dims[c.n + 1] = c.outputs;
	conv_order(&c, &rows, &c.out, perm);
	return draft_transpose(d, draft_reshape(d, draft_concat(d, row, n, 0), dims, c.rank), perm);
}

const struct rule_code grouped_forward_code = {.name = "grouped_forward", .measures = measures, .match = match_forward,
	.write = write_groups};
const struct rule_code grouped_input_code = {.name = "grouped_input", .measures = measures, .match = match_input,
	.write = write_groups};
const struct rule_code grouped_filter_code = {.name = "grouped_filter", .measures = measures, .match = match_filter,
	.write = write_filter};
