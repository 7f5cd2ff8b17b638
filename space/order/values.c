/*
 * values.c - unites the names of each buffer by union and find.
 */
#include "space/order/values.h"

#include <string.h>
#include "hlo/shape.h"
#include "space/order/own.h"

#define POINTER 8 /* bytes that a table needs for each element */

static const struct {
	const char *backend;
	uint32_t align;
} heaps[] = {
#define HEAP(backend, align) {backend, align},
#include "schemas/heap.def"
};

uint32_t values_alignment(const char *backend)
{
	size_t n = backend ? strcspn(backend, ":") : 0; /* a target may be named behind it */

	for (size_t i = 0; i < sizeof heaps / sizeof *heaps; i++)
		if (strlen(heaps[i].backend) == n && memcmp(heaps[i].backend, backend, n) == 0)
			return heaps[i].align;
	return heaps[0].align;
}

uint64_t values_rounded(const struct values *v, uint64_t bytes)
{
	return (bytes + v->align - 1) / v->align * v->align;
}

static uint32_t find(uint32_t *parent, uint32_t name)
{
	while (parent[name] != name)
		name = parent[name] = parent[parent[name]];
	return name;
}

static void unite(uint32_t *parent, uint32_t a, uint32_t b)
{
	a = find(parent, a);
	b = find(parent, b);
	parent[a > b ? a : b] = a < b ? a : b;
}

uint32_t values_of(const struct values *v, uint32_t name)
{
	return find(v->parent, name);
}

uint32_t values_life(const struct values *v, uint32_t name)
{
	return find(v->life, name);
}

enum tie {
	NOTHING,
	RENAMED,   /* the same array by another name */
	REWRITTEN, /* another array in the same buffer, which takes its place at once: they share a life */
	CARRIED	   /* another array in the same buffer, which may come later: another life */
};

static void join(struct values *v, uint32_t a, uint32_t b, enum tie tie)
{
	unite(v->parent, a, b);
	if (tie != CARRIED)
		unite(v->life, a, b);
	if (tie != RENAMED)
		v->several[a] = true;
}

/* Returns the number of names of a shape. A tuple has one for its table and then those of its elements. */
static uint32_t names_of(const Hlo__ShapeProto *s)
{
	return (uint32_t)shape_leaves(s) + shape_tuples(s);
}

static uint32_t n_leaves(const struct values *v, uint32_t node)
{
	return v->leaf[node + 1] - v->leaf[node];
}

bool values_array(const struct values *v, uint32_t node)
{
	return n_leaves(v, node) == 1 && !v->table[v->leaf[node]];
}

/* Joins the names of node `to` from number `at` on with those of node `from` from number `skip` on, while both last. */
static void join_all(struct values *v, uint32_t to, uint32_t at, uint32_t from, uint32_t skip,
	enum tie tie)
{
	for (uint32_t i = 0; at + i < n_leaves(v, to) && skip + i < n_leaves(v, from); i++)
		join(v, v->leaf[to] + at + i, v->leaf[from] + skip + i, tie);
}

static void set_leaf_bytes(struct values *v, const Hlo__ShapeProto *s, uint32_t *next)
{
	uint64_t elements = 0, bytes = 0;

	if (s->element_type == DT_TUPLE) {
		v->table[*next] = true;
		v->bytes[(*next)++] = s->n_tuple_shapes * POINTER;
		for (size_t i = 0; i < s->n_tuple_shapes; i++)
			set_leaf_bytes(v, s->tuple_shapes[i], next);
		return;
	}
	shape_size(s, &elements, &bytes);
	v->bytes[(*next)++] = bytes;
}

/*
 * Joins n operands of a node, from operand `first` on, with the parameters of a computation; unless `result` is
 * NOTHING, also joins the computation's root with the node.
 */
static void join_call(struct values *v, uint32_t node, uint32_t comp, uint32_t first, uint32_t n, enum tie given,
	enum tie result)
{
	const struct graph *g = v->graph;

	for (uint32_t k = 0; k < n; k++) {
		uint32_t p = order_parameter(g, comp, k);
		if (p != NONE)
			join_all(v, p, 0, node_operands(g, node)[first + k], 0, given);
	}
	if (result != NOTHING)
		join_all(v, node, 0, g->comp[comp].root, 0, result);
}

