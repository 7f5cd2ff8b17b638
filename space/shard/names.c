/*
 * names.c - finds which dimensions of different tensors are the same thing: examples, features, heads, experts.
 *
 * A dimension of a result is mostly a dimension of an operand: a sum of two tensors has theirs, a product has the rows
 * of one and the columns of the other, and the dimension that is summed over is the same in both operands. So each
 * dimension of each tensor gets a name, and dimensions that an operation ties together share it. If all tensors that
 * have a name are split along it, no operation has to move anything, but for the sums over it. That is why people split
 * "the batch" or "the heads": a name is what they decide about.
 *
 * What two dimensions share is kept as in any union of sets: each points to another of its set, the last to itself. A
 * dimension that is cut or lengthened on the way shares nothing. Tensors of one site are laid out alike, so their
 * dimensions share names, too; so do those of a moment and its weight, because its update ties them.
 *
 * A tensor may have a name twice, as a matrix from features to features. Then a rule that splits along the name splits
 * its first such dimension, or its last.
 */
#include "space/shard/own.h"

#include <stdlib.h>
#include <string.h>

struct sets {
	const struct graph *g;
	uint32_t *base; /* per node: its first dimension; dimensions of all nodes are counted through */
	uint32_t *next; /* per dimension: another one of its set, the set's own at the end */
};

static uint32_t find(struct sets *s, uint32_t i)
{
	while (s->next[i] != i) {
		s->next[i] = s->next[s->next[i]];
		i = s->next[i];
	}
	return i;
}

static bool has(const struct sets *s, uint32_t v, int64_t d)
{
	return d >= 0 && d < s->g->node[v].rank && s->g->node[v].dtype != DT_TUPLE;
}

static void join(struct sets *s, uint32_t v, int64_t i, uint32_t u, int64_t k)
{
	if (has(s, v, i) && has(s, u, k)) {
		uint32_t x = find(s, s->base[v] + (uint32_t)i), y = find(s, s->base[u] + (uint32_t)k);
		s->next[x > y ? x : y] = x > y ? y : x;
	}
}

/* Dimension i of v and dimension k of u are the same, if both exist and are of one size. */
static void same(struct sets *s, uint32_t v, int64_t i, uint32_t u, int64_t k)
{
	if (has(s, v, i) && has(s, u, k) &&
		s->g->node[v].proto->shape->dimensions[i] == s->g->node[u].proto->shape->dimensions[k])
		join(s, v, i, u, k);
}

/* Each dimension is the same as the one in its place. */
static void all_same(struct sets *s, uint32_t v, uint32_t u)
{
	for (uint32_t d = 0; d < s->g->node[v].rank && s->g->node[v].rank == s->g->node[u].rank; d++)
		same(s, v, d, u, d);
}

static bool listed(const int64_t *v, size_t n, int64_t x)
{
	for (size_t i = 0; i < n; i++)
		if (v[i] == x)
			return true;
	return false;
}

struct rest { /* the dimensions of a node that are not in a list */
	uint32_t node;
	const int64_t *out;
	size_t n_out;
};

static int64_t next_left(const struct graph *g, const struct rest *r, int64_t d)
{
	while (d < g->node[r->node].rank && listed(r->out, r->n_out, d))
		d++;
	return d;
}

/* The dimensions that are left of both are the same, in their order. */
static void rest_same(struct sets *s, const struct rest *a, const struct rest *b)
{
	int64_t i = next_left(s->g, a, 0), k = next_left(s->g, b, 0);

	while (i < s->g->node[a->node].rank && k < s->g->node[b->node].rank) {
		same(s, a->node, i, b->node, k);
		i = next_left(s->g, a, i + 1);
		k = next_left(s->g, b, k + 1);
	}
}

