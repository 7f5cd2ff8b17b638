/*
 * scattered.c - rewrites products that are added up by indices as one product.
 *
 *	out[which[i]] += dot(x[i], y[i]) for each place i   =   dot(x where which[i] is e, else 0, y), summed over the
 *								places, too, for each e
 *
 * That is what a mixture of experts learns from: the gradient of weights that were picked by indices (picked.c). The
 * products of a row with a row are as large as all weights that were picked, stand in memory, and are added up
 * number by number. In one product the fast code adds them up. It computes as many times too much as there are
 * matrices. (Of the training step of a mixture of 16 experts, 20 products with picked weights and 10 such sums
 * written so save 49% +- 4, without these sums 44% +- 3.)
 *
 * An index out of range adds nothing, here and there: zeros stand there on both sides. But what place i adds to other
 * matrices than its own is 0 times y[i], which is no number where y[i] is infinite or none. So that reaches them all.
 */
#include <string.h>
#include "space/rewrite/codes.h"

static const char *const measures[] = {"places", "rows", "elements", "matrices", NULL};

struct adding {
	struct dot_dims dims;
	uint32_t u;    /* the product whose results are added up */
	int64_t along; /* the dimension of the result that an index is about */
	int side;      /* which operand stands for each matrix: the smaller one */
};

static bool is_one(const int64_t *list, size_t n, int64_t *what)
{
	*what = n == 1 ? list[0] : -1;
	return n == 1;
}

/* Does v add whole matrices, each by one index, to what is there? */
static bool adds(const struct graph *g, uint32_t v, struct adding *a)
{
	const Hlo__ScatterDimensionNumbers *n = g->node[v].proto->scatter_dimension_numbers;
	const char *does;
	int64_t inserted;

	if (g->node[v].opcode != OP_SCATTER || g->node[v].n_operands != 3 || !n || n->n_input_batching_dims ||
		!is_one(n->scatter_dims_to_operand_dims, n->n_scatter_dims_to_operand_dims, &a->along) ||
		!is_one(n->inserted_window_dims, n->n_inserted_window_dims, &inserted) || inserted != a->along ||
		!rule_plain(g, v) || !rule_plain(g, node_operands(g, v)[0]) ||
		g->node[node_operands(g, v)[1]].dtype != DT_S32)
		return false;
	does = rule_combines(g, v);
	a->u = node_operands(g, v)[2];
	return does && strcmp(does, "add") == 0 && g->node[a->u].opcode == OP_DOT && rule_dot(g, a->u, &a->dims);
}

/* Are the product's shared dimensions the places, and the rest whole matrices, in their order? */
static bool by_place(const struct graph *g, uint32_t v, const struct adding *a)
{
	const Hlo__ScatterDimensionNumbers *n = g->node[v].proto->scatter_dimension_numbers;
	uint32_t places = a->dims.n_batch, rank = g->node[a->u].rank;

	if (!places || n->n_update_window_dims != rank - places || g->node[v].rank != rank - places + 1)
		return false;
	for (uint32_t i = places; i < rank; i++) {
		int64_t of = i - places;
		if (n->update_window_dims[i - places] != i ||
			rule_dim(g, a->u, i) != rule_dim(g, v, of + (of >= a->along)))
			return false;
	}
	return true;
}

/* Do the shapes of a scatter fit together: what is there and the result, and an index for each place? */
static bool fits(const struct graph *g, uint32_t v, const struct adding *a)
{
	uint32_t to = node_operands(g, v)[0], which = node_operands(g, v)[1], rank = g->node[v].rank, n = 0;
	int64_t apart = g->node[v].proto->scatter_dimension_numbers->index_vector_dim;

	if (a->along < 0 || a->along >= rank || g->node[to].rank != rank || g->node[to].dtype != g->node[v].dtype ||
		g->node[a->u].dtype != g->node[v].dtype || apart < 0 || apart > g->node[which].rank)
		return false;
	for (uint32_t i = 0; i < rank; i++)
		if (rule_dim(g, to, i) != rule_dim(g, v, i))
			return false;
	for (uint32_t i = 0; i < g->node[which].rank; i++) {
		bool place = i != apart;
		if (place && n == a->dims.n_batch)
			return false;
		if (rule_dim(g, which, i) != (place ? rule_dim(g, a->u, n) : 1))
			return false;
		n += place;
	}
	return n == a->dims.n_batch;
}

static bool reads(const struct graph *g, uint32_t v, struct adding *a)
{
	const uint32_t *op;

	if (!adds(g, v, a) || !by_place(g, v, a) || !fits(g, v, a))
		return false;
	op = node_operands(g, a->u);
	a->side = g->node[op[1]].elements < g->node[op[0]].elements;
	return g->node[op[a->side]].rank < DRAFT_RANK;
}

static bool adds_to_zero(const struct graph *g, uint32_t v)
{
	uint32_t to = node_operands(g, v)[0];

	return g->node[to].opcode == OP_BROADCAST && rule_is_zero(g, node_operands(g, to)[0]);
}

