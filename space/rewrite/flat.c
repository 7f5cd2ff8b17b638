/*
 * flat.c - computes a convolution over three dimensions by convolutions over two.
 *
 * XLA:CPU has fast code for two dimensions or one. Over three, 8 frames of 28 x 28 take seven times as long as 8
 * pictures, and gradients up to seventeen times. Networks for films and volumes are full of windows that move over some
 * dimensions only, 1 x 3 x 3 and then 3 x 1 x 1. A dimension is folded into another one
 *
 *	where the window does not move in it (idle): into the batch, or another such dimension,
 *	where it covers all of it and gives one number (summed): into the features, or another such dimension.
 *
 * The first is how frames become pictures, the second how a filter's gradient sums over frames. Where all dimensions
 * have a window that moves, one is taken apart first: tap by tap, and the results added up; or result by result, and
 * these put side by side. Either leaves it idle or summed.
 *
 * A column is folded, too: a window of 9 x 1 over 400 x 1 takes two to three times as long as one of 1 x 9 over
 * 1 x 400.
 *
 * Two dimensions that lie side by side are folded by a reshape, others are brought side by side first.
 */
#include <string.h>

#include "space/rewrite/codes.h"
#include "space/rewrite/conv.h"

#define FLAT 2 /* so many dimensions are fast */

static const char *const measures[] = {"taps", "channels", "out", "parts", NULL};

struct flat { /* a convolution, of which some dimensions may be folded already */
	struct draft *d;
	struct conv c;
	Hlo__HloInstructionProto *x, *k;
	int64_t in[CONV_SPATIAL];	 /* the size of each spatial dimension of x */
	int64_t out[DRAFT_RANK];	 /* the sizes of the result, in its order */
	const Hlo__HloInstructionProto *of; /* the convolution */
};

struct fold { /* a spatial dimension goes into the batch, the features or another spatial one */
	enum { INTO_BATCH, INTO_FEATURE, INTO_OTHER } into;
	uint32_t dim, other;
};

static bool is_idle(const struct conv_window *w)
{
	return w->size == 1 && w->stride == 1 && w->low == 0 && w->high == 0 && w->base == 1;
}

static bool is_summed(const struct conv_window *w, int64_t in)
{
	return w->size == in && w->out == 1 && w->low == 0 && w->high == 0 && w->base == 1 && w->dilation == 1 &&
		!w->reversed;
}

/* Where a dimension goes in one of the arrays. */
static int64_t *target(struct conv_dims *d, const struct fold *f)
{
	return f->into == INTO_OTHER ? &d->spatial[f->other] : f->into == INTO_BATCH ? &d->batch : &d->feature;
}

static bool beside(struct conv_dims *d, const struct fold *f)
{
	return d->spatial[f->dim] == *target(d, f) + 1;
}

/* Is the result folded, as the input is? That is so for idle dimensions; for summed ones the kernel is. */
static bool folds_result(const struct flat *t, const struct fold *f)
{
	return f->into == INTO_BATCH || (f->into == INTO_OTHER && is_idle(&t->c.w[f->dim]));
}

static bool is_possible(const struct flat *t, const struct fold *f)
{
	const struct conv *c = &t->c;
	bool idle = is_idle(&c->w[f->dim]), summed = is_summed(&c->w[f->dim], t->in[f->dim]);

	if (f->into == INTO_BATCH)
		return idle && c->batch_groups == 1;
	if (f->into == INTO_FEATURE)
		return summed && c->feature_groups == 1;
	return f->dim != f->other && ((idle && is_idle(&c->w[f->other])) ||
		(!idle && summed && is_summed(&c->w[f->other], t->in[f->other])));
}

/* Is there a gain in folding it? Of two dimensions only if it is the width of a column. */
static bool is_worth(const struct flat *t, uint32_t dim)
{
	return t->c.n > FLAT || (t->c.n == FLAT && t->in[dim] == 1 && t->c.in.spatial[dim] > t->c.in.spatial[!dim]);
}

/* Finds a fold, preferably one of dimensions that lie side by side; false if there is none. */
static bool choose(struct flat *t, struct fold *best)
{
	bool found = false;

	for (uint32_t i = 0; i < t->c.n; i++)
		for (uint32_t k = 0; k < t->c.n + 2; k++) {
			struct fold f = {.into = k < 2 ? (k ? INTO_FEATURE : INTO_BATCH) : INTO_OTHER, .dim = i,
				.other = k < 2 ? 0 : k - 2};
			if (!is_worth(t, i) || !is_possible(t, &f))
				continue;
			if (!found)
				*best = f;
			found = true;
			if (beside(&t->c.in, &f) && beside(folds_result(t, &f) ? &t->c.out : &t->c.kernel, &f)) {
				*best = f;
				return true;
			}
		}
	return found;
}

/* Where it stands once it has moved behind its target. */
static int64_t behind(struct conv_dims *d, const struct fold *f)
{
	return *target(d, f) + (d->spatial[f->dim] > *target(d, f));
}

