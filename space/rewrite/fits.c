/*
 * fits.c - checks whether an instruction has the shape that its operands give it.
 *
 * A file may claim anything: a sum of rows of different lengths, a convolution whose window is not its kernel. What
 * graph_valid promises (graph/valid.h) leaves that open, because most readers only count bytes; the compiler refuses
 * such a program. A rule takes sizes from one place and writes them in another, so it needs them to agree. rule_plain
 * asks here, before any rule looks at an instruction's dimensions. An operation that no rule looks through always fits.
 */
#include "space/rewrite/rule.h"

#define LARGEST (INT64_C(1) << 30) /* what products of two are taken of */

static const struct node *operand(const struct graph *g, uint32_t v, uint32_t k)
{
	return &g->node[node_operands(g, v)[k]];
}

static int64_t dim(const struct node *n, int64_t i)
{
	return n->proto->shape->dimensions[i];
}

static bool lists(const int64_t *list, size_t n, int64_t what)
{
	for (size_t i = 0; i < n; i++)
		if (list[i] == what)
			return true;
	return false;
}

static bool ascend(const int64_t *list, size_t n, int64_t below)
{
	for (size_t i = 0; i < n; i++)
		if (list[i] < 0 || list[i] >= below || (i && list[i] <= list[i - 1]))
			return false;
	return true;
}

static bool same_shape(const struct node *a, const struct node *b)
{
	if (a->rank != b->rank)
		return false;
	for (uint32_t i = 0; i < a->rank; i++)
		if (dim(a, i) != dim(b, i))
			return false;
	return true;
}

static bool alike(const struct node *a, const struct node *b)
{
	return a->dtype == b->dtype && same_shape(a, b);
}

static bool elementwise_fits(const struct graph *g, uint32_t v)
{
	for (uint32_t k = 0; k < g->node[v].n_operands; k++)
		if (!alike(operand(g, v, k), &g->node[v]))
			return false;
	return true;
}

/* Elementwise, of operands of several types. */
static bool choice_fits(const struct graph *g, uint32_t v)
{
	for (uint32_t k = 0; k < g->node[v].n_operands; k++)
		if (!same_shape(operand(g, v, k), &g->node[v]))
			return false;
	return true;
}

/* The bounds may be single numbers. */
static bool clamp_fits(const struct graph *g, uint32_t v)
{
	for (uint32_t k = 0; k < g->node[v].n_operands; k++)
		if (operand(g, v, k)->dtype != g->node[v].dtype || ((k == 1 || operand(g, v, k)->rank) &&
			!same_shape(operand(g, v, k), &g->node[v])))
			return false;
	return true;
}

static bool broadcast_fits(const struct graph *g, uint32_t v)
{
	const struct node *x = operand(g, v, 0), *y = &g->node[v];

	for (uint32_t i = 0; i < x->rank; i++)
		if (dim(x, i) != dim(y, y->proto->dimensions[i]))
			return false;
	return x->dtype == y->dtype;
}

static bool transpose_fits(const struct graph *g, uint32_t v)
{
	const struct node *x = operand(g, v, 0), *y = &g->node[v];

	for (uint32_t i = 0; i < x->rank && x->rank == y->rank; i++)
		if (dim(y, i) != dim(x, y->proto->dimensions[i]))
			return false;
	return x->rank == y->rank && x->dtype == y->dtype;
}

static bool slice_fits(const struct graph *g, uint32_t v)
{
	const struct node *x = operand(g, v, 0), *y = &g->node[v];

	if (x->rank != y->rank || x->dtype != y->dtype || y->proto->n_slice_dimensions != y->rank)
		return false;
	for (uint32_t i = 0; i < y->rank; i++) {
		const Hlo__SliceDimensions *s = y->proto->slice_dimensions[i];
		int64_t by = rule_factor(s->stride), steps = (s->limit - s->start + by - 1) / by;
		if (s->start < 0 || s->limit > dim(x, i) || s->limit < s->start || dim(y, i) != steps)
			return false;
	}
	return true;
}

/* Of one array; no rule looks at a reduction of several. */
static bool reduce_fits(const struct graph *g, uint32_t v)
{
	const struct node *x = operand(g, v, 0), *y = &g->node[v];
	uint32_t at = 0;

	if (y->n_operands != 2)
		return true;
	for (uint32_t i = 0; i < x->rank; i++) {
		if (lists(y->proto->dimensions, y->proto->n_dimensions, i))
			continue;
		if (at == y->rank || dim(x, i) != dim(y, at++))
			return false;
	}
	return at == y->rank && x->dtype == y->dtype;
}

static bool concatenate_fits(const struct graph *g, uint32_t v)
{
	const struct node *y = &g->node[v];
	int64_t along = y->proto->dimensions[0], sum = 0;

	for (uint32_t k = 0; k < y->n_operands; k++) {
		const struct node *x = operand(g, v, k);
		if (x->rank != y->rank || x->dtype != y->dtype)
			return false;
		for (int64_t i = 0; i < x->rank; i++)
			if (i != along && dim(x, i) != dim(y, i))
				return false;
		sum += dim(x, along);
	}
	return sum == dim(y, along);
}

