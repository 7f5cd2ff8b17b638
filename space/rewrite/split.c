/*
 * split.c - rewrites a product whose operand is put together from parts as products of the parts.
 *
 *	dot(concatenate(x, y, ..), w)  =  dot(x, w[first rows]) + dot(y, w[next rows]) + ..      where the parts are
 *	summed over,
 *				       =  concatenate(dot(x, w), dot(y, w), ..)			 where they are kept
 *
 * It also moves the product before an operation that makes its operand larger; the product is then smaller:
 *
 *	dot(broadcast(x), w)	       =  broadcast(dot(x, w)), rows of w that meet copies of one number summed first
 *	dot(gather(table, rows), w)    =  gather(dot(table, w), rows)
 *
 * Graph networks have many of both. The input of an edge is its own features, those gathered from its two ends, and
 * those of the whole graph, which are the same for every edge.
 */
#include <string.h>
#include "hlo/places.h"
#include "space/rewrite/codes.h"

#define PARTS 16

static const char *const measures[] = {"parts", "rows", "columns", "depth", "sunk", "saved", NULL};

enum sinks { SINKS_NOT, SINKS_BROADCAST, SINKS_GATHER };

static bool sinks_broadcast(const struct graph *g, uint32_t u, int side, const struct dot_dims *dims)
{
	const Hlo__HloInstructionProto *in = g->node[u].proto;

	for (size_t i = 1; i < in->n_dimensions; i++)
		if (in->dimensions[i] <= in->dimensions[i - 1])
			return false;
	for (uint32_t k = 0; k < dims->n_batch; k++)
		if (place_of(in->dimensions, in->n_dimensions, dims->batch[side][k]) < 0)
			return false;
	return in->n_dimensions < g->node[u].rank;
}

/*
 * Does u gather whole rows of a table, whose columns the product sums over, by indices alone? The product of the table
 * with the other operand, which has `other` dimensions, must not have more than a draft can hold.
 */
static bool sinks_gather(const struct graph *g, uint32_t u, int side, const struct dot_dims *dims, uint32_t other)
{
	const Hlo__HloInstructionProto *in = g->node[u].proto;
	const Hlo__GatherDimensionNumbers *n = in->gather_dimension_numbers;
	uint32_t table = node_operands(g, u)[0];

	if (!n || n->n_operand_batching_dims || dims->n_batch || n->n_offset_dims != dims->n_sum ||
		!rule_plain(g, table) || in->n_gather_slice_sizes != g->node[table].rank ||
		n->n_collapsed_slice_dims == 0 || g->node[table].rank + other > DRAFT_RANK + 2 * dims->n_sum)
		return false;
	for (uint32_t k = 0; k < dims->n_sum; k++)
		if (place_of(n->offset_dims, n->n_offset_dims, dims->sum[side][k]) < 0)
			return false;
	for (uint32_t i = 0; i < g->node[table].rank; i++) {
		bool row = place_of(n->collapsed_slice_dims, n->n_collapsed_slice_dims, i) >= 0;
		if (!row && (in->gather_slice_sizes[i] != rule_dim(g, table, i) ||
			place_of(n->start_index_map, n->n_start_index_map, i) >= 0))
			return false;
	}
	return true;
}

static enum sinks sinks(const struct graph *g, uint32_t u, int side, const struct dot_dims *dims, uint32_t other)
{
	if (!rule_plain(g, u))
		return SINKS_NOT;
	if (g->node[u].opcode == OP_BROADCAST && sinks_broadcast(g, u, side, dims))
		return SINKS_BROADCAST;
	return g->node[u].opcode == OP_GATHER && sinks_gather(g, u, side, dims, other) ? SINKS_GATHER : SINKS_NOT;
}

/* A dot of x with w; `side` says which of them is the left operand. */
static Hlo__HloInstructionProto *product(struct draft *d, Hlo__HloInstructionProto *x, Hlo__HloInstructionProto *w,
	int side, const struct dot_dims *dims)
{
	return side == 0 ? draft_dot(d, x, w, dims, d->like) : draft_dot(d, w, x, dims, d->like);
}

/* The result of the product: its sizes and, for each dimension, the operand and the dimension that it comes from. */
struct result {
	int64_t dims[2 * DRAFT_RANK], from[2 * DRAFT_RANK];
	int side[2 * DRAFT_RANK];
	uint32_t rank;
};

static void result_of(const Hlo__ShapeProto *x, const Hlo__ShapeProto *w, int side, const struct dot_dims *dims,
	struct result *r)
{
	const Hlo__ShapeProto *s[2] = {side == 0 ? x : w, side == 0 ? w : x};
	int64_t rest[DRAFT_RANK];

