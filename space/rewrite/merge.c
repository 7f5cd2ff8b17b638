/*
 * merge.c - merges products, or convolutions, that share an operand; and takes apart a product that is cut into parts.
 *
 *	dot(x, a), dot(x, b)		      =  slices of dot(x, concatenate(a, b)), along the columns
 *	convolution(x, k), convolution(x, l)  =  slices of convolution(x, concatenate(k, l)), along the output features
 *	convolution(x, k), convolution(y, k)  =  slices of convolution(concatenate(x, y), k), along the batch
 *
 *	slice(dot(x, w)), slice(dot(x, w))    =  dot(x, slice(w)), dot(x, slice(w))
 *
 * and the same with more than two. Examples are queries, keys and values of attention, the gates of a recurrent net,
 * and parallel convolutions of an image. Every number is computed from the same numbers in the same order, so even
 * numbers of 16 bits stay what they are.
 */
#include <string.h>
#include "hlo/pack.h"
#include "space/rewrite/codes.h"
#include "space/rewrite/conv.h"

static const char *const measures[] = {"rows", "columns", "leader_columns", "depth", "prepared", NULL};

/* ---- products ---- */

/* Sorts the pairs of summed dimensions by those of one side, which makes the order of no account. */
static void sort_sums(struct dot_dims *d, uint32_t side)
{
	for (uint32_t i = 1; i < d->n_sum; i++)
		for (uint32_t k = i; k > 0 && d->sum[side][k] < d->sum[side][k - 1]; k--)
			for (int s = 0; s < 2; s++) {
				int64_t was = d->sum[s][k];
				d->sum[s][k] = d->sum[s][k - 1];
				d->sum[s][k - 1] = was;
			}
}

/* Reads a product for which operand `side` is shared. */
static bool read_dot(const struct graph *g, uint32_t v, uint32_t side, struct dot_dims *d)
{
	if (!rule_dot(g, v, d))
		return false;
	sort_sums(d, side);
	return true;
}

static uint64_t dots_alike(const struct graph *g, uint32_t v, uint32_t side)
{
	const Hlo__HloInstructionProto *in = g->node[v].proto;
	struct buf precision = {0};
	struct dot_dims d;
	uint64_t h;

	if (!read_dot(g, v, side, &d))
		return 0;
	if (in->precision_config)
		pack_message(&in->precision_config->base, &precision);
	h = hash64(precision.data, precision.len, g->node[v].dtype);
	buf_release(&precision);
	h = hash64(d.batch[side], d.n_batch * sizeof(int64_t), hash_mix(h, d.n_batch));
	return hash64(d.sum[side], d.n_sum * sizeof(int64_t), hash_mix(h, d.n_sum)) | 1;
}

static double size_of_rest(const struct graph *g, uint32_t v, uint32_t side, const struct dot_dims *d)
{
	int64_t rest[DRAFT_RANK];
	uint32_t u = node_operands(g, v)[side];

	return rule_size_of(g, u, rest, dot_rest(d, (int)side, g->node[u].rank, rest));
}

static bool match_dots(const struct graph *g, uint32_t v, struct found *f)
{
	struct dot_dims d, leader;
	uint32_t u = node_operands(g, v)[f->side];

	if (!read_dot(g, v, f->side, &d) || !read_dot(g, f->leader, f->side, &leader))
		return false;
	f->measure[0] = size_of_rest(g, v, f->side, &d) * rule_size_of(g, u, d.batch[f->side], d.n_batch);
	f->measure[1] = size_of_rest(g, v, !f->side, &d);
	f->measure[2] = size_of_rest(g, f->leader, !f->side, &leader);
	f->measure[3] = rule_size_of(g, u, d.sum[f->side], d.n_sum);
	return true;
}

/*
 * Returns the other operand with its dimensions in the order: shared ones, summed ones, and one for all the rest. If
 * not `sum_first`, the rest comes before the summed ones.
 */
static Hlo__HloInstructionProto *columns_of(struct draft *d, uint32_t v, uint32_t side, const struct dot_dims *dims,
	bool sum_first)
{
	Hlo__HloInstructionProto *x = draft_operand(d, v, !side);
	int64_t perm[DRAFT_RANK], rest[DRAFT_RANK], size[DRAFT_RANK + 1], all = 1;
	uint32_t n = 0, n_rest = dot_rest(dims, !side, draft_rank(x), rest), at;

	for (uint32_t k = 0; k < dims->n_batch; k++)
		perm[n++] = dims->batch[!side][k];
	for (uint32_t k = 0; k < n_rest && !sum_first; k++)
		perm[n++] = rest[k];
	for (uint32_t k = 0; k < dims->n_sum; k++)
		perm[n++] = dims->sum[!side][k];
	for (uint32_t k = 0; k < n_rest && sum_first; k++)
		perm[n++] = rest[k];
	x = draft_transpose(d, x, perm);
	for (uint32_t k = 0; k < n_rest; k++)
		all *= x->shape->dimensions[dims->n_batch + (sum_first ? dims->n_sum : 0) + k];
	for (at = n = 0; at < dims->n_batch; at++)
		size[n++] = x->shape->dimensions[at];
	if (!sum_first)
		size[n++] = all;
	for (uint32_t k = 0; k < dims->n_sum; k++)
		size[n++] = x->shape->dimensions[at + (sum_first ? 0 : n_rest) + k];
	if (sum_first)
		size[n++] = all;
	return draft_reshape(d, x, size, n);
}