static bool match(const struct graph *g, uint32_t v, struct found *f)
{
	struct adding a;
	double size[4];

	if (!reads(g, v, &a))
		return false;
	rule_dot_sizes(g, a.u, &a.dims, size);
	f->inside[f->n_inside++] = a.u;
	if (adds_to_zero(g, v))
		f->inside[f->n_inside++] = node_operands(g, v)[0];
	f->measure[0] = size[0];
	f->measure[1] = size[3];
	f->measure[2] = size[1] * size[2];
	f->measure[3] = (double)rule_dim(g, v, a.along);
	return true;
}

/* For each place its index, in the order of the product's shared dimensions. */
static Hlo__HloInstructionProto *indices(struct draft *d, uint32_t v, const struct adding *a)
{
	const Hlo__ScatterDimensionNumbers *n = d->g->node[v].proto->scatter_dimension_numbers;
	Hlo__HloInstructionProto *which = draft_operand(d, v, 1);
	int64_t dims[DRAFT_RANK];
	uint32_t rank = 0;

	for (uint32_t i = 0; i < draft_rank(which); i++)
		if (i != n->index_vector_dim)
			dims[rank++] = which->shape->dimensions[i];
	BUG_ON(rank != a->dims.n_batch);
	return draft_reshape(d, which, dims, rank);
}

/*
 * The smaller operand for each matrix, with zeros at the places of others: first the matrices, then what it leaves in
 * the product, then what is summed over. Tells in `dims` where that is.
 */
static Hlo__HloInstructionProto *for_each(struct draft *d, const struct adding *a, int64_t matrices,
	Hlo__HloInstructionProto *which, struct dot_dims *dims)
{
	Hlo__HloInstructionProto *x = draft_operand(d, a->u, (uint32_t)a->side), *mine;
	int64_t perm[DRAFT_RANK], size[DRAFT_RANK], map[DRAFT_RANK], at[DRAFT_RANK];
	uint32_t rank = draft_rank(x), rest = dot_rest(&a->dims, a->side, rank, perm), n = rest;

	*dims = (struct dot_dims){.n_sum = a->dims.n_batch + a->dims.n_sum};
	for (uint32_t k = 0; k < dims->n_sum; k++, n++) {
		for (int side = 0; side < 2; side++)
			dims->sum[side][k] = k < a->dims.n_batch ? a->dims.batch[side][k] :
				a->dims.sum[side][k - a->dims.n_batch];
		perm[n] = dims->sum[a->side][k];
		dims->sum[a->side][k] = n + 1;
		at[k] = n + 1;
	}
	x = draft_transpose(d, x, perm);
	size[0] = matrices;
	for (uint32_t i = 0; i < rank; i++) {
		size[i + 1] = x->shape->dimensions[i];
		map[i] = i + 1;
	}
	which = draft_broadcast(d, which, size, rank + 1, at);
	mine = draft_compare(d, "EQ", which, draft_iota(d, DT_S32, size, rank + 1, 0));
	return draft_select(d, mine, draft_broadcast(d, x, size, rank + 1, map),
		draft_filled(d, x->shape->element_type, 0, size, rank + 1));
}

/* The larger operand, with zeros at places whose index is out of range. Without a sign, those below 0 are large. */
static Hlo__HloInstructionProto *in_range(struct draft *d, const struct adding *a, int64_t matrices,
	Hlo__HloInstructionProto *which)
{
	Hlo__HloInstructionProto *x = draft_operand(d, a->u, (uint32_t)!a->side), *some;
	const int64_t *size = x->shape->dimensions;
	uint32_t rank = draft_rank(x);

	which = draft_convert(d, which, DT_U32);
	some = draft_compare(d, "LT", which, draft_filled(d, DT_U32, matrices, which->shape->dimensions,
		draft_rank(which)));
	return draft_select(d, draft_broadcast(d, some, size, rank, a->dims.batch[!a->side]), x,
		draft_filled(d, x->shape->element_type, 0, size, rank));
}

static Hlo__HloInstructionProto *write(struct draft *d, const struct found *f, uint32_t variant)
{
	uint32_t v = f->anchor;
	Hlo__HloInstructionProto *x[2], *y, *which;
	int64_t matrices;
	struct dot_dims dims;
	struct adding a;

	(void)variant;
	BUG_ON(!reads(d->g, v, &a));
	matrices = rule_dim(d->g, v, a.along);
	which = indices(d, v, &a);
	x[a.side] = for_each(d, &a, matrices, which, &dims);
	x[!a.side] = in_range(d, &a, matrices, which);
	y = draft_dot(d, x[0], x[1], &dims, d->g->node[a.u].proto);
	if (a.side) /* what the first operand leaves stands before the matrices */
		y = draft_moved(d, y, draft_rank(y) - draft_rank(x[1]) + dims.n_sum, 0);
	y = draft_moved(d, y, 0, a.along);
	return adds_to_zero(d->g, v) ? y : draft_binary(d, "add", draft_operand(d, v, 0), y);
}

const struct rule_code dot_scattered_code = {.name = "dot_scattered", .measures = measures, .match = match,
	.write = write};