/* Removes a spatial dimension from the numbering. */
static void forget(struct conv_dims *d, uint32_t n, uint32_t dim)
{
	int64_t gone = d->spatial[dim];

	d->batch -= d->batch > gone;
	d->feature -= d->feature > gone;
	for (uint32_t i = 0; i < n; i++)
		d->spatial[i] -= d->spatial[i] > gone;
	memmove(&d->spatial[dim], &d->spatial[dim + 1], (n - dim - 1) * sizeof *d->spatial);
}

/* Folds a dimension of an operand, or drops it, which has one element then. */
static Hlo__HloInstructionProto *folded(struct flat *t, Hlo__HloInstructionProto *x, struct conv_dims *dims,
	const struct fold *f, bool folds)
{
	int64_t dim = dims->spatial[f->dim], at = *target(dims, f), size[DRAFT_RANK];
	uint32_t rank = draft_rank(x), n = 0;

	for (int64_t i = 0; i < rank; i++)
		if (i != dim)
			size[n++] = x->shape->dimensions[i] * (folds && i == at ? x->shape->dimensions[dim] : 1);
	x = draft_reshape(t->d, folds ? draft_moved(t->d, x, dim, behind(dims, f)) : x, size, n);
	forget(dims, t->c.n, f->dim);
	return x;
}

/* The result with that dimension again. */
static Hlo__HloInstructionProto *unfolded(struct flat *t, Hlo__HloInstructionProto *y, struct conv_dims *dims,
	const struct fold *f, bool folds)
{
	int64_t dim = dims->spatial[f->dim], at = *target(dims, f), size[DRAFT_RANK];
	uint32_t n = 0;

	if (!folds)
		return draft_reshape(t->d, y, t->out, t->c.rank);
	for (int64_t i = 0; i < t->c.rank; i++) {
		if (i != dim)
			size[n++] = t->out[i];
		if (i == at)
			size[n++] = t->out[dim];
	}
	return draft_moved(t->d, draft_reshape(t->d, y, size, n), behind(dims, f), dim);
}

static Hlo__Window *window(const struct flat *t)
{
	Hlo__Window *w = arena_alloc(t->d->mem, sizeof *w);

	hlo__window__init(w);
	w->n_dimensions = t->c.n;
	w->dimensions = ARENA_NEW(t->d->mem, t->c.n, Hlo__WindowDimension *);
	for (uint32_t i = 0; i < t->c.n; i++) {
		const struct conv_window *from = &t->c.w[i];
		Hlo__WindowDimension *to = w->dimensions[i] = arena_alloc(t->d->mem, sizeof *to);
		hlo__window_dimension__init(to);
		to->size = from->size;
		to->stride = from->stride;
		to->padding_low = from->low;
		to->padding_high = from->high;
		to->window_dilation = from->dilation;
		to->base_dilation = from->base;
		to->window_reversal = from->reversed;
	}
	return w;
}

/*
 * The convolution that is left, in the order for which there is fast code. The compiler has a pass for that, but not in
 * the body of a loop (usual.c). (K-FAC sums the covariance of a layer in a loop, by a convolution over four dimensions.
 * Over two of them in another order it took as long as before, where its place promised a third of the program.)
 */
static Hlo__HloInstructionProto *convolution(struct flat *t)
{
	Hlo__HloInstructionProto *y, *back;

	if (conv_has_usual(&t->c)) {
		back = conv_usually(t->d, t->of, &t->c, t->x, t->k, t->out, &y);
	} else {
		back = y = draft_copy(t->d, t->of, t->out, t->c.rank, (Hlo__HloInstructionProto *[]){t->x, t->k}, 2);
		y->convolution_dimension_numbers = conv_numbers(t->d, &t->c);
	}
	y->window = window(t);
	return back;
}

/* Folds as long as it can, and writes the convolution. */
static Hlo__HloInstructionProto *flatten(struct flat t)
{
	struct flat less = t;
	struct fold f;
	bool result;

	if (!choose(&t, &f))
		return convolution(&t);
	result = folds_result(&t, &f);
	less.x = folded(&t, t.x, &less.c.in, &f, true);
	less.k = folded(&t, t.k, &less.c.kernel, &f, !result);
	for (uint32_t i = 0, n = 0; i < t.c.rank; i++)
		if (i != t.c.out.spatial[f.dim])
			less.out[n++] = t.out[i] * (result && i == *target(&t.c.out, &f) ?
				t.out[t.c.out.spatial[f.dim]] : 1);
	forget(&less.c.out, t.c.n, f.dim);
	if (f.into == INTO_OTHER) { /* both were idle, or both summed */
		less.in[f.other] *= t.in[f.dim];
		less.c.w[f.other].size *= t.c.w[f.dim].size;
		less.c.w[f.other].out *= t.c.w[f.dim].out;
	}
	memmove(&less.in[f.dim], &less.in[f.dim + 1], (t.c.n - f.dim - 1) * sizeof *less.in);
	memmove(&less.c.w[f.dim], &less.c.w[f.dim + 1], (t.c.n - f.dim - 1) * sizeof *less.c.w);
	less.c.n--;
	less.c.rank--;
	return unfolded(&t, flatten(less), &t.c.out, &f, result);
}