static void join_dots(struct draft *d, const uint32_t *node, uint32_t n, uint32_t side,
	Hlo__HloInstructionProto **value)
{
	Hlo__HloInstructionProto **part = ARENA_NEW(d->mem, n, Hlo__HloInstructionProto *);
	Hlo__HloInstructionProto *y, *shared = draft_operand(d, node[0], side);
	struct dot_dims dims, each;
	int64_t rest[DRAFT_RANK], first = 0;
	uint32_t other = d->g->node[node_operands(d->g, node[0])[!side]].rank, along;
	bool sum_first;

	BUG_ON(!read_dot(d->g, node[0], side, &dims));
	sum_first = !dot_rest(&dims, !side, other, rest) || dims.n_sum == 0 || dims.sum[!side][0] < rest[0];
	for (uint32_t i = 0; i < n; i++) {
		BUG_ON(!read_dot(d->g, node[i], side, &each) || draft_operand(d, node[i], side) != shared);
		part[i] = columns_of(d, node[i], side, &each, sum_first);
	}
	along = dims.n_batch + (sum_first ? dims.n_sum : 0);
	for (uint32_t k = 0; k < dims.n_batch; k++)
		dims.batch[!side][k] = k;
	for (uint32_t k = 0; k < dims.n_sum; k++)
		dims.sum[!side][k] = dims.n_batch + !sum_first + k;
	y = draft_concat(d, part, n, along);
	y = side == 0 ? draft_dot(d, shared, y, &dims, d->like) : draft_dot(d, y, shared, &dims, d->like);
	for (uint32_t i = 0; i < n; i++) {
		const Hlo__ShapeProto *s = d->g->node[node[i]].proto->shape;
		int64_t count = part[i]->shape->dimensions[along];
		value[i] = draft_part(d, y, side == 0 ? draft_rank(y) - 1 : dims.n_batch, first, count);
		value[i] = draft_reshape(d, value[i], s->dimensions, (uint32_t)s->n_dimensions);
		first += count;
	}
}

/* ---- convolutions ---- */

static uint64_t convolutions_alike(const struct graph *g, uint32_t v, uint32_t side)
{
	Hlo__HloInstructionProto only;
	struct buf bytes = {0};
	struct conv c;
	uint64_t h;

	if (!conv_read(g, v, &c) || c.batch_groups != 1 || (side == 0 && c.feature_groups != 1))
		return 0;
	hlo__hlo_instruction_proto__init(&only);
	only.convolution_dimension_numbers = g->node[v].proto->convolution_dimension_numbers;
	only.window = g->node[v].proto->window;
	only.precision_config = g->node[v].proto->precision_config;
	only.feature_group_count = g->node[v].proto->feature_group_count;
	pack_message(&only.base, &bytes);
	h = hash64(bytes.data, bytes.len, g->node[v].dtype);
	buf_release(&bytes);
	for (uint32_t i = 0; i < c.n; i++) /* inputs that are put together have one size; one input has */
		h = hash_mix(h, (uint64_t)rule_dim(g, node_operands(g, v)[0], c.in.spatial[i]));
	return hash_mix(h, (uint64_t)c.features) | 1;
}

static bool match_convolutions(const struct graph *g, uint32_t v, struct found *f)
{
	struct conv c, leader;

	if (!conv_read(g, v, &c) || !conv_read(g, f->leader, &leader))
		return false;
	f->measure[0] = (double)(f->side == 0 ? c.batch * c.positions : c.outputs);
	f->measure[1] = (double)(f->side == 0 ? c.outputs : c.batch * c.positions);
	f->measure[2] = (double)(f->side == 0 ? leader.outputs : leader.batch * leader.positions);
	f->measure[3] = (double)(c.taps * c.inner);
	return true;
}

