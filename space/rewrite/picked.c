/*
 * picked.c - rewrites a product with matrices that were picked by indices as products with all of them, of which the
 * ones that are wanted are picked.
 *
 *	dot(x, gather(table, which))	 =   gather(dot(x, table), (0, which[0]), (1, which[1]), ..)
 *	of each i a row of x and a matrix    row i of x with every matrix of the table
 *
 * Mixtures of experts are written so: each word goes to a few experts, whose weights are picked for it. A picked
 * matrix is copied number by number, which takes longer than to multiply by it, and then each copy meets a single
 * row. With all matrices that becomes one product of many rows, for which there is fast code. It computes as many
 * times too much as there are matrices. (384 rows, of 96 words with 4 experts of 16 each, and matrices of 256 x 256:
 * 17 ms, and 10 so.)
 *
 * Where a row was repeated or gathered before, it is multiplied once, and picked as often: the words of such a mixture
 * are repeated for each of their experts. Networks on graphs whose edges have types gather the rows of nodes for edges,
 * and pick the matrix of an edge's type.
 */
#include <string.h>
#include "hlo/places.h"
#include "space/rewrite/codes.h"

static const char *const measures[] = {"places", "rows", "columns", "depth", "matrices", "met", NULL};

struct picking {
	struct dot_dims dims;
	int side;	    /* of the picked matrices */
	uint32_t u;	    /* what picks them */
	int64_t along;	    /* the table's dimension of which one is picked */
	int64_t of[DRAFT_RANK]; /* the table's dimension for a dimension of u; -1: of the places */
	/* What repeats or gathers rows of the other side, and its leading dimensions, which are the places; or NONE. */
	uint32_t by, leading;
	int64_t met; /* rows that are multiplied */
};

/* Does u pick whole matrices along one dimension of a table, each by one index? */
static bool picks(const struct graph *g, struct picking *p)
{
	const Hlo__HloInstructionProto *in = g->node[p->u].proto;
	const Hlo__GatherDimensionNumbers *n = in->gather_dimension_numbers;
	uint32_t table, offset = 0;

	if (g->node[p->u].opcode != OP_GATHER || !rule_plain(g, p->u) || !n || n->n_operand_batching_dims ||
		n->n_collapsed_slice_dims != 1 || n->n_start_index_map != 1 ||
		n->collapsed_slice_dims[0] != n->start_index_map[0])
		return false;
	table = node_operands(g, p->u)[0];
	p->along = n->start_index_map[0];
	if (!rule_plain(g, table) || in->n_gather_slice_sizes != g->node[table].rank)
		return false;
	for (uint32_t i = 0; i < g->node[p->u].rank; i++)
		p->of[i] = -1;
	for (uint32_t i = 0; i < g->node[table].rank; i++) {
		if (in->gather_slice_sizes[i] != (i == p->along ? 1 : rule_dim(g, table, i)))
			return false;
		if (i != p->along)
			p->of[n->offset_dims[offset++]] = i;
	}
	return true;
}

/* Is a row of the other side multiplied by each picked matrix: are the places what both sides share? */
static bool shares_places(const struct graph *g, const struct picking *p)
{
	for (uint32_t i = 0; i < g->node[p->u].rank; i++)
		if ((p->of[i] < 0) != (place_of(p->dims.batch[p->side], p->dims.n_batch, i) >= 0))
			return false;
	return p->dims.n_batch > 0 && p->dims.n_sum > 0;
}

/* The leading dimensions of a node that have so many elements; 0: none have. */
static uint32_t leading(const struct graph *g, uint32_t v, int64_t elements)
{
	int64_t n = 1;

	for (uint32_t i = 0; i < g->node[v].rank; i++) {
		n *= rule_dim(g, v, i);
		if (n >= elements)
			return n == elements ? i + 1 : 0;
	}
	return 0;
}