static void name_dot(struct sets *s, uint32_t v, const uint32_t *op)
{
	const Hlo__DotDimensionNumbers *d = s->g->node[v].proto->dot_dimension_numbers;
	int64_t at = 0;

	if (!d)
		return;
	for (size_t i = 0; i < d->n_lhs_contracting_dimensions && i < d->n_rhs_contracting_dimensions; i++)
		same(s, op[0], d->lhs_contracting_dimensions[i], op[1], d->rhs_contracting_dimensions[i]);
	for (size_t i = 0; i < d->n_lhs_batch_dimensions && i < d->n_rhs_batch_dimensions; i++, at++) {
		same(s, op[0], d->lhs_batch_dimensions[i], op[1], d->rhs_batch_dimensions[i]);
		same(s, v, at, op[0], d->lhs_batch_dimensions[i]);
	}
	for (uint32_t k = 0; k < 2; k++)
		for (int64_t i = 0; i < s->g->node[op[k]].rank; i++) {
			bool batch = k ? listed(d->rhs_batch_dimensions, d->n_rhs_batch_dimensions, i)
				       : listed(d->lhs_batch_dimensions, d->n_lhs_batch_dimensions, i);
			bool summed = k ? listed(d->rhs_contracting_dimensions, d->n_rhs_contracting_dimensions, i)
					: listed(d->lhs_contracting_dimensions, d->n_lhs_contracting_dimensions, i);
			if (!batch && !summed)
				same(s, v, at++, op[k], i);
		}
}

static void name_convolution(struct sets *s, uint32_t v, const uint32_t *op)
{
	const Hlo__ConvolutionDimensionNumbers *c = s->g->node[v].proto->convolution_dimension_numbers;

	if (!c)
		return;
	same(s, v, c->output_batch_dimension, op[0], c->input_batch_dimension);
	same(s, v, c->output_feature_dimension, op[1], c->kernel_output_feature_dimension);
	same(s, op[0], c->input_feature_dimension, op[1], c->kernel_input_feature_dimension);
	for (size_t i = 0; i < c->n_output_spatial_dimensions && i < c->n_input_spatial_dimensions; i++)
		same(s, v, c->output_spatial_dimensions[i], op[0], c->input_spatial_dimensions[i]);
}

/* Rows are looked up: the result has a row's dimensions, and in the places left those of the numbers of the rows. */
static void name_gather(struct sets *s, uint32_t v, const uint32_t *op)
{
	const Hlo__GatherDimensionNumbers *d = s->g->node[v].proto->gather_dimension_numbers;
	size_t k = 0;

	if (!d)
		return;
	for (int64_t i = 0; i < s->g->node[op[0]].rank; i++)
		if (!listed(d->collapsed_slice_dims, d->n_collapsed_slice_dims, i) &&
			!listed(d->operand_batching_dims, d->n_operand_batching_dims, i) && k < d->n_offset_dims)
			same(s, v, d->offset_dims[k++], op[0], i);
	rest_same(s, &(struct rest){v, d->offset_dims, d->n_offset_dims},
		&(struct rest){op[1], &d->index_vector_dim, 1});
}

static void name_scatter(struct sets *s, uint32_t v, const uint32_t *op)
{
	const Hlo__ScatterDimensionNumbers *d = s->g->node[v].proto->scatter_dimension_numbers;
	size_t k = 0;

	if (!d || s->g->node[v].n_operands != 3)
		return;
	all_same(s, v, op[0]);
	for (int64_t i = 0; i < s->g->node[v].rank; i++)
		if (!listed(d->inserted_window_dims, d->n_inserted_window_dims, i) &&
			!listed(d->input_batching_dims, d->n_input_batching_dims, i) && k < d->n_update_window_dims)
			same(s, op[2], d->update_window_dims[k++], v, i);
	rest_same(s, &(struct rest){op[2], d->update_window_dims, d->n_update_window_dims},
		&(struct rest){op[1], &d->index_vector_dim, 1});
}