/* Returns the number of names of the first n nodes in a list. */
static uint32_t leaves_before(const struct values *v, const uint32_t *node, uint32_t n)
{
	uint32_t leaves = 0;

	for (uint32_t k = 0; k < n; k++)
		leaves += n_leaves(v, node[k]);
	return leaves;
}

static void join_element(struct values *v, uint32_t node)
{
	const struct graph *g = v->graph;
	uint32_t from = node_operands(g, node)[0];
	const Hlo__ShapeProto *s = g->node[from].proto->shape;
	size_t index = (size_t)g->node[node].proto->tuple_index;
	uint32_t skip = 1; /* the tuple's table */

	for (size_t i = 0; i < index && i < s->n_tuple_shapes; i++)
		skip += names_of(s->tuple_shapes[i]);
	join_all(v, node, 0, from, skip, RENAMED);
}

static void join_inside(struct values *v, uint32_t node)
{
	const struct graph *g = v->graph;
	const struct node *n = &g->node[node];
	uint32_t root = g->comp[node_calls(g, node)[0]].root;
	bool several = g->node[root].opcode == OP_TUPLE;

	for (uint32_t k = 0; k + several < n_leaves(v, node); k++) {
		uint32_t made = !several ? root : k < g->node[root].n_operands ? node_operands(g, root)[k] : NONE;
		int64_t operand = made == NONE ? -1 : order_in_place(g, made);
		if (operand >= 0 && operand < n->n_operands && values_array(v, node_operands(g, node)[operand]))
			join(v, v->leaf[node] + k + several, v->leaf[node_operands(g, node)[operand]], REWRITTEN);
	}
}

static void join_calls(struct values *v, uint32_t node)
{
	const struct graph *g = v->graph;
	const struct node *n = &g->node[node];
	const uint32_t *called = node_calls(g, node);

	switch (n->opcode) {
	case OP_WHILE:
		join_all(v, node, 0, node_operands(g, node)[0], 0, CARRIED);
		join_call(v, node, called[0], 0, 1, CARRIED, CARRIED);
		join_call(v, node, called[1], 0, 1, CARRIED, NOTHING);
		break;
	case OP_CONDITIONAL:
		for (uint32_t k = 0; k < n->n_called && k + 1 < n->n_operands; k++)
			join_call(v, node, called[k], k + 1, 1, RENAMED, CARRIED);
		break;
	case OP_CALL:
		join_call(v, node, called[0], 0, n->n_operands, RENAMED, RENAMED);
		break;
	case OP_FUSION:
		if (n->n_called == 1)
			join_inside(v, node);
		break;
	}
}

static void join_names(struct values *v, uint32_t node)
{
	const struct graph *g = v->graph;
	const struct node *n = &g->node[node];

	switch (n->opcode) {
	case OP_TUPLE:
		for (uint32_t k = 0; k < n->n_operands; k++)
			join_all(v, node, 1 + leaves_before(v, node_operands(g, node), k), node_operands(g, node)[k], 0,
				RENAMED);
		break;
	case OP_GET_TUPLE_ELEMENT:
		join_element(v, node);
		break;
	case OP_BITCAST:
	case OP_OPTIMIZATION_BARRIER:
	case OP_DOMAIN:
	case OP_ADD_DEPENDENCY:
		join_all(v, node, 0, node_operands(g, node)[0], 0, RENAMED);
		break;
	case OP_DYNAMIC_UPDATE_SLICE:
		join_all(v, node, 0, node_operands(g, node)[0], 0, REWRITTEN);
		break;
	case OP_SCATTER:
		for (uint32_t k = 0, table = !values_array(v, node); k + table < n_leaves(v, node) && k < n->n_operands;
			k++)
			join_all(v, node, k + table, node_operands(g, node)[k], 0, REWRITTEN);
		break;
	default:
		join_calls(v, node);
	}
}