/* Does it repeat rows that are whole, which are its dimensions from `lead` on? Sets how many there are. */
static bool repeats(const struct graph *g, uint32_t v, uint32_t lead, int64_t *rows)
{
	const Hlo__HloInstructionProto *in = g->node[v].proto;
	uint32_t whole = 0;

	*rows = 1;
	for (size_t i = 0; i < in->n_dimensions; i++) {
		if (i && in->dimensions[i] <= in->dimensions[i - 1])
			return false;
		if (in->dimensions[i] >= lead)
			whole++;
		else
			*rows *= rule_dim(g, node_operands(g, v)[0], (int64_t)i);
	}
	return g->node[v].opcode == OP_BROADCAST && whole == g->node[v].rank - lead;
}

/* Does it gather rows that are whole, by an index each? */
static bool gathers(const struct graph *g, uint32_t v, uint32_t lead, int64_t *rows)
{
	const Hlo__HloInstructionProto *in = g->node[v].proto;
	const Hlo__GatherDimensionNumbers *n = in->gather_dimension_numbers;
	uint32_t from = node_operands(g, v)[0];

	if (g->node[v].opcode != OP_GATHER || !n || n->n_operand_batching_dims || n->n_collapsed_slice_dims != 1 ||
		n->n_start_index_map != 1 || n->collapsed_slice_dims[0] != 0 || n->start_index_map[0] != 0 ||
		n->n_offset_dims != g->node[v].rank - lead || g->node[node_operands(g, v)[1]].dtype != DT_S32)
		return false;
	for (size_t i = 0; i < n->n_offset_dims; i++)
		if (n->offset_dims[i] != (int64_t)(lead + i) ||
			in->gather_slice_sizes[1 + i] != rule_dim(g, from, 1 + (int64_t)i))
			return false;
	*rows = rule_dim(g, from, 0);
	return true;
}

/* Looks for rows of the other side that stand there several times. */
static void see_rows(const struct graph *g, uint32_t other, struct picking *p)
{
	int64_t places = 1, rows;
	uint32_t v = other, lead;

	p->by = NONE;
	for (uint32_t k = 0; k < p->dims.n_batch; k++)
		places *= rule_dim(g, other, p->dims.batch[!p->side][k]);
	p->met = places;
	for (uint32_t k = 0; k < p->dims.n_batch; k++)
		if (p->dims.batch[!p->side][k] != k)
			return;
	if (g->node[v].opcode == OP_RESHAPE && rule_plain(g, v))
		v = node_operands(g, v)[0];
	lead = leading(g, v, places);
	if (!lead || !rule_plain(g, v) || g->node[v].n_operands == 0 || !rule_plain(g, node_operands(g, v)[0]) ||
		!(repeats(g, v, lead, &rows) || gathers(g, v, lead, &rows)) || rows >= places)
		return;
	p->by = v;
	p->leading = lead;
	p->met = rows;
}

static bool reads(const struct graph *g, uint32_t v, struct picking *p)
{
	uint32_t other, table;

	if (!rule_dot(g, v, &p->dims))
		return false;
	for (p->side = 0; p->side < 2; p->side++) {
		p->u = node_operands(g, v)[p->side];
		if (!picks(g, p) || !shares_places(g, p))
			continue;
		other = node_operands(g, v)[!p->side];
		table = node_operands(g, p->u)[0];
		see_rows(g, other, p);
		return g->node[other].rank + g->node[table].rank - 2 * p->dims.n_sum <= DRAFT_RANK &&
		       g->node[node_operands(g, p->u)[1]].dtype == DT_S32;
	}
	return false;
}

static bool match(const struct graph *g, uint32_t v, struct found *f)
{
	uint32_t other;
	struct picking p;
	double size[4];

	if (!reads(g, v, &p))
		return false;
	rule_dot_sizes(g, v, &p.dims, size);
	other = node_operands(g, v)[!p.side];
	f->inside[f->n_inside++] = p.u;
	if (p.by != NONE)
		f->inside[f->n_inside++] = p.by;
	if (p.by != NONE && p.by != other)
		f->inside[f->n_inside++] = other;
	f->measure[0] = size[0];
	f->measure[1] = size[1 + !p.side];
	f->measure[2] = size[1 + p.side];
	f->measure[3] = size[3];
	f->measure[4] = (double)rule_dim(g, node_operands(g, p.u)[0], p.along);
	f->measure[5] = (double)p.met;
	return true;
}