static void name_reduce(struct sets *s, uint32_t v, const uint32_t *op)
{
	const Hlo__HloInstructionProto *p = s->g->node[v].proto;

	rest_same(s, &(struct rest){v, NULL, 0}, &(struct rest){op[0], p->dimensions, p->n_dimensions});
}

/* Of dimensions that become one, the outermost keeps its name. */
static void name_reshape(struct sets *s, uint32_t v, uint32_t from)
{
	int8_t map[VIEW_RANK];

	if (s->g->node[v].rank > VIEW_RANK || s->g->node[from].rank > VIEW_RANK)
		return;
	behind_reshape(s->g->node[from].proto->shape, s->g->node[v].proto->shape, map);
	for (int64_t d = 0; d < s->g->node[v].rank; d++)
		join(s, v, d, from, map[d]);
}

/* The state of a loop has the same names in each turn, and before and after it. */
static void name_loop(struct sets *s, uint32_t v)
{
	const struct graph *g = s->g;
	uint32_t state = node_operands(g, v)[0];

	for (uint32_t c = 0; c < g->node[v].n_called && g->node[state].opcode == OP_TUPLE; c++) {
		uint32_t root = g->comp[node_calls(g, v)[c]].root;
		for (uint32_t k = 0; k < g->node[state].n_operands && g->node[root].opcode == OP_TUPLE &&
			k < g->node[root].n_operands; k++)
			all_same(s, node_operands(g, state)[k], node_operands(g, root)[k]);
	}
}

static void name_node(struct sets *s, uint32_t v)
{
	const struct node *n = &s->g->node[v];
	const uint32_t *op = node_operands(s->g, v);
	uint32_t from;

	switch (n->opcode) {
	case OP_DOT:
		name_dot(s, v, op);
		return;
	case OP_CONVOLUTION:
		name_convolution(s, v, op);
		return;
	case OP_GATHER:
		name_gather(s, v, op);
		return;
	case OP_SCATTER:
		name_scatter(s, v, op);
		return;
	case OP_REDUCE:
		name_reduce(s, v, op);
		return;
	case OP_WHILE:
		name_loop(s, v);
		return;
	case OP_BROADCAST:
		for (size_t d = 0; d < n->proto->n_dimensions; d++)
			same(s, v, n->proto->dimensions[d], op[0], (int64_t)d);
		return;
	case OP_TRANSPOSE:
		for (size_t d = 0; d < n->proto->n_dimensions; d++)
			same(s, v, (int64_t)d, op[0], n->proto->dimensions[d]);
		return;
	case OP_RESHAPE:
	case OP_BITCAST:
		name_reshape(s, v, op[0]);
		return;
	case OP_GET_TUPLE_ELEMENT:
	case OP_PARAMETER:
	case OP_CALL:
		from = behind_state(s->g, v);
		if (from != NONE)
			all_same(s, v, from);
		return;
	default: /* what works element by element, and what cuts or lengthens some dimensions */
		for (uint32_t k = 0; k < n->n_operands; k++)
			all_same(s, v, op[k]);
	}
}

/* Joins the dimensions of all nodes that are compiled as a part of the program, and of the members of each site. */
static void join_all(struct sets *s, const struct space *space)
{
	const struct shard *h = shard_of(space);

	for (uint32_t v = 0; v < s->g->n_nodes; v++)
		if (node_is_compiled(s->g, v))
			name_node(s, v);
	for (uint32_t i = 0; i < space->n_sites; i++)
		for (uint32_t k = 1; k < h->place[i].n; k++)
			all_same(s, h->member[h->place[i].first], h->member[h->place[i].first + k]);
}

struct weighed { /* a name, and how much work and memory is split along it */
	double weight;
	uint32_t set;
};

static int by_weight(const void *a, const void *b)
{
	const struct weighed *x = a, *y = b;

	if (x->weight != y->weight)
		return x->weight < y->weight ? 1 : -1;
	return (x->set > y->set) - (x->set < y->set);
}