static bool dot_fits(const struct graph *g, uint32_t v)
{
	const Hlo__DotDimensionNumbers *d = g->node[v].proto->dot_dimension_numbers;
	const struct node *x[2] = {operand(g, v, 0), operand(g, v, 1)}, *y = &g->node[v];
	const int64_t *batch[2], *sum[2];
	size_t n_batch, n_sum, at;

	if (!d) /* left out: no rule takes that for a product */
		return false;
	n_batch = at = d->n_lhs_batch_dimensions;
	n_sum = d->n_lhs_contracting_dimensions;
	batch[0] = d->lhs_batch_dimensions;
	batch[1] = d->rhs_batch_dimensions;
	sum[0] = d->lhs_contracting_dimensions;
	sum[1] = d->rhs_contracting_dimensions;
	if (d->n_rhs_batch_dimensions != n_batch || d->n_rhs_contracting_dimensions != n_sum || n_batch > y->rank)
		return false;
	for (size_t i = 0; i < n_batch; i++)
		if (dim(x[0], batch[0][i]) != dim(y, (int64_t)i) || dim(x[1], batch[1][i]) != dim(y, (int64_t)i) ||
			lists(sum[0], n_sum, batch[0][i]) || lists(sum[1], n_sum, batch[1][i]))
			return false;
	for (size_t i = 0; i < n_sum; i++)
		if (dim(x[0], sum[0][i]) != dim(x[1], sum[1][i]))
			return false;
	for (int side = 0; side < 2; side++)
		for (int64_t i = 0; i < x[side]->rank; i++) {
			if (lists(batch[side], n_batch, i) || lists(sum[side], n_sum, i))
				continue;
			if (at == y->rank || dim(x[side], i) != dim(y, (int64_t)at++))
				return false;
		}
	return at == y->rank;
}

/* Positions of a window along a dimension of so many elements; -1: numbers that no program needs. */
static int64_t positions(int64_t size, const Hlo__WindowDimension *w)
{
	int64_t base = rule_factor(w->base_dilation), step = rule_factor(w->window_dilation);
	int64_t spread, covered;

	if (size > LARGEST || base > LARGEST || step > LARGEST || w->size < 1 || w->size > LARGEST)
		return -1;
	spread = (size ? (size - 1) * base + 1 : 0) + w->padding_low + w->padding_high;
	covered = (w->size - 1) * step + 1;
	return spread < covered ? 0 : (spread - covered) / rule_factor(w->stride) + 1;
}

static bool window_fits(const struct graph *g, uint32_t v)
{
	const struct node *x = operand(g, v, 0), *y = &g->node[v];
	const Hlo__Window *w = y->proto->window;

	if (y->n_operands != 2)
		return true;
	if (x->rank != y->rank || x->dtype != y->dtype || !w || w->n_dimensions != y->rank)
		return false;
	for (uint32_t i = 0; i < y->rank; i++)
		if (dim(y, i) != positions(dim(x, i), w->dimensions[i]))
			return false;
	return true;
}

static bool scatter_fits(const struct graph *g, uint32_t v)
{
	const struct node *x = operand(g, v, 0), *s = operand(g, v, 1), *first = operand(g, v, 2), *y = &g->node[v];
	const Hlo__Window *w = y->proto->window;

	if (!alike(x, y) || s->rank != y->rank || s->dtype != y->dtype || first->dtype != y->dtype ||
		first->elements != 1 || !w || w->n_dimensions != y->rank)
		return false;
	for (uint32_t i = 0; i < y->rank; i++)
		if (dim(s, i) != positions(dim(x, i), w->dimensions[i]))
			return false;
	return true;
}

static bool convolution_fits(const struct graph *g, uint32_t v)
{
	const struct node *x = operand(g, v, 0), *k = operand(g, v, 1), *y = &g->node[v];
	const Hlo__ConvolutionDimensionNumbers *d = y->proto->convolution_dimension_numbers;
	const Hlo__Window *w = y->proto->window;
	int64_t groups = rule_factor(y->proto->feature_group_count);
	int64_t batches = rule_factor(y->proto->batch_group_count);
	int64_t outputs, features;
	size_t n;

	if (!d)
		return false;
	outputs = dim(k, d->kernel_output_feature_dimension);
	features = dim(x, d->input_feature_dimension);
	n = d->n_input_spatial_dimensions;
	if (x->rank != n + 2 || k->rank != n + 2 || y->rank != n + 2 || (w ? w->n_dimensions : 0) != n ||
		d->n_kernel_spatial_dimensions != n || d->n_output_spatial_dimensions != n)
		return false;
	if (features % groups || features / groups != dim(k, d->kernel_input_feature_dimension) || outputs % groups ||
		outputs % batches || outputs != dim(y, d->output_feature_dimension) ||
		dim(x, d->input_batch_dimension) % batches ||
		dim(x, d->input_batch_dimension) / batches != dim(y, d->output_batch_dimension))
		return false;
	for (size_t i = 0; i < n; i++)
		if (dim(k, d->kernel_spatial_dimensions[i]) != w->dimensions[i]->size ||
			dim(y, d->output_spatial_dimensions[i]) !=
				positions(dim(x, d->input_spatial_dimensions[i]), w->dimensions[i]))
			return false;
	return true;
}

