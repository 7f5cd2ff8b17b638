/*
 * ring_heavy.c - products, convolutions, windows, gathers and scatters by their definitions.
 */
#include "graph/ring.h"

#include <string.h>
#include "hlo/places.h"

/* The dimensions that are in neither list. */
static uint32_t rest(const struct tensor *x, const int64_t *a, size_t n_a, const int64_t *b, size_t n_b, int64_t *out)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < x->rank; i++)
		if (place_of(a, n_a, i) < 0 && place_of(b, n_b, i) < 0)
			out[n++] = i;
	return n;
}

int ring_dot(const struct ring_node *n)
{
	const Hlo__DotDimensionNumbers *d = n->in->dot_dimension_numbers;
	const struct tensor *a = n->x[0], *b = n->x[1];
	int64_t ra[RING_RANK], rb[RING_RANK], sum[RING_RANK], at[RING_RANK] = {0};
	size_t batch = d->n_lhs_batch_dimensions, sums = d->n_lhs_contracting_dimensions, k = 0;
	uint32_t na = rest(a, d->lhs_batch_dimensions, batch, d->lhs_contracting_dimensions, sums, ra);
	uint32_t nb = rest(b, d->rhs_batch_dimensions, batch, d->rhs_contracting_dimensions, sums, rb);

	for (size_t i = 0; i < sums; i++)
		sum[i] = a->dim[d->lhs_contracting_dimensions[i]];
	do {
		int64_t ia[RING_RANK], ib[RING_RANK], s[RING_RANK] = {0};
		for (size_t i = 0; i < batch; i++)
			ia[d->lhs_batch_dimensions[i]] = ib[d->rhs_batch_dimensions[i]] = at[i];
		for (uint32_t i = 0; i < na; i++)
			ia[ra[i]] = at[batch + i];
		for (uint32_t i = 0; i < nb; i++)
			ib[rb[i]] = at[batch + na + i];
		do {
			for (size_t i = 0; i < sums; i++)
				ia[d->lhs_contracting_dimensions[i]] = ib[d->rhs_contracting_dimensions[i]] = s[i];
			if (ring_place(a, ia) < 0 || ring_place(b, ib) < 0)
				return -1;
			n->out->v[k] = ring_add(n->ring, n->out->v[k],
				ring_multiply(n->ring, a->v[ring_place(a, ia)], b->v[ring_place(b, ib)]));
		} while (ring_step(sum, (uint32_t)sums, s));
		k++;
	} while (ring_step(n->out->dim, n->out->rank, at));
	return 0;
}

static int64_t at_least_one(int64_t v)
{
	return v > 0 ? v : 1;
}

bool ring_meets(const Hlo__WindowDimension *w, int64_t size, int64_t out, int64_t tap, int64_t *in)
{
	int64_t base = at_least_one(w->base_dilation);
	int64_t at = out * at_least_one(w->stride) + tap * at_least_one(w->window_dilation) - w->padding_low;

	*in = at / base;
	return at >= 0 && at % base == 0 && *in < size;
}

int ring_convolution(const struct ring_node *n)
{
	const Hlo__ConvolutionDimensionNumbers *d = n->in->convolution_dimension_numbers;
	const struct tensor *x = n->x[0], *k = n->x[1];
	int64_t groups = at_least_one(n->in->feature_group_count), batches = at_least_one(n->in->batch_group_count);
	int64_t inner = k->dim[d->kernel_input_feature_dimension], outputs = k->dim[d->kernel_output_feature_dimension];
	int64_t at[RING_RANK] = {0};
	uint32_t spatial = (uint32_t)d->n_input_spatial_dimensions;
	size_t place = 0;

	do {
		int64_t out = at[d->output_feature_dimension], tap[RING_RANK] = {0}, size[RING_RANK], ix[RING_RANK],
			ik[RING_RANK];
		for (uint32_t i = 0; i < spatial; i++)
			size[i] = k->dim[d->kernel_spatial_dimensions[i]];
		size[spatial] = inner;
		ik[d->kernel_output_feature_dimension] = out;
		ix[d->input_batch_dimension] = out / (outputs / batches) * (x->dim[d->input_batch_dimension] /
			batches) +
			at[d->output_batch_dimension];
		do {
			bool inside = true;
			for (uint32_t i = 0; i < spatial; i++) {
				const Hlo__WindowDimension *w = n->in->window->dimensions[i];
				ik[d->kernel_spatial_dimensions[i]] = w->window_reversal ? size[i] - 1 - tap[i]
					: tap[i];
				inside &= ring_meets(w, x->dim[d->input_spatial_dimensions[i]],
					at[d->output_spatial_dimensions[i]], tap[i],
					&ix[d->input_spatial_dimensions[i]]);
			}
			ik[d->kernel_input_feature_dimension] = tap[spatial];
			ix[d->input_feature_dimension] = out / (outputs / groups) * inner + tap[spatial];
			if (!inside)
				continue;
			if (ring_place(x, ix) < 0 || ring_place(k, ik) < 0)
				return -1;
			n->out->v[place] = ring_add(n->ring, n->out->v[place],
				ring_multiply(n->ring, x->v[ring_place(x, ix)], k->v[ring_place(k, ik)]));
		} while (ring_step(size, spatial + 1, tap));
		place++;
	} while (ring_step(n->out->dim, n->out->rank, at));
	return 0;
}

