/*
 * usual.c - gives a convolution the usual order of dimensions.
 *
 *	convolution(x, k)  =  transpose(convolution(transpose(x), transpose(k)))
 *
 * The batch comes first, then what the window moves over, then the features; of the kernel the taps, then its input and
 * output features. XLA:CPU has a fast convolution for this order alone, and a pass that brings others into it. The pass
 * looks at the entry computation only. In the body of a loop, gradients of convolutions keep the order that automatic
 * differentiation gave them, and are computed number by number: that of a filter of 3 x 3 x 12 x 48 over two images of
 * 32 x 32 took 15 ms instead of 0.7.
 *
 * A place alone is cut out as a program, whose entry it is in, so there the pass does its work and nothing is gained.
 * So whole programs are asked at once (`price program`).
 */
#include "space/rewrite/codes.h"
#include "space/rewrite/conv.h"

static const char *const measures[] = {"taps", "inner", "out", "looped", NULL};

static struct conv_dims usual_image(const struct conv *c)
{
	struct conv_dims d = {.batch = 0, .feature = (int64_t)c->n + 1};

	for (uint32_t i = 0; i < c->n; i++)
		d.spatial[i] = (int64_t)i + 1;
	return d;
}

static struct conv_dims usual_kernel(const struct conv *c)
{
	struct conv_dims d = {.batch = (int64_t)c->n + 1, .feature = c->n};

	for (uint32_t i = 0; i < c->n; i++)
		d.spatial[i] = i;
	return d;
}

static bool same_dims(const struct conv *c, const struct conv_dims *a, const struct conv_dims *b)
{
	bool same = a->batch == b->batch && a->feature == b->feature;

	for (uint32_t i = 0; i < c->n; i++)
		same &= a->spatial[i] == b->spatial[i];
	return same;
}

bool conv_has_usual(const struct conv *c)
{
	if (c->n == 0 || c->n > 3 || c->feature_groups != 1 || c->batch_groups != 1)
		return false;
	for (uint32_t i = 0; i < c->n; i++)
		if (c->w[i].reversed)
			return false;
	return true;
}

static bool read(const struct graph *g, uint32_t v, struct conv *c)
{
	return conv_read(g, v, c) && conv_has_usual(c);
}

static bool match(const struct graph *g, uint32_t v, struct found *f)
{
	struct conv_dims image, kernel;
	struct conv c;

	if (!read(g, v, &c))
		return false;
	image = usual_image(&c);
	kernel = usual_kernel(&c);
	if (same_dims(&c, &c.in, &image) && same_dims(&c, &c.kernel, &kernel) && same_dims(&c, &c.out, &image))
		return false;
	f->measure[0] = (double)c.taps;
	f->measure[1] = (double)c.inner;
	f->measure[2] = (double)g->node[v].elements;
	f->measure[3] = g->comp[g->node[v].comp].trips > 1;
	return true;
}

Hlo__HloInstructionProto *conv_usually(struct draft *d, const Hlo__HloInstructionProto *of, const struct conv *c,
	Hlo__HloInstructionProto *x, Hlo__HloInstructionProto *k, const int64_t *out,
	Hlo__HloInstructionProto **convolution)
{
	struct conv_dims image = usual_image(c), kernel = usual_kernel(c);
	int64_t perm[DRAFT_RANK], dims[DRAFT_RANK];
	Hlo__HloInstructionProto *y;
	struct conv usual = *c;

	conv_order(c, &c->in, &image, perm);
	x = draft_transpose(d, x, perm);
	conv_order(c, &c->kernel, &kernel, perm);
	k = draft_transpose(d, k, perm);
	conv_order(c, &c->out, &image, perm);
	for (uint32_t i = 0; i < c->rank; i++)
		dims[i] = out[perm[i]];
	y = draft_copy(d, of, dims, c->rank, (Hlo__HloInstructionProto *[]){x, k}, 2);
	usual.in = usual.out = image;
	usual.kernel = kernel;
	y->convolution_dimension_numbers = conv_numbers(d, &usual);
	*convolution = y;
	conv_order(c, &image, &c->out, perm);
	return draft_transpose(d, y, perm);
}

static Hlo__HloInstructionProto *write(struct draft *d, const struct found *f, uint32_t variant)
{
	Hlo__HloInstructionProto *y;
	struct conv c;

	(void)variant;
	BUG_ON(!read(d->g, f->anchor, &c));
	d->widens = false; /* the same numbers are multiplied and added as before */
	return conv_usually(d, d->g->node[f->anchor].proto, &c, draft_operand(d, f->anchor, 0),
		draft_operand(d, f->anchor, 1), d->g->node[f->anchor].proto->shape->dimensions, &y);
}

const struct rule_code conv_usual_code = {.name = "conv_usual", .measures = measures, .match = match, .write = write};
