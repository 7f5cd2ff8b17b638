/*
 * library.c - has a product or a convolution computed by oneDNN (hlo/library.h).
 *
 * Which library is faster depends on types, sizes, and how the sides lie (bench/onednn.py). On one core of a Zen 4,
 * beside what XLA:CPU 0.11.2 does itself, a convolution of 7 by 7 over a colour picture takes 0.22 of the time, of 1 by
 * 1 0.66, of 3 by 3 0.83; in bf16 0.11, 0.14 and 0.38, for XLA converts these to f32. A product in bf16 with its first
 * side turned takes 0.43, since oneDNN reads sides however they lie; in f32 most take the same, and a single row 2.8.
 *
 * Of a product, oneDNN wants matrices: besides dimensions that both sides share, one that is summed over and one that
 * stays. Dimensions that lie side by side become one, which moves nothing. If they do not lie so, the side is turned
 * first. A convolution is brought into the usual order of dimensions (usual.c), for which oneDNN has fast code. A
 * spread input gets its zeros first.
 *
 * The numbers multiplied are the same, and are rounded at the same places, so the type stays what it is.
 */
#include <string.h>
#include "hlo/library.h"
#include "space/rewrite/codes.h"
#include "space/rewrite/conv.h"

#define MOST_RANK 12 /* of what oneDNN reads */

bool rule_called_type(const struct graph *g, uint32_t v)
{
	return g->node[v].dtype == DT_F32 || g->node[v].dtype == DT_BF16;
}

/* ---- products ---- */

static const char *const product_measures[] = {"shared", "rows", "columns", "depth", "brain", NULL};

bool rule_callable(const struct dot_dims *dims)
{
	return dims->n_sum > 0 && dims->n_batch + 2 <= MOST_RANK;
}

static bool reads_product(const struct graph *g, uint32_t v, struct dot_dims *dims)
{
	const uint32_t *side = node_operands(g, v);

	return (rule_dot(g, v, dims) || rule_dot_wider(g, v, dims) || rule_dot_whole(g, v, dims)) &&
		rule_callable(dims) && (rule_called_type(g, side[0]) || g->node[side[0]].dtype == DT_S8) &&
		g->node[side[1]].dtype == g->node[side[0]].dtype;
}

static bool match_product(const struct graph *g, uint32_t v, struct found *f)
{
	struct dot_dims dims;

	if (!reads_product(g, v, &dims))
		return false;
	rule_dot_sizes(g, v, &dims, f->measure);
	f->measure[4] = g->node[node_operands(g, v)[0]].dtype == DT_BF16;
	return true;
}

/* Sorts the pairs of dimensions that are summed over as they lie in the first side. */
static void sort_summed(struct dot_dims *dims)
{
	for (uint32_t i = 1; i < dims->n_sum; i++)
		for (uint32_t k = i; k > 0 && dims->sum[0][k] < dims->sum[0][k - 1]; k--)
			for (int side = 0; side < 2; side++) {
				int64_t t = dims->sum[side][k];
				dims->sum[side][k] = dims->sum[side][k - 1];
				dims->sum[side][k - 1] = t;
			}
}

/* Do these dimensions lie side by side, in this order? */
static bool adjoin(const int64_t *dims, uint32_t n)
{
	for (uint32_t i = 1; i < n; i++)
		if (dims[i] != dims[i - 1] + 1)
			return false;
	return true;
}

/*
 * Makes matrices of a side: the dimensions that stay become one, and so do those that are summed over. `out` gets where
 * the new dimensions lie, those summed over as the only pair, what both sides share one by one.
 */
static Hlo__HloInstructionProto *matrices(struct draft *d, Hlo__HloInstructionProto *x, int side,
	const struct dot_dims *in, struct dot_dims *out)
{
	int64_t rest[DRAFT_RANK], order[DRAFT_RANK], size[DRAFT_RANK + 2], batch[DRAFT_RANK];
	uint32_t rank = draft_rank(x), n_rest = dot_rest(in, side, rank, rest), n = 0;
	struct dot_dims dims = *in;
	bool stays = false;

	if (!adjoin(rest, n_rest) || !adjoin(dims.sum[side], dims.n_sum)) {
		rule_turning(&dims, side, rank, order); /* those summed over, last */
		x = draft_transpose(d, x, order);
		for (uint32_t k = 0; k < dims.n_batch; k++)
			dims.batch[side][k] = k;
		for (uint32_t k = 0; k < dims.n_sum; k++)
			dims.sum[side][k] = rank - dims.n_sum + k;
		n_rest = dot_rest(&dims, side, rank, rest);
	}
	for (uint32_t k = 0; k < rank; k++)
		batch[k] = -1;
	for (uint32_t k = 0; k < dims.n_batch; k++)
		batch[dims.batch[side][k]] = k;
	for (uint32_t i = 0; i < rank;) {
		bool summed = i == dims.sum[side][0];
		uint32_t many = batch[i] >= 0 ? 1 : summed ? dims.n_sum : n_rest;
		if (batch[i] >= 0)
			out->batch[side][batch[i]] = n;
		else if (summed)
			out->sum[side][0] = n;
		stays |= batch[i] < 0 && !summed;
		for (size[n] = 1; many > 0; many--)
			size[n] *= x->shape->dimensions[i++];
		n++;
	}
	if (!stays)
		size[n++] = 1;
	return draft_reshape(d, x, size, n);
}

Hlo__HloInstructionProto *rule_called(struct draft *d, Hlo__HloInstructionProto *a, Hlo__HloInstructionProto *b,
	struct dot_dims dims, int32_t dtype)
{
	Hlo__HloInstructionProto *x[2] = {a, b}, *y;
	struct dot_dims plain = {.n_sum = 1, .n_batch = dims.n_batch};
	int64_t size[2 * DRAFT_RANK], rest[DRAFT_RANK];
	uint32_t n = 0;