/* Sizes of the rows, and of the array of indices, as the result has them. */
static bool gathered_fits(const struct graph *g, uint32_t v)
{
	const struct node *index = operand(g, v, 1), *y = &g->node[v];
	const Hlo__GatherDimensionNumbers *d = y->proto->gather_dimension_numbers;
	const int64_t *size = y->proto->gather_slice_sizes;
	uint32_t row = 0, rank = operand(g, v, 0)->rank, at = 0;

	for (uint32_t i = 0; i < y->rank; i++) {
		if (lists(d->offset_dims, d->n_offset_dims, i)) {
			while (row < rank && lists(d->collapsed_slice_dims, d->n_collapsed_slice_dims, row))
				row++;
			if (row == rank || dim(y, i) != size[row++])
				return false;
			continue;
		}
		at += at == d->index_vector_dim;
		if (at >= index->rank || dim(y, i) != dim(index, at++))
			return false;
	}
	at += at == d->index_vector_dim;
	return at >= index->rank;
}

static bool gather_fits(const struct graph *g, uint32_t v)
{
	const struct node *x = operand(g, v, 0), *index = operand(g, v, 1), *y = &g->node[v];
	const Hlo__GatherDimensionNumbers *d = y->proto->gather_dimension_numbers;
	int64_t parts;

	if (!d || d->n_operand_batching_dims || d->n_start_indices_batching_dims) /* no rule looks at these */
		return true;
	if (x->dtype != y->dtype || y->proto->n_gather_slice_sizes != x->rank || d->index_vector_dim < 0 ||
		d->index_vector_dim > index->rank || d->n_offset_dims + d->n_collapsed_slice_dims != x->rank ||
		!ascend(d->offset_dims, d->n_offset_dims, y->rank) ||
		!ascend(d->collapsed_slice_dims, d->n_collapsed_slice_dims, x->rank))
		return false;
	parts = d->index_vector_dim < index->rank ? dim(index, d->index_vector_dim) : 1;
	if ((size_t)parts != d->n_start_index_map)
		return false;
	for (size_t i = 0; i < d->n_start_index_map; i++)
		if (d->start_index_map[i] < 0 || d->start_index_map[i] >= x->rank ||
			lists(d->start_index_map, i, d->start_index_map[i]))
			return false;
	for (uint32_t i = 0; i < x->rank; i++) {
		bool collapsed = lists(d->collapsed_slice_dims, d->n_collapsed_slice_dims, i);
		int64_t size = y->proto->gather_slice_sizes[i];
		if (size < 0 || size > dim(x, i) || (collapsed && size > 1))
			return false;
	}
	return gathered_fits(g, v);
}

bool rule_fits(const struct graph *g, uint32_t v)
{
	switch (g->node[v].opcode) {
	case OP_ABS:
	case OP_ADD:
	case OP_ATAN2:
	case OP_CBRT:
	case OP_COSINE:
	case OP_DIVIDE:
	case OP_ERF:
	case OP_EXPONENTIAL:
	case OP_EXPONENTIAL_MINUS_ONE:
	case OP_LOG:
	case OP_LOG_PLUS_ONE:
	case OP_LOGISTIC:
	case OP_MAXIMUM:
	case OP_MINIMUM:
	case OP_MULTIPLY:
	case OP_NEGATE:
	case OP_POWER:
	case OP_REMAINDER:
	case OP_REVERSE:
	case OP_RSQRT:
	case OP_SIGN:
	case OP_SINE:
	case OP_SQRT:
	case OP_SUBTRACT:
	case OP_TAN:
	case OP_TANH:
		return elementwise_fits(g, v);
	case OP_COMPARE:
	case OP_CONVERT:
	case OP_SELECT:
		return choice_fits(g, v);
	case OP_CLAMP:
		return clamp_fits(g, v);
	case OP_BROADCAST:
		return broadcast_fits(g, v);
	case OP_SLICE:
		return slice_fits(g, v);
	case OP_TRANSPOSE:
		return transpose_fits(g, v);
	case OP_REDUCE:
		return reduce_fits(g, v);
	case OP_CONCATENATE:
		return concatenate_fits(g, v);
	case OP_DOT:
		return dot_fits(g, v);
	case OP_REDUCE_WINDOW:
		return window_fits(g, v);
	case OP_SELECT_AND_SCATTER:
		return scatter_fits(g, v);
	case OP_CONVOLUTION:
		return convolution_fits(g, v);
	case OP_GATHER:
		return gather_fits(g, v);
	default:
		return true;
	}
}