static void find_names(struct values *v)
{
	const struct graph *g = v->graph;
	uint32_t next = 0;

	v->leaf = MEM_NEW(g->n_nodes + 1, uint32_t);
	for (uint32_t i = 0; i < g->n_nodes; i++) {
		const Hlo__ShapeProto *s = g->node[i].proto->shape;
		bool ours = order_compiled(g, g->node[i].comp);
		v->leaf[i + 1] = v->leaf[i] + (ours ? names_of(s) : 0);
	}
	v->n = v->leaf[g->n_nodes];
	v->parent = MEM_NEW(v->n, uint32_t);
	v->life = MEM_NEW(v->n, uint32_t);
	v->several = MEM_NEW(v->n, bool);
	v->bytes = MEM_NEW(v->n, uint64_t);
	v->home = MEM_NEW(v->n, uint32_t);
	v->outside = MEM_NEW(v->n, bool);
	v->table = MEM_NEW(v->n, bool);
	v->number = MEM_NEW(v->n, uint32_t);
	for (uint32_t i = 0; i < v->n; i++) {
		v->parent[i] = v->life[i] = i;
		v->number[i] = NONE;
	}
	for (uint32_t i = 0; i < g->n_nodes; i++) {
		if (!order_compiled(g, g->node[i].comp))
			continue;
		set_leaf_bytes(v, g->node[i].proto->shape, &next);
		join_names(v, i);
	}
}

/*
 * Returns the name that an index into a shape leads to; the names of the shape begin at `at`. NONE: it leads nowhere.
 */
static uint32_t leaf_at(const Hlo__ShapeProto *s, const int64_t *index, size_t n, uint32_t at)
{
	for (size_t d = 0; d < n; d++) {
		if (s->element_type != DT_TUPLE || index[d] < 0 || (size_t)index[d] >= s->n_tuple_shapes)
			return NONE;
		at++;
		for (int64_t i = 0; i < index[d]; i++)
			at += names_of(s->tuple_shapes[i]);
		s = s->tuple_shapes[index[d]];
	}
	return s->element_type == DT_TUPLE ? NONE : at;
}

/* Joins results with the parameters whose memory they are to take, because the caller gives it away. */
static void join_donated(struct values *v)
{
	const struct graph *g = v->graph;
	const Hlo__HloInputOutputAliasProto *a = g->module->input_output_alias;
	uint32_t root = g->comp[g->entry].root;

	for (size_t i = 0; a && i < a->n_entries; i++) {
		const Hlo__AliasEntry *e = a->entries[i];
		uint32_t param = order_parameter(g, g->entry, e->parameter_number), from, to;
		if (param == NONE)
			continue;
		from = leaf_at(g->node[param].proto->shape, e->parameter_shape_index, e->n_parameter_shape_index,
			v->leaf[param]);
		to = leaf_at(g->node[root].proto->shape, e->output_shape_index, e->n_output_shape_index, v->leaf[root]);
		if (from != NONE && to != NONE)
			join(v, to, from, CARRIED);
	}
}

/*
 * Finds the home of each life, and marks buffers that are not in temporary memory. Callers are numbered after callees,
 * so the last computation in which a life has a name is the outermost, its home.
 */
static void place_values(struct values *v)
{
	const struct graph *g = v->graph;

	for (uint32_t i = 0; i < g->n_nodes; i++) {
		bool out = g->comp[g->entry].root == i || g->node[i].opcode == OP_CONSTANT ||
			(g->node[i].opcode == OP_PARAMETER && g->node[i].comp == g->entry);
		for (uint32_t k = v->leaf[i]; k < v->leaf[i + 1]; k++) {
			uint32_t x = values_of(v, k);
			v->home[values_life(v, k)] = g->node[i].comp;
			v->several[x] |= v->several[k];
			v->outside[x] |= out;
			v->bytes[x] = v->bytes[k] > v->bytes[x] ? v->bytes[k] : v->bytes[x];
		}
	}
}

uint64_t values_tables(const struct values *v)
{
	uint64_t bytes = 0;

	for (uint32_t k = 0; k < v->n; k++)
		if (v->table[k] && values_of(v, k) == k && !v->outside[k])
			bytes += values_rounded(v, v->bytes[k]);
	return bytes;
}

void values_name(struct values *v, const struct graph *g, uint32_t align)
{
	*v = (struct values){.graph = g, .align = align};
	find_names(v);
	join_donated(v);
	place_values(v);
}

void values_release(struct values *v)
{
	for (uint32_t c = 0; v->line && c < v->graph->n_comps; c++)
		line_release(&v->line[c]);
	mem_free(v->leaf);
	mem_free(v->parent);
	mem_free(v->life);
	mem_free(v->several);
	mem_free(v->bytes);
	mem_free(v->home);
	mem_free(v->outside);
	mem_free(v->table);
	mem_free(v->number);
	mem_free(v->line);
	*v = (struct values){0};
}