/* The rows that are multiplied, flat, the rest of the other side as the product has it, and what is summed over. */
static Hlo__HloInstructionProto *flat(struct draft *d, uint32_t v, const struct picking *p)
{
	Hlo__HloInstructionProto *x = draft_operand(d, v, !p->side);
	const int64_t *was = x->shape->dimensions;
	int64_t perm[DRAFT_RANK], dims[DRAFT_RANK] = {p->met};
	uint32_t rank = draft_rank(x), batch = p->dims.n_batch, n, seen = p->by == NONE ? batch : 1;

	if (p->by != NONE) {
		memcpy(dims + 1, was + batch, (rank - batch) * sizeof *dims);
		x = draft_reshape(d, draft_operand(d, p->by, 0), dims, rank - batch + 1);
	}
	memcpy(perm, p->dims.batch[!p->side], seen * sizeof *perm);
	n = seen + dot_rest(&p->dims, !p->side, rank, perm + seen);
	memcpy(perm + n, p->dims.sum[!p->side], p->dims.n_sum * sizeof *perm);
	for (uint32_t i = seen; i < rank - batch + seen; i++)
		perm[i] -= batch - seen;
	x = draft_transpose(d, x, perm);
	memcpy(dims + 1, x->shape->dimensions + seen, (rank - batch) * sizeof *dims);
	return draft_reshape(d, x, dims, rank - batch + 1);
}

/* For each place the row that it meets. */
static Hlo__HloInstructionProto *rows(struct draft *d, const struct picking *p, const int64_t *size)
{
	int64_t dims[DRAFT_RANK];
	const Hlo__HloInstructionProto *by;
	uint32_t n = 0;

	if (p->by == NONE)
		return draft_iota(d, DT_S32, size, 2, 0);
	if (d->g->node[p->by].opcode == OP_GATHER)
		return draft_reshape(d, draft_operand(d, p->by, 1), size, 2);
	by = d->g->node[p->by].proto;
	while (n < by->n_dimensions && by->dimensions[n] < p->leading) {
		dims[n] = by->shape->dimensions[by->dimensions[n]];
		n++;
	}
	return draft_reshape(d, draft_broadcast(d, draft_reshape(d, draft_iota(d, DT_S32, &p->met, 1, 0), dims, n),
		by->shape->dimensions, p->leading, by->dimensions), size, 2);
}

/* Two numbers for each place: the row that it meets, and the matrix that is picked there; or the other way round. */
static Hlo__HloInstructionProto *pairs(struct draft *d, const struct picking *p, int64_t places, bool matrix_first)
{
	const Hlo__GatherDimensionNumbers *n = d->g->node[p->u].proto->gather_dimension_numbers;
	Hlo__HloInstructionProto *which = draft_operand(d, p->u, 1), *pair[2];
	int64_t size[2] = {places, 1}, dims[DRAFT_RANK], perm[DRAFT_RANK], nth = 0, of[DRAFT_RANK];
	uint32_t rank = 0;

	for (uint32_t i = 0; i < draft_rank(which); i++)
		if (i != n->index_vector_dim)
			dims[rank++] = which->shape->dimensions[i];
	for (uint32_t i = 0; i < d->g->node[p->u].rank; i++)
		of[i] = p->of[i] < 0 ? nth++ : -1;
	for (uint32_t k = 0; k < p->dims.n_batch; k++)
		perm[k] = of[p->dims.batch[p->side][k]];
	which = draft_transpose(d, draft_reshape(d, which, dims, rank), perm);
	pair[matrix_first] = rows(d, p, size);
	pair[!matrix_first] = draft_reshape(d, which, size, 2);
	return draft_concat(d, pair, 2, 1);
}