/* Adds to the weight of each name of a node's dimensions, once. */
static void add_weight(struct sets *s, uint32_t v, double weight, double *sum)
{
	for (uint32_t d = 0; d < s->g->node[v].rank; d++) {
		uint32_t set = find(s, s->base[v] + d), before = 0;
		while (before < d && find(s, s->base[v] + before) != set)
			before++;
		if (before == d)
			sum[set] += weight;
	}
}

/*
 * Weighs names: the work of products that have them, in an operand or in the result, and the bytes of parameters.
 * A byte counts as much as the operations that machines do while they read it.
 */
static void weigh(struct sets *s, const struct space *space, double *sum)
{
	static const double work_of_byte = 240;
	const struct graph *g = s->g;

	for (uint32_t v = 0; v < g->n_nodes; v++) {
		const struct node *n = &g->node[v];
		double trips = g->comp[n->comp].trips;
		if (n->dtype == DT_TUPLE || space->site_of[v] == NONE)
			continue;
		if (n->opcode == OP_PARAMETER) {
			add_weight(s, v, work_of_byte * (double)n->bytes, sum);
			continue;
		}
		add_weight(s, v, trips * n->flops / 2, sum);
		for (uint32_t k = 0; k < 2; k++)
			add_weight(s, node_operands(g, v)[k], trips * n->flops / 4, sum);
	}
}

/* Keeps the names of a node's dimensions. */
static void write_names(struct sets *s, uint32_t v, const uint32_t *number_of, uint32_t *out)
{
	for (uint32_t d = 0; d < VIEW_RANK; d++)
		out[d] = d < s->g->node[v].rank ? number_of[find(s, s->base[v] + d)] : NONE;
}

/* Numbers the names of the sites' dimensions, the heaviest first. */
static void number(struct sets *s, struct space *space, uint32_t n_dims)
{
	struct shard *h = shard_of(space);
	double *sum = MEM_NEW(n_dims + 1, double);
	uint32_t *number_of = MEM_NEW(n_dims + 1, uint32_t);
	struct weighed *name = MEM_NEW(n_dims + 1, struct weighed);

	weigh(s, space, sum);
	for (uint32_t i = 0; i < n_dims; i++)
		if (sum[i] > 0)
			name[h->n_names++] = (struct weighed){sum[i], i};
	qsort(name, h->n_names, sizeof *name, by_weight);
	for (uint32_t i = 0; i < h->n_names; i++)
		number_of[name[i].set] = i;
	for (uint32_t i = 0; i < space->n_sites; i++) {
		uint32_t v = space->site[i].node;
		write_names(s, v, number_of, h->name + (size_t)i * VIEW_RANK);
		for (uint32_t k = 0; k < 2 && k < s->g->node[v].n_operands; k++)
			write_names(s, node_operands(s->g, v)[k], number_of,
				h->operand_name + (2 * (size_t)i + k) * VIEW_RANK);
	}
	mem_free(sum);
	mem_free(number_of);
	mem_free(name);
}

void shard_find_names(struct space *space)
{
	const struct graph *g = space->graph;
	struct sets s = {.g = g, .base = MEM_NEW(g->n_nodes + 1, uint32_t)};
	uint32_t n = 0;

	for (uint32_t v = 0; v < g->n_nodes; v++) {
		s.base[v] = n;
		n += g->node[v].rank;
	}
	s.next = MEM_NEW(n + 1, uint32_t);
	for (uint32_t i = 0; i < n; i++)
		s.next[i] = i;
	shard_of(space)->name = ARENA_NEW(&space->mem, space->n_sites * VIEW_RANK + 1, uint32_t);
	shard_of(space)->operand_name = ARENA_NEW(&space->mem, 2 * (size_t)space->n_sites * VIEW_RANK + 1, uint32_t);
	join_all(&s, space);
	number(&s, space, n);
	mem_free(s.base);
	mem_free(s.next);
}