	r->rank = 0;
	for (uint32_t k = 0; k < dims->n_batch; k++) {
		r->side[r->rank] = side;
		r->from[r->rank] = dims->batch[side][k];
		r->dims[r->rank++] = x->dimensions[dims->batch[side][k]];
	}
	for (int i = 0; i < 2; i++) {
		uint32_t n = dot_rest(dims, i, (uint32_t)s[i]->n_dimensions, rest);
		for (uint32_t k = 0; k < n; k++) {
			r->side[r->rank] = i;
			r->from[r->rank] = rest[k];
			r->dims[r->rank++] = s[i]->dimensions[rest[k]];
		}
	}
}

/*
 * Broadcasts a value to the result. The value's dimensions are those of operand `side` that `has` lists, in
 * order.
 */
static Hlo__HloInstructionProto *spread(struct draft *d, Hlo__HloInstructionProto *x, const struct result *r, int side,
	const int64_t *has, uint32_t n)
{
	int64_t map[DRAFT_RANK];

	for (uint32_t i = 0; i < n; i++)
		for (uint32_t k = 0; k < r->rank; k++)
			if (r->side[k] == side && r->from[k] == has[i])
				map[i] = k;
	return draft_broadcast(d, x, r->dims, r->rank, map);
}

static Hlo__HloInstructionProto *sink_broadcast(struct draft *d, uint32_t u, Hlo__HloInstructionProto *w, int side,
	const struct dot_dims *dims)
{
	const Hlo__HloInstructionProto *b = d->g->node[u].proto;
	Hlo__HloInstructionProto *v = draft_operand(d, u, 0), *x;
	struct dot_dims left = {.n_batch = dims->n_batch};
	int64_t gone[DRAFT_RANK], rest[DRAFT_RANK], map[2 * DRAFT_RANK];
	struct result r;
	uint32_t n_gone = 0, n = 0;

	result_of(b->shape, w->shape, side, dims, &r);
	for (uint32_t k = 0; k < dims->n_sum; k++) {
		int64_t at = place_of(b->dimensions, b->n_dimensions, dims->sum[side][k]);
		if (at < 0) {
			gone[n_gone++] = dims->sum[!side][k];
			continue;
		}
		left.sum[side][left.n_sum] = at;
		left.sum[!side][left.n_sum++] = dims->sum[!side][k];
	}
	for (uint32_t k = 0; k < dims->n_batch; k++) {
		left.batch[side][k] = place_of(b->dimensions, b->n_dimensions, dims->batch[side][k]);
		left.batch[!side][k] = dims->batch[!side][k];
	}
	if (left.n_sum == 0 && left.n_batch == 0) { /* nothing is left to sum, so it is a multiplication */
		n = dot_rest(dims, !side, draft_rank(w), rest);
		x = spread(d, v, &r, side, b->dimensions, (uint32_t)b->n_dimensions);
		return draft_binary(d, "multiply", x, spread(d, draft_sum(d, w, gone, n_gone), &r, !side, rest, n));
	}
	for (int what = 0; what < 2; what++) /* dimensions that w has lost move the others down */
		for (uint32_t k = 0; k < (what ? left.n_batch : left.n_sum); k++) {
			int64_t *at = what ? &left.batch[!side][k] : &left.sum[!side][k], was = *at;
			for (uint32_t i = 0; i < n_gone; i++)
				*at -= gone[i] < was;
		}
	x = product(d, v, draft_sum(d, w, gone, n_gone), side, &left);
	for (uint32_t k = 0; k < r.rank; k++)
		if (k < dims->n_batch || r.side[k] != side || place_of(b->dimensions, b->n_dimensions, r.from[k]) >= 0)
			map[n++] = k;
	return draft_broadcast(d, x, r.dims, r.rank, map);
}

