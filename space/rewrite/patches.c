/*
 * patches.c - rewrites a convolution as a product of matrices over what its window sees, or as one for each tap.
 *
 * If a window has few numbers, it costs little to gather them into rows ("im2col"), and a product of matrices is
 * the fastest code there is. A window of one tap needs no gathering. The gradient of a filter has a window as large
 * as the image and an output of a few positions; there a row is gathered for each position.
 *
 * Rows of many numbers cost more to gather than to multiply. Then there is a product for each tap, and their sum is the
 * result; or for the gradient of a filter one for each position, which is a tap of the filter. In XLA:CPU the gradient
 * of a filter of 3 x 3 x 64 x 64 over eight images of 32 x 32 takes 10% to 50% less so. A convolution over three
 * dimensions, for which there is no fast code, took a seventh when it was written so by hand.
 *
 * Where the input is spread by zeros, most of what is multiplied is zero. A product for each tap needs none of them: it
 * is taken before its numbers are spread. In the gradient of a transposed convolution's filter the operands are
 * exchanged, which makes of zeros between the window's elements steps between those it meets: 27 ms instead of 640.
 */
#include <string.h>
#include "space/rewrite/conv.h"
#include "space/rewrite/codes.h"

#define MOST_TAPS 1024 /* with a product each */

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

/* The kernel with its taps first, then input features and outputs. */
static Hlo__HloInstructionProto *kernel_rows(struct draft *d, const struct conv *c, uint32_t v)
{
	struct conv_dims rows = {.batch = c->n + 1, .feature = c->n};
	int64_t perm[DRAFT_RANK];

	for (uint32_t i = 0; i < c->n; i++)
		rows.spatial[i] = i;
	conv_order(c, &c->kernel, &rows, perm);
	return draft_transpose(d, draft_operand(d, v, 1), perm);
}

/* The dimensions of a product over features: the input's without its features, then the outputs. */
static struct conv_dims over_features(const struct conv *c)
{
	struct conv_dims product = {.feature = c->rank - 1};

	product.batch = c->in.batch - (c->in.batch > c->in.feature);
	for (uint32_t i = 0; i < c->n; i++)
		product.spatial[i] = c->in.spatial[i] - (c->in.spatial[i] > c->in.feature);
	return product;
}

static Hlo__HloInstructionProto *write_window(struct draft *d, const struct found *f, uint32_t variant)
{
	Hlo__HloInstructionProto *x, *kernel, **seen;
	int64_t perm[DRAFT_RANK], tap[CONV_SPATIAL] = {0};
	struct dot_dims dot = {.n_sum = 1};
	struct conv_dims product;
	uint32_t n = 0;
	struct conv c;

	(void)variant;
	BUG_ON(!conv_read(d->g, f->anchor, &c));
	x = conv_padded(d, &c, rule_seen(d, f->anchor, 0));
	seen = arena_alloc(d->mem, (size_t)c.taps * sizeof(*seen));
	do
		seen[n++] = met(d, &c, x, tap);
	while (conv_step(&c, tap, false));
	kernel = kernel_rows(d, &c, f->anchor);
	kernel = draft_reshape(d, kernel, (int64_t[]){c.taps * c.inner, c.outputs}, 2);
	dot.sum[0][0] = c.in.feature;
	x = draft_dot(d, draft_concat(d, seen, n, (uint32_t)c.in.feature), kernel, &dot, d->like);
	product = over_features(&c);
	conv_order(&c, &product, &c.out, perm);
	return draft_transpose(d, x, perm);
}

/* Does a tap meet any of the input, and not only padding and zeros between? */
static bool meets(const struct graph *g, uint32_t v, const struct conv *c, const int64_t *tap)
{
	for (uint32_t i = 0; i < c->n; i++) {
		const struct conv_window *w = &c->w[i];
		int64_t size = rule_dim(g, node_operands(g, v)[0], c->in.spatial[i]), s = 0, at;
		for (; s < w->out; s++) {
			at = s * w->stride + (w->reversed ? w->size - 1 - tap[i] : tap[i]) * w->dilation - w->low;
			if (at >= 0 && at % w->base == 0 && at / w->base < size)
				break;
		}
		if (s == w->out)
			return false;
	}
	return true;
}

static bool match_taps(const struct graph *g, uint32_t v, struct found *f)
{
	int64_t tap[CONV_SPATIAL] = {0};
	struct conv c;

	if (!match(g, v, f, &c) || c.taps > MOST_TAPS)
		return false;
	while (!meets(g, v, &c, tap))
		if (!conv_step(&c, tap, false))
			return false;
	return true;
}

