/*
 * pairs.c - finds products that go in pairs: splitting both of their weights costs one exchange.
 *
 * If a weight is split by columns, its product is a value that is split. The next product sums over the split
 * dimension. If its weight is split by rows, each device has its part of that sum, and one all-reduce at the end is
 * enough. So people split the first weight of a block by columns and the second by rows, and so does this rule. For
 * each product with a weight, it goes up from the other operand, as far as the next products with a weight. If one of
 * these weights was split by columns, this one is split by rows, and a new pair begins behind it; else it is split by
 * columns.
 *
 * The layers of a network may stand in the program one after the other or as a loop, whose turns cut their weights out
 * of one tensor; the weight behind an operand is found in both cases (behind.c). Only the first product that reads a
 * weight counts. The others compute its gradient, and follow from it.
 *
 * A weight may also have a dimension that counts products that have nothing to do with each other, as a layer of
 * experts has. People split such a weight by experts, and the data go to where their experts are.
 */
#include "space/shard/own.h"

#include <string.h>

enum split { SPLIT_NONE, SPLIT_COLUMNS, SPLIT_ROWS, SPLIT_EXPERTS };

struct product { /* a node whose operand is a weight */
	uint32_t weight; /* NONE: it has none */
	uint32_t operand; /* which of the two that is */
	struct view view; /* of the operand, into the weight */
	uint8_t split;
};

static bool listed(const int64_t *v, size_t n, int64_t x)
{
	for (size_t i = 0; i < n; i++)
		if (v[i] == x)
			return true;
	return false;
}

/* Is dimension `dim` of the operand summed over? */
static bool is_summed(const struct graph *g, uint32_t v, uint32_t operand, int64_t dim)
{
	const Hlo__DotDimensionNumbers *d = g->node[v].proto->dot_dimension_numbers;
	const Hlo__ConvolutionDimensionNumbers *c = g->node[v].proto->convolution_dimension_numbers;

	if (g->node[v].opcode == OP_CONVOLUTION)
		return c && dim == c->kernel_input_feature_dimension;
	if (!d)
		return false;
	return operand ? listed(d->rhs_contracting_dimensions, d->n_rhs_contracting_dimensions, dim)
		       : listed(d->lhs_contracting_dimensions, d->n_lhs_contracting_dimensions, dim);
}

/* Is it a dimension that is neither summed over nor a column: of a batch, of a window? */
static bool is_other(const struct graph *g, uint32_t v, uint32_t operand, int64_t dim)
{
	const Hlo__DotDimensionNumbers *d = g->node[v].proto->dot_dimension_numbers;
	const Hlo__ConvolutionDimensionNumbers *c = g->node[v].proto->convolution_dimension_numbers;

	if (g->node[v].opcode == OP_CONVOLUTION)
		return !c || (dim != c->kernel_input_feature_dimension && dim != c->kernel_output_feature_dimension);
	if (!d)
		return true;
	return operand ? listed(d->rhs_batch_dimensions, d->n_rhs_batch_dimensions, dim)
		       : listed(d->lhs_batch_dimensions, d->n_lhs_batch_dimensions, dim);
}

/* What the dimension of an operand is split as. */
static enum split kind_of(const struct graph *g, uint32_t v, uint32_t operand, int64_t dim)
{
	if (is_other(g, v, operand, dim))
		return g->node[v].opcode == OP_DOT ? SPLIT_EXPERTS : SPLIT_NONE;
	return is_summed(g, v, operand, dim) ? SPLIT_ROWS : SPLIT_COLUMNS;
}

/*
 * Returns the dimension of the weight behind the operand's first one that is split as asked for and that can be
 * divided; -1: there is none.
 */
static int8_t find_dim(const struct space *s, uint32_t v, const struct product *p, enum split as, uint32_t parts)
{
	const Hlo__ShapeProto *whole = shape_of(s, p->weight);
	const Hlo__ShapeProto *shape = shape_of(s, node_operands(s->graph, v)[p->operand]);

	for (size_t d = 0; d < shape->n_dimensions; d++) {
		int8_t there = p->view.dim[d];
		if (kind_of(s->graph, v, p->operand, (int64_t)d) == as && there >= 0 &&
			shape->dimensions[d] % parts == 0 && whole->dimensions[there] % parts == 0)
			return there;
	}
	return -1;
}

/* Is a product that was split by columns met on the way up from v, and none with a weight before it? */
static bool meets_columns(const struct graph *g, const struct product *p, uint32_t v, uint32_t *mark, uint32_t turn)
{
	uint32_t *stack = MEM_NEW(g->n_nodes + 1, uint32_t), n = 0, n_sources, room;
	const uint32_t *source;
	bool found = false;

	stack[n++] = v;
	mark[v] = turn;
	while (n && !found) {
		uint32_t u = stack[--n];
		if (p[u].weight != NONE) {
			found = p[u].split == SPLIT_COLUMNS;
			continue;
		}
		n_sources = behind_sources(g, u, &room, &source);
		for (uint32_t k = 0; k < n_sources; k++) {
			if (mark[source[k]] != turn)
				stack[n++] = source[k];
			mark[source[k]] = turn;
		}
	}
	mem_free(stack);
	return found;
}

/* Finds the first product of each weight. */
static void find_products(const struct space *s, struct product *p)
{
	const struct graph *g = s->graph;
	uint8_t *taken = MEM_NEW(g->n_nodes + 1, uint8_t);
	struct view view;

	for (uint32_t v = 0; v < g->n_nodes; v++) {
		p[v].weight = NONE;
		if (!node_is_compiled(g, v) || (g->node[v].opcode != OP_DOT && g->node[v].opcode != OP_CONVOLUTION))
			continue;
		for (uint32_t k = 0; k < 2 && p[v].weight == NONE; k++)
			if (behind(g, node_operands(g, v)[k], &view) && !taken[view.node] &&
				purpose_of(s, view.node)->role == FOR_WEIGHT) {
				p[v] = (struct product){.weight = view.node, .operand = k, .view = view};
				taken[view.node] = 1;
			}
	}
	mem_free(taken);
}

void shard_pairs(const struct space *s, int8_t *dim, uint32_t parts)
{
	const struct graph *g = s->graph;
	struct product *p = MEM_NEW(g->n_nodes + 1, struct product);
	uint32_t *mark = MEM_NEW(g->n_nodes + 1, uint32_t);

	memset(dim, -1, g->n_nodes);
	find_products(s, p);
	for (uint32_t v = 0; v < g->n_nodes; v++) {
		bool rows;
		if (p[v].weight == NONE)
			continue;
		rows = meets_columns(g, p, node_operands(g, v)[1 - p[v].operand], mark, v + 1);
		dim[p[v].weight] = find_dim(s, v, &p[v], rows ? SPLIT_ROWS : SPLIT_COLUMNS, parts);
		p[v].split = dim[p[v].weight] < 0 ? SPLIT_NONE : rows ? SPLIT_ROWS : SPLIT_COLUMNS;
	}
	mem_free(p);
	mem_free(mark);
}

void shard_experts(const struct space *s, int8_t *dim, uint32_t parts)
{
	struct product *p = MEM_NEW(s->graph->n_nodes + 1, struct product);

	memset(dim, -1, s->graph->n_nodes);
	find_products(s, p);
	for (uint32_t v = 0; v < s->graph->n_nodes; v++)
		if (p[v].weight != NONE)
			dim[p[v].weight] = find_dim(s, v, &p[v], SPLIT_EXPERTS, parts);
	mem_free(p);
}