static Hlo__HloInstructionProto *sink_gather(struct draft *d, uint32_t u, Hlo__HloInstructionProto *w, int side,
	const struct dot_dims *dims)
{
	const Hlo__HloInstructionProto *in = d->g->node[u].proto;
	const Hlo__GatherDimensionNumbers *was = in->gather_dimension_numbers;
	Hlo__HloInstructionProto *table = draft_operand(d, u, 0), *x, *gather;
	Hlo__GatherDimensionNumbers *is = arena_dup(d->mem, was, sizeof *is);
	struct dot_dims below = {.n_sum = dims->n_sum};
	int64_t whole[DRAFT_RANK], rest[DRAFT_RANK];
	uint32_t n_whole = 0, rows = 0, n;
	struct result r;

	for (uint32_t i = 0; i < draft_rank(table); i++)
		if (place_of(was->collapsed_slice_dims, was->n_collapsed_slice_dims, i) < 0)
			whole[n_whole++] = i;
	for (uint32_t k = 0; k < dims->n_sum; k++) {
		below.sum[side][k] = whole[place_of(was->offset_dims, was->n_offset_dims, dims->sum[side][k])];
		below.sum[!side][k] = dims->sum[!side][k];
	}
	x = product(d, table, w, side, &below);
	rows = draft_rank(table) - n_whole;
	n = draft_rank(x) - rows;
	dot_rest(&below, side, draft_rank(table), rest);
	result_of(in->shape, w->shape, side, dims, &r);
	is->collapsed_slice_dims = arena_alloc(d->mem, rows * sizeof(int64_t));
	is->start_index_map = arena_alloc(d->mem, was->n_start_index_map * sizeof(int64_t));
	is->offset_dims = arena_alloc(d->mem, n * sizeof(int64_t));
	is->n_offset_dims = n;
	for (uint32_t i = 0; i < rows; i++)
		is->collapsed_slice_dims[i] = side == 0 ? i : n + i;
	for (size_t i = 0; i < was->n_start_index_map; i++)
		is->start_index_map[i] = place_of(rest, rows, was->start_index_map[i]) + (side == 0 ? 0 : n);
	for (uint32_t i = 0; i < n; i++)
		is->offset_dims[i] = side == 0 ? r.rank - n + i : i;
	gather = draft_copy(d, in, r.dims, r.rank, (Hlo__HloInstructionProto *[]){x, draft_operand(d, u, 1)}, 2);
	gather->gather_dimension_numbers = is;
	gather->n_gather_slice_sizes = draft_rank(x);
	gather->gather_slice_sizes = arena_alloc(d->mem, draft_rank(x) * sizeof(int64_t));
	for (uint32_t i = 0; i < draft_rank(x); i++)
		gather->gather_slice_sizes[i] = place_of(is->collapsed_slice_dims, rows, i) >= 0 ? 1
			: x->shape->dimensions[i];
	return gather;
}

static Hlo__HloInstructionProto *sunk(struct draft *d, uint32_t u, Hlo__HloInstructionProto *w, int side,
	const struct dot_dims *dims, bool sink)
{
	switch (sink ? sinks(d->g, u, side, dims, draft_rank(w)) : SINKS_NOT) {
	case SINKS_BROADCAST:
		return sink_broadcast(d, u, w, side, dims);
	case SINKS_GATHER:
		return sink_gather(d, u, w, side, dims);
	case SINKS_NOT:
		break;
	}
	return product(d, draft_value(d, u), w, side, dims);
}

/* Finds the operand that is put together, and along which dimension; -1 if there is none. */
static int find_parts(const struct graph *g, uint32_t v, const struct dot_dims *dims, int64_t *dim, int64_t *pair)
{
	for (int side = 0; side < 2; side++) {
		uint32_t u = node_operands(g, v)[side];
		if (g->node[u].opcode != OP_CONCATENATE || !rule_plain(g, u) || g->node[u].n_operands < 2 ||
			g->node[u].n_operands > PARTS)
			continue;
		*dim = g->node[u].proto->dimensions[0];
		*pair = place_of(dims->sum[side], dims->n_sum, *dim);
		if (place_of(dims->batch[side], dims->n_batch, *dim) >= 0)
			continue;
		for (uint32_t i = 0; i < g->node[u].n_operands; i++)
			if (!g->node[node_operands(g, u)[i]].elements)
				return -1;
		return side;
	}
	return -1;
}

static double size_of(const struct graph *g, uint32_t u, const int64_t *dims, uint32_t n)
{
	double size = 1;

	for (uint32_t i = 0; i < n; i++)
		size *= (double)rule_dim(g, u, dims[i]);
	return size;
}

static void measure(const struct graph *g, uint32_t v, int side, const struct dot_dims *dims, struct found *f)
{
	int64_t rest[DRAFT_RANK];

	for (int i = 0; i < 2; i++) {
		uint32_t u = node_operands(g, v)[i], n = dot_rest(dims, i, g->node[u].rank, rest);
		f->measure[i == side ? 1 : 2] = size_of(g, u, rest, n) * size_of(g, u, dims->batch[i], i == side
			? dims->n_batch : 0);
	}
	f->measure[3] = size_of(g, node_operands(g, v)[0], dims->sum[0], dims->n_sum);
}

