/*
 * legal.c - says whether a consumer may absorb an operand.
 *
 * Legality is a property of an edge, never of a configuration. Whatever subset of legal edges is chosen,
 * the backend must be able to compute the groups; allow.c says which of them it never makes by itself. The
 * table schemas/fusible.def says which operations take part; this file holds what a table cannot say.
 *
 * These are never absorbed: a result that is not one array of whole bytes; a constant (apply copies scalar ones
 * into each group, the others stay in memory); an instruction with side effects or control dependencies; anything
 * in a computation that is not compiled as a program of its own.
 *
 * On XLA:CPU a product (dot) is neither absorbed nor absorbs, with two exceptions for matrix-vector
 * products. First, an add may absorb a product with a one-dimensional result, if it is the product's only
 * user. The compiler can compute exactly this pair (an output fusion), so such an add absorbs nothing else
 * and nobody absorbs it. An add whose other operand could be absorbed does that instead, and leaves the
 * product alone. Second, a product with a short vector as an operand may be the root of a group, computed
 * element by element. That pays if an operand then need not be written to memory.
 */
#include <string.h>
#include "graph/reduction.h"
#include "space/fusion/own.h"

#define DOT_VECTOR_BYTES 16384 /* a longer vector does not stay in the first-level cache */

#define TILE 16 /* the fewest rows and columns of a tile */
#define MANY 16 /* elements that a reduction folds into one; fewer are cheap to fold again */

enum { DOTS = 1, LIGHT = 2, ONCE = 4, KEEPS = 8, COPIES = 16, OUTSIDE = 32, JOINS = 64, UPDATES = 128,
	LIBRARY = 256 };

struct fusible {
	uint8_t cpu, cuda, tpu; /* the columns of the table */
};
static const struct fusible fusible[OP_COUNT + 1] = {
#define FUSIBLE(op, on_cpu, on_cuda, on_tpu) [OP_##op] = {on_cpu, on_cuda, on_tpu},
#include "schemas/fusible.def"
};

static const struct fusion_rules rules[] = {
#define FUSION_RULES(backend, column, traits) \
	{backend, offsetof(struct fusible, column), ((traits) & DOTS) != 0, ((traits) & LIGHT) != 0, \
		((traits) & ONCE) != 0, ((traits) & KEEPS) != 0, ((traits) & COPIES) != 0, ((traits) & OUTSIDE) != 0, \
		((traits) & JOINS) != 0, ((traits) & UPDATES) != 0, \
		((traits) & LIBRARY) != 0},
#include "schemas/fusible.def"
};

/* A store names a backend with its target ("cuda:h100"). */
const struct fusion_rules *fusion_rules_of(const char *backend)
{
	size_t n = strcspn(backend, ":");

	for (size_t i = 0; i < sizeof rules / sizeof *rules; i++)
		if (strlen(rules[i].backend) == n && memcmp(rules[i].backend, backend, n) == 0)
			return &rules[i];
	return &rules[0];
}

static unsigned role_of(const struct fusion_rules *r, uint16_t opcode)
{
	return ((const uint8_t *)&fusible[opcode])[r->column];
}

bool fusion_takes_part(const struct fusion_rules *r, uint16_t opcode)
{
	return role_of(r, opcode) != 0;
}

bool fusion_groupable(const struct graph *g, uint32_t v)
{
	const struct node *n = &g->node[v];

	if (!node_is_compiled(g, v))
		return false;
	if (n->flags & (NODE_SIDE_EFFECT | NODE_CONTROL | NODE_SCALAR_CONST))
		return false;
	return dtype_bits(n->dtype) > 0 && n->n_called < 2;
}

static bool is_vector_dot(const struct graph *g, uint32_t v)
{
	const struct node *n = &g->node[v];

	return n->opcode == OP_DOT && n->rank <= 1 && n->dtype != DT_C64 && n->dtype != DT_C128 &&
	       (!n->proto->dot_dimension_numbers ||
		       n->proto->dot_dimension_numbers->n_lhs_batch_dimensions == 0);
}

/* Does `add` absorb `dot` as an output fusion? It must be the only user, use it once, and add a plain value. */
static bool output_fuses(const struct graph *g, uint32_t dot, uint32_t add)
{
	const uint32_t *op = node_operands(g, add);
	uint32_t other;

	if (g->node[add].opcode != OP_ADD || !is_vector_dot(g, dot) || g->node[dot].n_users != 1 ||
		node_users(g, dot)[0] != add || op[0] == op[1] || !fusion_groupable(g, dot))
		return false;
	other = op[0] == dot ? op[1] : op[0];
	return !fusion_groupable(g, other) || !(fusible[g->node[other].opcode].cpu & FUSE_PRODUCER);
}

/* The product that this add absorbs as an output fusion, or NONE. */
static uint32_t output_fused_dot(const struct graph *g, uint32_t add)
{
	if (g->node[add].opcode == OP_ADD)
		for (uint32_t i = 0; i < g->node[add].n_operands; i++)
			if (output_fuses(g, node_operands(g, add)[i], add))
				return node_operands(g, add)[i];
	return NONE;
}