static void join_convolutions(struct draft *d, const uint32_t *node, uint32_t n, uint32_t side,
	Hlo__HloInstructionProto **value)
{
	Hlo__HloInstructionProto **part = ARENA_NEW(d->mem, n, Hlo__HloInstructionProto *), *x[2], *y;
	int64_t dims[DRAFT_RANK], first = 0;
	uint32_t along;
	struct conv c;

	BUG_ON(!conv_read(d->g, node[0], &c));
	for (uint32_t i = 0; i < n; i++) {
		part[i] = draft_operand(d, node[i], !side);
		BUG_ON(draft_operand(d, node[i], side) != draft_operand(d, node[0], side));
	}
	x[side] = draft_operand(d, node[0], side);
	x[!side] = draft_concat(d, part, n, (uint32_t)(side == 0 ? c.kernel.batch : c.in.batch));
	along = (uint32_t)(side == 0 ? c.out.feature : c.out.batch);
	memcpy(dims, d->like->shape->dimensions, c.rank * sizeof *dims);
	dims[along] = 0;
	for (uint32_t i = 0; i < n; i++)
		dims[along] += d->g->node[node[i]].proto->shape->dimensions[along];
	y = draft_copy(d, d->like, dims, c.rank, x, 2);
	for (uint32_t i = 0; i < n; i++) {
		int64_t count = d->g->node[node[i]].proto->shape->dimensions[along];
		value[i] = draft_part(d, y, along, first, count);
		first += count;
	}
}

/* ---- a product in parts ---- */

static uint64_t parts_alike(const struct graph *g, uint32_t v, uint32_t side)
{
	const struct node *n = &g->node[v];
	struct dot_dims d;

	if (side != 0 || n->opcode != OP_SLICE || n->n_operands != 1 || !n->elements)
		return 0;
	return rule_plain(g, v) && rule_fits(g, v) && rule_dot(g, node_operands(g, v)[0], &d);
}

static bool match_parts(const struct graph *g, uint32_t v, struct found *f)
{
	uint32_t y = node_operands(g, v)[0];
	struct dot_dims d;

	if (!parts_alike(g, v, 0) || !rule_dot(g, y, &d))
		return false;
	f->inside[f->n_inside++] = y;
	f->measure[0] = size_of_rest(g, y, 0, &d) * rule_size_of(g, node_operands(g, y)[0], d.batch[0], d.n_batch);
	f->measure[1] = (double)g->node[v].elements / f->measure[0];
	f->measure[2] = (double)g->node[f->leader].elements / f->measure[0];
	f->measure[3] = rule_size_of(g, node_operands(g, y)[0], d.sum[0], d.n_sum);
	return true;
}

/* Returns the part of an operand that a slice of product y needs. In y, the operand's own dimensions begin at `at`. */
static Hlo__HloInstructionProto *part_of(struct draft *d, uint32_t y, uint32_t side, const struct dot_dims *dims,
	uint32_t at, const Hlo__HloInstructionProto *slice)
{
	Hlo__HloInstructionProto *x = draft_operand(d, y, side);
	int64_t first[DRAFT_RANK] = {0}, count[DRAFT_RANK], step[DRAFT_RANK], rest[DRAFT_RANK];
	uint32_t n = dot_rest(dims, (int)side, draft_rank(x), rest);

	for (uint32_t i = 0; i < draft_rank(x); i++) {
		count[i] = x->shape->dimensions[i];
		step[i] = 1;
	}
	for (uint32_t k = 0; k < dims->n_batch + n; k++) {
		uint32_t from = k < dims->n_batch ? k : at + k - dims->n_batch;
		int64_t to = k < dims->n_batch ? dims->batch[side][k] : rest[k - dims->n_batch];
		first[to] = slice->slice_dimensions[from]->start;
		count[to] = slice->shape->dimensions[from];
		step[to] = slice->slice_dimensions[from]->stride > 0 ? slice->slice_dimensions[from]->stride : 1;
	}
	return draft_slice(d, x, first, count, step);
}

static void write_parts(struct draft *d, const uint32_t *node, uint32_t n, uint32_t side,
	Hlo__HloInstructionProto **value)
{
	uint32_t y = node_operands(d->g, node[0])[side], kept;
	struct dot_dims dims;
	int64_t rest[DRAFT_RANK];

	BUG_ON(!rule_dot(d->g, y, &dims));
	kept = dot_rest(&dims, 0, d->g->node[node_operands(d->g, y)[0]].rank, rest);
	for (uint32_t i = 0; i < n; i++) {
		const Hlo__HloInstructionProto *slice = d->g->node[node[i]].proto;
		Hlo__HloInstructionProto *a = part_of(d, y, 0, &dims, dims.n_batch, slice);
		Hlo__HloInstructionProto *b = part_of(d, y, 1, &dims, dims.n_batch + kept, slice);
		value[i] = draft_dot(d, a, b, &dims, d->g->node[y].proto);
	}
}

const struct rule_code product_parted_code = {.name = "product_parted", .measures = measures, .match = match_parts,
	.alike = parts_alike, .join = write_parts};
const struct rule_code dots_joined_code = {.name = "dots_joined", .measures = measures, .match = match_dots,
	.alike = dots_alike, .join = join_dots};
const struct rule_code convolutions_joined_code = {.name = "convolutions_joined", .measures = measures,
	.match = match_convolutions, .alike = convolutions_alike, .join = join_convolutions};