/* Can the product be taken before this dimension is spread? Then the result is spread instead. */
static bool spread_late(const struct conv_window *w)
{
	return w->base > 1 && w->stride == 1;
}

/* The convolution without what is done late: there the window meets all as it is. */
static struct conv without_late(const struct graph *g, uint32_t v, const struct conv *c)
{
	struct conv e = *c;

	for (uint32_t i = 0; i < c->n; i++)
		if (spread_late(&c->w[i])) {
			int64_t size = rule_dim(g, node_operands(g, v)[0], c->in.spatial[i]);
			e.w[i] = (struct conv_window){.size = c->w[i].size, .stride = 1, .base = 1, .out = size};
		}
	return e;
}

/* Spreads the product of one tap, and moves it to where the tap meets the input. */
static Hlo__HloInstructionProto *spread_product(struct draft *d, const struct conv *c, Hlo__HloInstructionProto *y,
	const int64_t *tap)
{
	int64_t low[DRAFT_RANK] = {0}, high[DRAFT_RANK] = {0}, inner[DRAFT_RANK] = {0};
	struct conv_dims product = over_features(c);

	for (uint32_t i = 0; i < c->n; i++) {
		const struct conv_window *w = &c->w[i];
		int64_t at = product.spatial[i];
		if (!spread_late(w))
			continue;
		inner[at] = w->base - 1;
		low[at] = w->low - (w->reversed ? w->size - 1 - tap[i] : tap[i]) * w->dilation;
		high[at] = w->out - low[at] - (y->shape->dimensions[at] - 1) * w->base - 1;
	}
	return draft_pad(d, y, low, high, inner, NULL);
}