static bool is_short_vector(const struct graph *g, uint32_t v)
{
	return g->node[v].rank == 1 && g->node[v].bytes < DOT_VECTOR_BYTES;
}

/* May the product be the root of a group, computed element by element? */
static bool is_dot_root(const struct graph *g, uint32_t dot)
{
	const uint32_t *op = node_operands(g, dot);

	if (!is_vector_dot(g, dot))
		return false;
	if (g->node[dot].n_users == 1 && output_fuses(g, dot, node_users(g, dot)[0]))
		return false;
	return is_short_vector(g, op[0]) || is_short_vector(g, op[1]);
}

/* Would the consumer repeat a large reduction, for each of more elements, or inside another reduction? */
static bool folds_again(const struct graph *g, uint32_t producer, uint32_t consumer)
{
	if (reduction_is_shared(g, producer) && g->node[consumer].elements > g->node[producer].elements &&
		!reduction_is_put(g, consumer))
		return true;
	return reduction_folds(g, producer) >= MANY && reduction_folds(g, consumer) >= MANY;
}

bool fusion_is_decided(const struct graph *g, uint32_t v, uint32_t k)
{
	const uint32_t *op = node_operands(g, v);

	for (uint32_t i = 0; i < k; i++)
		if (op[i] == op[k])
			return false;
	return !(g->node[op[k]].flags & NODE_SCALAR_CONST);
}

/* Does v write over a part of what this operand edge reads, and hand on the rest? */
static bool is_updated(const struct graph *g, uint32_t v, uint32_t e)
{
	const struct node *n = &g->node[v];
	uint32_t updated = n->opcode == OP_DYNAMIC_UPDATE_SLICE ? 1 : n->opcode == OP_SCATTER ? n->n_operands / 2 : 0;

	return e - n->operand < updated;
}

/* Does it put something between elements, and not only around them? */
static bool pads_inside(const struct graph *g, uint32_t v)
{
	const Hlo__PaddingConfig *p = g->node[v].opcode == OP_PAD ? g->node[v].proto->padding_config : NULL;

	for (size_t i = 0; p && i < p->n_dimensions; i++)
		if (p->dimensions[i]->interior_padding)
			return true;
	return false;
}

bool fusion_legal(const struct graph *g, const struct fusion_rules *r, uint32_t consumer, uint32_t e)
{
	uint32_t producer = g->edges[e];
	uint32_t dot = output_fused_dot(g, consumer);

	if (!fusion_groupable(g, producer) || !fusion_groupable(g, consumer))
		return false;
	if (dot != NONE)
		return producer == dot && r->dots;
	if (!(role_of(r, g->node[producer].opcode) & FUSE_PRODUCER) || output_fused_dot(g, producer) != NONE)
		return false;
	if ((r->once && folds_again(g, producer, consumer)) || (r->outside && pads_inside(g, producer)) ||
		(r->updates && is_updated(g, consumer, e)))
		return false;
	if (g->node[consumer].opcode == OP_DOT)
		return is_dot_root(g, consumer) && r->dots;
	return role_of(r, g->node[consumer].opcode) & FUSE_CONSUMER;
}

/* Does it transpose a matrix that is large enough for tiles in shared memory? */
static bool is_tiled_transpose(const struct graph *g, uint32_t v)
{
	const Hlo__HloInstructionProto *p = g->node[v].proto;
	const Hlo__ShapeProto *out = p->shape, *in;
	size_t rank = out->n_dimensions;

	if (g->node[v].opcode != OP_TRANSPOSE || p->n_dimensions != rank || rank < 2 ||
		p->dimensions[rank - 1] == (int64_t)rank - 1)
		return false;
	in = g->node[node_operands(g, v)[0]].proto->shape;
	return in->dimensions[rank - 1] >= TILE && out->dimensions[rank - 1] >= TILE;
}

const char *group_kind(const struct space *s, const struct nodes *members)
{
	const struct graph *g = s->graph;
	bool by_input = fusion_of(s)->by_input;
	uint32_t root = members->v[members->n - 1];

	if (by_input && (g->node[root].opcode == OP_CONCATENATE || g->node[root].opcode == OP_SCATTER ||
		is_tiled_transpose(g, root)))
		return "kInput";
	for (size_t i = 0; i < members->n; i++) {
		uint32_t v = members->v[i];
		if (by_input && reduction_is_shared(g, v))
			return "kInput";
		if (i + 1 < members->n && g->node[v].opcode == OP_DOT)
			return "kOutput";
	}
	return "kLoop";
}

bool group_reads_constants(const struct space *s, const struct nodes *members)
{
	return strcmp(group_kind(s, members), "kOutput") == 0;
}

bool group_is_kernel(const struct graph *g, const struct nodes *members)
{
	return members->n > 1 || !opcode_is_idle(g->node[members->v[0]].opcode);
}