/*
 * Takes one dimension apart: a convolution for each tap, in which it is idle, and these are added up; or one for each
 * result, in which it is summed, and these are put side by side.
 */
static Hlo__HloInstructionProto *in_parts(const struct flat *t, uint32_t dim)
{
	int64_t low[DRAFT_RANK] = {0}, high[DRAFT_RANK] = {0}, inner[DRAFT_RANK] = {0}, at = t->c.in.spatial[dim];
	const struct conv_window w = t->c.w[dim];
	bool by_taps = w.size <= w.out;
	int64_t n = by_taps ? w.size : w.out, size = by_taps ? 1 : w.size, out = by_taps ? w.out : 1;
	Hlo__HloInstructionProto **part = ARENA_NEW(t->d->mem, n, Hlo__HloInstructionProto *), *x;

	low[at] = w.low;
	high[at] = w.high;
	inner[at] = w.base - 1;
	x = draft_pad(t->d, t->x, low, high, inner, NULL);
	for (int64_t i = 0; i < n; i++) {
		struct flat one = *t;
		one.c.w[dim] = (struct conv_window){.size = size, .stride = 1, .dilation = 1, .base = 1, .out = out};
		one.in[dim] = by_taps ? w.out : w.size;
		one.x = draft_every(t->d, x, (uint32_t)at, i * (by_taps ? w.dilation : w.stride), one.in[dim],
			by_taps ? w.stride : w.dilation);
		if (by_taps)
			one.k = draft_part(t->d, t->k, (uint32_t)t->c.kernel.spatial[dim],
				w.reversed ? n - 1 - i : i, 1);
		one.out[t->c.out.spatial[dim]] = out;
		part[i] = flatten(one);
		if (by_taps && i > 0)
			part[0] = draft_binary(t->d, "add", part[0], part[i]);
	}
	return by_taps ? part[0] : draft_concat(t->d, part, (uint32_t)n, (uint32_t)t->c.out.spatial[dim]);
}

/* How many parts a dimension makes that can be folded then. */
static int64_t parts_of(const struct conv *c, const struct conv_window *w)
{
	if (w->size <= w->out)
		return c->batch_groups == 1 ? w->size : INT64_MAX;
	return c->feature_groups == 1 && !w->reversed ? w->out : INT64_MAX;
}

/* The dimension that makes fewest; how many. INT64_MAX: there is none. */
static int64_t fewest(const struct conv *c, uint32_t *dim)
{
	int64_t n = INT64_MAX;

	for (uint32_t i = 0; c->n > FLAT && i < c->n; i++)
		if (parts_of(c, &c->w[i]) < n) {
			n = parts_of(c, &c->w[i]);
			*dim = i;
		}
	return n;
}

static bool read(const struct graph *g, uint32_t v, struct flat *t)
{
	*t = (struct flat){.of = g->node[v].proto};
	if (!conv_read(g, v, &t->c) || t->c.n < FLAT)
		return false;
	for (uint32_t i = 0; i < t->c.n; i++)
		t->in[i] = rule_dim(g, node_operands(g, v)[0], t->c.in.spatial[i]);
	for (uint32_t i = 0; i < t->c.rank; i++)
		t->out[i] = rule_dim(g, v, i);
	return true;
}

static bool match(const struct graph *g, uint32_t v, struct found *f)
{
	struct flat t;
	struct fold fold;
	uint32_t dim;
	int64_t n;

	if (!read(g, v, &t))
		return false;
	n = choose(&t, &fold) ? 1 : fewest(&t.c, &dim);
	if (n == INT64_MAX)
		return false;
	f->measure[0] = (double)t.c.taps;
	f->measure[1] = (double)t.c.inner;
	f->measure[2] = (double)g->node[v].elements;
	f->measure[3] = (double)n;
	return true;
}

static Hlo__HloInstructionProto *write(struct draft *d, const struct found *f, uint32_t variant)
{
	struct fold fold;
	struct flat t;
	uint32_t dim;
	bool whole;

	(void)variant;
	BUG_ON(!read(d->g, f->anchor, &t));
	t.d = d;
	whole = choose(&t, &fold);
	d->widens &= !whole; /* the same numbers are multiplied and added as before */
	t.x = draft_operand(d, f->anchor, 0);
	t.k = draft_operand(d, f->anchor, 1);
	if (whole)
		return flatten(t);
	BUG_ON(fewest(&t.c, &dim) == INT64_MAX);
	return in_parts(&t, dim);
}

const struct rule_code conv_flat_code = {.name = "conv_flat", .measures = measures, .match = match, .write = write};