static Hlo__HloInstructionProto *write_taps(struct draft *d, const struct found *f, uint32_t variant)
{
	int64_t perm[DRAFT_RANK], tap[CONV_SPATIAL] = {0}, one[DRAFT_RANK];
	Hlo__HloInstructionProto *x, *rows, *sum = NULL;
	struct dot_dims dot = {.n_sum = 1};
	struct conv_dims product;
	struct conv c, e;

	(void)variant;
	BUG_ON(!conv_read(d->g, f->anchor, &c));
	e = without_late(d->g, f->anchor, &c);
	x = conv_padded(d, &e, rule_seen(d, f->anchor, 0));
	rows = kernel_rows(d, &c, f->anchor);
	dot.sum[0][0] = c.in.feature;
	for (uint32_t i = 0; i < c.n; i++)
		one[i] = 1;
	one[c.n] = c.inner;
	one[c.n + 1] = c.outputs;
	do {
		int64_t first[DRAFT_RANK] = {0};
		Hlo__HloInstructionProto *y;
		if (!meets(d->g, f->anchor, &c, tap))
			continue;
		memcpy(first, tap, c.n * sizeof *tap);
		y = draft_reshape(d, draft_slice(d, rows, first, one, NULL), one + c.n, 2);
		y = spread_product(d, &c, draft_dot(d, met(d, &e, x, tap), y, &dot, d->like), tap);
		sum = sum ? draft_binary(d, "add", sum, y) : y;
	} while (conv_step(&c, tap, false));
	product = over_features(&c);
	conv_order(&c, &product, &c.out, perm);
	return draft_transpose(d, sum, perm);
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

struct image {
	struct conv c;
	Hlo__HloInstructionProto *x, *kernel;
	bool exchanged; /* the operands are: the window would be larger than the input */
};

static struct image read_image(struct draft *d, uint32_t v)
{
	struct image m;
	struct conv e;

	BUG_ON(!conv_read(d->g, v, &m.c));
	e = conv_exchanged(d->g, v, &m.c);
	m.exchanged = e.taps < m.c.taps;
	m.c = m.exchanged ? e : m.c;
	m.x = conv_padded(d, &m.c, rule_seen(d, v, m.exchanged));
	m.kernel = draft_operand(d, v, !m.exchanged);
	return m;
}

/* The part of the input that the window meets at one position of the output. */
static Hlo__HloInstructionProto *from_here(struct draft *d, const struct image *m, const int64_t *here)
{
	int64_t first[DRAFT_RANK] = {0}, count[DRAFT_RANK], step[DRAFT_RANK];
	const struct conv *c = &m->c;

	for (uint32_t i = 0; i < c->rank; i++) {
		count[i] = m->x->shape->dimensions[i];
		step[i] = 1;
	}
	for (uint32_t i = 0; i < c->n; i++) {
		first[c->in.spatial[i]] = (m->exchanged ? c->w[i].out - 1 - here[i] : here[i]) * c->w[i].stride;
		count[c->in.spatial[i]] = c->w[i].size;
		step[c->in.spatial[i]] = c->w[i].dilation;
	}
	return draft_slice(d, m->x, first, count, step);
}

/* The dimensions that are summed over in the product of the input or parts of it, and the kernel. */
static struct dot_dims image_sum(const struct conv *c)
{
	struct dot_dims dot = {0};

	for (uint32_t i = 0; i < c->n; i++) {
		dot.sum[0][dot.n_sum] = c->in.spatial[i];
		dot.sum[1][dot.n_sum++] = c->kernel.spatial[i];
	}
	dot.sum[0][dot.n_sum] = c->in.feature;
	dot.sum[1][dot.n_sum++] = c->kernel.feature;
	return dot;
}

/* All parts in one product: positions, batch, outputs. */
static Hlo__HloInstructionProto *one_product(struct draft *d, const struct image *m, Hlo__HloInstructionProto **seen)
{
	struct dot_dims dot = image_sum(&m->c);

	return draft_dot(d, draft_concat(d, seen, (uint32_t)m->c.positions, (uint32_t)m->c.in.batch), m->kernel, &dot,
		d->like);
}

/* A product for each part: positions, and then batch and outputs, or outputs and batch. */
static Hlo__HloInstructionProto *products(struct draft *d, const struct image *m, Hlo__HloInstructionProto **seen,
	bool kernel_first)
{
	const struct conv *c = &m->c;
	struct dot_dims dot = image_sum(c), turned = dot;

	memcpy(turned.sum[0], dot.sum[1], sizeof *dot.sum);
	memcpy(turned.sum[1], dot.sum[0], sizeof *dot.sum);
	for (int64_t i = 0; i < c->positions; i++) {
		Hlo__HloInstructionProto *y = kernel_first ? draft_dot(d, m->kernel, seen[i], &turned, d->like)
			: draft_dot(d, seen[i], m->kernel, &dot, d->like);
		seen[i] = draft_reshape(d, y, (int64_t[]){1, y->shape->dimensions[0], y->shape->dimensions[1]}, 3);
	}
	return draft_concat(d, seen, (uint32_t)c->positions, 0);
}

static Hlo__HloInstructionProto *image_products(struct draft *d, uint32_t v, bool each)
{
	int64_t here[CONV_SPATIAL] = {0}, dims[DRAFT_RANK], perm[DRAFT_RANK];
	struct image m = read_image(d, v);
	const struct conv *c = &m.c;
	bool kernel_first = each && c->out.feature < c->out.batch;
	struct conv_dims product = {.batch = c->n + kernel_first, .feature = c->n + !kernel_first};
	Hlo__HloInstructionProto *x, **seen = arena_alloc(d->mem, (size_t)c->positions * sizeof(*seen));
	uint32_t n = 0;

	do
		seen[n++] = from_here(d, &m, here);
	while (conv_step(c, here, true));
	for (uint32_t i = 0; i < c->n; i++) {
		dims[i] = c->w[i].out;
		product.spatial[i] = i;
	}
	dims[product.batch] = c->batch;
	dims[product.feature] = c->outputs;
	x = each ? products(d, &m, seen, kernel_first) : one_product(d, &m, seen);
	conv_order(c, &product, &c->out, perm);
	return draft_transpose(d, draft_reshape(d, x, dims, c->rank), perm);
}

static Hlo__HloInstructionProto *write_image(struct draft *d, const struct found *f, uint32_t variant)
{
	(void)variant;
	return image_products(d, f->anchor, false);
}

static Hlo__HloInstructionProto *write_positions(struct draft *d, const struct found *f, uint32_t variant)
{
	(void)variant;
	return image_products(d, f->anchor, true);
}

const struct rule_code window_dot_code = {.name = "window_dot", .measures = measures, .match = match_window,
	.write = write_window};
const struct rule_code window_taps_code = {.name = "window_taps", .measures = measures, .match = match_taps,
	.write = write_taps};
const struct rule_code image_dot_code = {.name = "image_dot", .measures = measures, .match = match_image,
	.write = write_image};
const struct rule_code image_positions_code = {.name = "image_positions", .measures = measures, .match = match_image,
	.write = write_positions};