static uint32_t other_rank(const struct graph *g, uint32_t v, int side)
{
	return g->node[node_operands(g, v)[!side]].rank;
}

/* Counts a part before which the product can be moved, and the elements that this saves. */
static void note_sunk(const struct graph *g, uint32_t u, int side, const struct dot_dims *dims, struct found *f)
{
	if (sinks(g, u, side, dims, other_rank(g, f->anchor, side)) == SINKS_NOT)
		return;
	f->measure[4]++;
	f->measure[5] += (double)g->node[u].elements - (double)g->node[node_operands(g, u)[0]].elements;
	if (f->n_inside < FOUND_INSIDE)
		f->inside[f->n_inside++] = u;
}

static bool match_split(const struct graph *g, uint32_t v, struct found *f)
{
	struct dot_dims dims;
	int64_t dim, pair;
	int side;
	uint32_t u;

	if (!rule_dot(g, v, &dims) || (side = find_parts(g, v, &dims, &dim, &pair)) < 0)
		return false;
	u = node_operands(g, v)[side];
	f->inside[f->n_inside++] = u;
	f->measure[0] = g->node[u].n_operands;
	measure(g, v, side, &dims, f);
	for (uint32_t i = 0; i < g->node[u].n_operands; i++)
		note_sunk(g, node_operands(g, u)[i], side, &dims, f);
	f->variants = f->measure[4] > 0 ? 2 : 1;
	return true;
}

static Hlo__HloInstructionProto *write_split(struct draft *d, const struct found *f, uint32_t variant)
{
	Hlo__HloInstructionProto *part[PARTS], *sum = NULL;
	const struct graph *g = d->g;
	struct dot_dims dims;
	struct result r;
	int64_t dim, pair, first = 0;
	uint32_t u, n;
	int side;

	BUG_ON(!rule_dot(g, f->anchor, &dims));
	side = find_parts(g, f->anchor, &dims, &dim, &pair);
	BUG_ON(side < 0);
	u = node_operands(g, f->anchor)[side];
	n = g->node[u].n_operands;
	for (uint32_t i = 0; i < n; i++) {
		uint32_t p = node_operands(g, u)[i];
		Hlo__HloInstructionProto *w = draft_operand(d, f->anchor, !side);
		if (pair >= 0)
			w = draft_part(d, w, (uint32_t)dims.sum[!side][pair], first, rule_dim(g, p, dim));
		first += rule_dim(g, p, dim);
		part[i] = sunk(d, p, w, side, &dims, variant == 2);
		sum = sum ? (pair >= 0 ? draft_binary(d, "add", sum, part[i]) : sum) : part[i];
	}
	if (pair >= 0)
		return sum;
	result_of(g->node[u].proto->shape, draft_operand(d, f->anchor, !side)->shape, side, &dims, &r);
	for (uint32_t k = 0; k < r.rank; k++)
		if (k >= dims.n_batch && r.side[k] == side && r.from[k] == dim)
			return draft_concat(d, part, n, k);
	BUG("the dimension of the parts is not in the product");
}

static int find_sunk(const struct graph *g, uint32_t v, const struct dot_dims *dims)
{
	for (int side = 0; side < 2; side++)
		if (sinks(g, node_operands(g, v)[side], side, dims, other_rank(g, v, side)) != SINKS_NOT)
			return side;
	return -1;
}

static bool match_sink(const struct graph *g, uint32_t v, struct found *f)
{
	struct dot_dims dims;
	int side;

	if (!rule_dot(g, v, &dims) || (side = find_sunk(g, v, &dims)) < 0)
		return false;
	f->measure[0] = 1;
	measure(g, v, side, &dims, f);
	note_sunk(g, node_operands(g, v)[side], side, &dims, f);
	return true;
}

static Hlo__HloInstructionProto *write_sink(struct draft *d, const struct found *f, uint32_t variant)
{
	struct dot_dims dims;
	int side;

	(void)variant;
	BUG_ON(!rule_dot(d->g, f->anchor, &dims));
	side = find_sunk(d->g, f->anchor, &dims);
	BUG_ON(side < 0);
	return sunk(d, node_operands(d->g, f->anchor)[side], draft_operand(d, f->anchor, !side), side, &dims, true);
}

const struct rule_code dot_split_code = {.name = "dot_split", .measures = measures, .match = match_split,
	.write = write_split};
const struct rule_code dot_sink_code = {.name = "dot_sink", .measures = measures, .match = match_sink,
	.write = write_sink};