/* Of x, for each pair, what two dimensions have there; the others follow in their order. */
static Hlo__HloInstructionProto *pick(struct draft *d, Hlo__HloInstructionProto *x, const int64_t *two,
	Hlo__HloInstructionProto *pair)
{
	Hlo__GatherDimensionNumbers *n = arena_alloc(d->mem, sizeof *n);
	int64_t offset[DRAFT_RANK], size[DRAFT_RANK], dims[DRAFT_RANK];
	Hlo__HloInstructionProto in;
	uint32_t rank = 1;

	dims[0] = pair->shape->dimensions[0];
	for (uint32_t i = 0; i < draft_rank(x); i++) {
		bool one = i == two[0] || i == two[1];
		size[i] = one ? 1 : x->shape->dimensions[i];
		if (one)
			continue;
		offset[rank - 1] = rank;
		dims[rank++] = size[i];
	}
	hlo__gather_dimension_numbers__init(n);
	n->index_vector_dim = 1;
	n->n_collapsed_slice_dims = n->n_start_index_map = 2;
	n->collapsed_slice_dims = n->start_index_map = arena_dup(d->mem, two, 2 * sizeof *two);
	n->n_offset_dims = rank - 1;
	n->offset_dims = arena_dup(d->mem, offset, (rank - 1) * sizeof *offset);
	hlo__hlo_instruction_proto__init(&in);
	in.opcode = (char *)"gather";
	in.gather_dimension_numbers = n;
	in.n_gather_slice_sizes = draft_rank(x);
	in.gather_slice_sizes = arena_dup(d->mem, size, draft_rank(x) * sizeof *size);
	return draft_copy(d, &in, dims, rank, (Hlo__HloInstructionProto *[]){x, pair}, 2);
}

/* Behind its first dimension, the next `n` change places with all others. */
static Hlo__HloInstructionProto *exchanged(struct draft *d, Hlo__HloInstructionProto *x, uint32_t n)
{
	int64_t perm[DRAFT_RANK] = {0};
	uint32_t rank = draft_rank(x);

	for (uint32_t i = 1; i < rank; i++)
		perm[i] = 1 + (i - 1 + n) % (rank - 1);
	return draft_transpose(d, x, perm);
}

static Hlo__HloInstructionProto *write(struct draft *d, const struct found *f, uint32_t variant)
{
	const Hlo__ShapeProto *out = d->g->node[f->anchor].proto->shape;
	bool matrices_first = variant == 2;
	struct dot_dims all = {0};
	Hlo__HloInstructionProto *x, *table;
	uint32_t n_rows, n_free;
	int64_t free[DRAFT_RANK], two[2];
	struct picking p;

	BUG_ON(!reads(d->g, f->anchor, &p));
	x = flat(d, f->anchor, &p);
	table = draft_operand(d, p.u, 0);
	n_rows = draft_rank(x) - p.dims.n_sum;
	all.n_sum = p.dims.n_sum;
	for (uint32_t k = 0; k < all.n_sum; k++) {
		all.sum[matrices_first][k] = n_rows + k;
		all.sum[!matrices_first][k] = p.of[p.dims.sum[p.side][k]];
	}
	n_free = dot_rest(&all, !matrices_first, draft_rank(table), free);
	two[matrices_first] = matrices_first ? n_free : 0;
	two[!matrices_first] = (matrices_first ? 0 : n_rows) + place_of(free, n_free, p.along);
	x = matrices_first ? draft_dot(d, table, x, &all, d->like) : draft_dot(d, x, table, &all, d->like);
	x = pick(d, x, two, pairs(d, &p, (int64_t)f->measure[0], matrices_first));
	if (matrices_first == p.side)
		x = exchanged(d, x, (matrices_first ? n_free : n_rows) - 1);
	return draft_reshape(d, x, out->dimensions, (uint32_t)out->n_dimensions);
}

const struct rule_code dot_picked_code = {.name = "dot_picked", .measures = measures, .match = match, .write = write};