int ring_gather(const struct ring_node *n)
{
	const Hlo__GatherDimensionNumbers *d = n->in->gather_dimension_numbers;
	const struct tensor *x = n->x[0], *index = n->x[1];
	int64_t at[RING_RANK] = {0};
	size_t k = 0;

	if (d->n_operand_batching_dims)
		return -1;
	do {
		int64_t from[RING_RANK] = {0}, where[RING_RANK] = {0};
		uint32_t batch = 0, window = 0, plain = 0;
		for (uint32_t i = 0; i < n->out->rank; i++) {
			if (place_of(d->offset_dims, d->n_offset_dims, i) >= 0)
				continue;
			batch += batch == d->index_vector_dim;
			where[batch++] = at[i];
		}
		for (size_t i = 0; i < d->n_start_index_map; i++) {
			int64_t dim = d->start_index_map[i], last = x->dim[dim] - n->in->gather_slice_sizes[dim], start;
			if (d->index_vector_dim < index->rank)
				where[d->index_vector_dim] = (int64_t)i;
			if (ring_place(index, where) < 0)
				return -1;
			start = (int64_t)index->v[ring_place(index, where)];
			from[dim] = start < 0 ? 0 : start > last ? last : start;
		}
		for (uint32_t i = 0; i < x->rank; i++) {
			if (place_of(d->collapsed_slice_dims, d->n_collapsed_slice_dims, i) >= 0)
				continue;
			plain = (uint32_t)d->offset_dims[window++];
			from[i] += at[plain];
		}
		if (ring_place(x, from) < 0)
			return -1;
		n->out->v[k++] = x->v[ring_place(x, from)];
	} while (ring_step(n->out->dim, n->out->rank, at));
	return 0;
}

/* Each update is added where its index says; one that would not lie inside of the result is left out. */
int ring_scatter(const struct ring_node *n)
{
	const Hlo__ScatterDimensionNumbers *d = n->in->scatter_dimension_numbers;
	const struct comp *adds = &n->g->comp[node_calls(n->g, n->v)[0]];
	const struct tensor *index = n->x[1], *update = n->x[2];
	int64_t at[RING_RANK] = {0};
	size_t k = 0;

	if (d->n_input_batching_dims || adds->n_nodes != 3 || n->g->node[adds->root].opcode != OP_ADD)
		return -1;
	memcpy(n->out->v, n->x[0]->v, n->out->n * sizeof *n->out->v);
	do {
		int64_t to[RING_RANK] = {0}, where[RING_RANK] = {0};
		uint32_t batch = 0, window = 0;
		bool inside = true;
		for (uint32_t i = 0; i < update->rank; i++) {
			if (place_of(d->update_window_dims, d->n_update_window_dims, i) >= 0)
				continue;
			batch += batch == d->index_vector_dim;
			where[batch++] = at[i];
		}
		for (size_t i = 0; i < d->n_scatter_dims_to_operand_dims; i++) {
			if (d->index_vector_dim < index->rank)
				where[d->index_vector_dim] = (int64_t)i;
			if (ring_place(index, where) < 0)
				return -1;
			to[d->scatter_dims_to_operand_dims[i]] = (int64_t)index->v[ring_place(index, where)];
		}
		for (uint32_t i = 0; i < n->out->rank; i++) {
			if (place_of(d->inserted_window_dims, d->n_inserted_window_dims, i) < 0)
				to[i] += at[d->update_window_dims[window++]];
			inside &= to[i] < n->out->dim[i];
		}
		if (inside)
			n->out->v[ring_place(n->out, to)] =
				ring_add(n->ring, n->out->v[ring_place(n->out, to)], update->v[k]);
		k++;
	} while (ring_step(update->dim, update->rank, at));
	return 0;
}

int ring_window(const struct ring_node *n)
{
	uint16_t op = n->g->node[n->g->comp[node_calls(n->g, n->v)[0]].root].opcode;
	int64_t at[RING_RANK] = {0}, size[RING_RANK];
	size_t k = 0;

	for (uint32_t i = 0; i < n->out->rank; i++)
		size[i] = n->in->window->dimensions[i]->size;
	do {
		int64_t tap[RING_RANK] = {0}, from[RING_RANK];
		n->out->v[k] = n->x[1]->v[0];
		do {
			bool inside = true;
			for (uint32_t i = 0; i < n->out->rank; i++)
				inside &= ring_meets(n->in->window->dimensions[i], n->x[0]->dim[i], at[i], tap[i],
					&from[i]);
			if (inside)
				n->out->v[k] = ring_combine(n->ring, op, n->out->v[k],
					n->x[0]->v[ring_place(n->x[0], from)]);
		} while (ring_step(size, n->out->rank, tap));
		k++;
	} while (ring_step(n->out->dim, n->out->rank, at));
	return 0;
}