	sort_summed(&dims);
	for (uint32_t k = 0; k < dims.n_batch; k++)
		size[n++] = a->shape->dimensions[dims.batch[0][k]];
	for (int side = 0; side < 2; side++) {
		uint32_t n_rest = dot_rest(&dims, side, draft_rank(x[side]), rest);
		for (uint32_t k = 0; k < n_rest; k++)
			size[n++] = x[side]->shape->dimensions[rest[k]];
		x[side] = matrices(d, x[side], side, &dims, &plain);
	}
	y = draft_dot(d, x[0], x[1], &plain, d->like);
	y->shape->element_type = dtype;
	library_call(d->mem, y);
	return draft_reshape(d, y, size, n);
}

static Hlo__HloInstructionProto *write_product(struct draft *d, const struct found *f, uint32_t variant)
{
	struct dot_dims dims;

	(void)variant;
	BUG_ON(!reads_product(d->g, f->anchor, &dims));
	d->widens = false;
	return rule_called(d, draft_operand(d, f->anchor, 0), draft_operand(d, f->anchor, 1), dims,
		d->g->node[f->anchor].dtype);
}

const struct rule_code dot_library_code = {
	.name = "dot_library", .measures = product_measures, .match = match_product, .write = write_product};

static bool match_turned(const struct graph *g, uint32_t v, struct found *f)
{
	struct dot_dims dims;
	uint32_t u;

	if (!rule_turned(g, v, &dims) || !rule_called_type(g, v) || !rule_callable(&dims))
		return false;
	u = node_operands(g, v)[0];
	if (!rule_dot(g, u, &dims))
		return false;
	f->inside[f->n_inside++] = u;
	rule_dot_sizes(g, u, &dims, f->measure);
	f->measure[4] = g->node[v].dtype == DT_BF16;
	return true;
}

/* Who reads operands however they lie can put the other one first. */
static Hlo__HloInstructionProto *write_turned(struct draft *d, const struct found *f, uint32_t variant)
{
	uint32_t u = f->inside[0];
	struct dot_dims dims;

	(void)variant;
	BUG_ON(!rule_dot(d->g, u, &dims));
	d->widens = false;
	return rule_called(d, draft_operand(d, u, 1), draft_operand(d, u, 0), rule_other_dims(&dims),
		d->g->node[u].dtype);
}

const struct rule_code dot_turned_called_code = {
	.name = "dot_turned_called", .measures = product_measures, .match = match_turned, .write = write_turned};

/* ---- convolutions ---- */

/*
 * In bf16 oneDNN gets windows of 32 or more columns wrong on a Xeon with AMX. The gradient of a filter over pictures is
 * a convolution whose window is as wide as they are. With 32 and 128 columns its numbers were off by 1.1 to 2.3 times
 * their magnitude; with 31 they were right.
 */
#define WIDE 32

static const char *const window_measures[] = {"taps", "inner", "out", "groups", "brain", "wide", NULL};

static bool reads_convolution(const struct graph *g, uint32_t v, struct conv *c)
{
	bool ok = conv_read(g, v, c) && rule_called_type(g, v) && c->n >= 1 && c->n <= 3 && c->batch_groups == 1;

	for (uint32_t i = 0; ok && i < c->n; i++)
		ok = !c->w[i].reversed;
	return ok;
}

static bool match_convolution(const struct graph *g, uint32_t v, struct found *f)
{
	struct conv c;

	if (!reads_convolution(g, v, &c))
		return false;
	f->measure[0] = (double)c.taps;
	f->measure[1] = (double)c.inner;
	f->measure[2] = (double)g->node[v].elements;
	f->measure[3] = (double)c.feature_groups;
	f->measure[4] = g->node[v].dtype == DT_BF16;
	f->measure[5] = g->node[v].dtype == DT_BF16 && c.w[c.n - 1].size >= WIDE;
	return true;
}

/* The window, of an input that is padded already. */
static Hlo__Window *bare_window(struct draft *d, const Hlo__Window *of)
{
	Hlo__Window *w = arena_dup(d->mem, of, sizeof *w);

	w->dimensions = ARENA_NEW(d->mem, w->n_dimensions, Hlo__WindowDimension *);
	for (size_t i = 0; i < w->n_dimensions; i++) {
		w->dimensions[i] = arena_dup(d->mem, of->dimensions[i], sizeof **w->dimensions);
		w->dimensions[i]->padding_low = w->dimensions[i]->padding_high = 0;
		w->dimensions[i]->base_dilation = 1;
	}
	return w;
}

static Hlo__HloInstructionProto *write_convolution(struct draft *d, const struct found *f, uint32_t variant)
{
	Hlo__HloInstructionProto *x, *y, *back;
	struct conv c;
	bool bare;

	(void)variant;
	BUG_ON(!reads_convolution(d->g, f->anchor, &c));
	d->widens = false;
	bare = c.spread;
	for (uint32_t i = 0; i < c.n; i++)
		bare |= c.w[i].low < 0 || c.w[i].high < 0;
	x = draft_operand(d, f->anchor, 0);
	back = conv_usually(d, d->g->node[f->anchor].proto, &c, bare ? conv_padded(d, &c, x) : x,
		draft_operand(d, f->anchor, 1), d->g->node[f->anchor].proto->shape->dimensions, &y);
	if (bare)
		y->window = bare_window(d, y->window);
	library_call(d->mem, y);
	return back;
}

const struct rule_code conv_library_code = {
	.name = "conv_library", .measures = window_measures, .match = match_convolution, .write = write_convolution};
