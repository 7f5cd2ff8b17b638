/*
 * share.c - finds the instructions that work in place, by XLA's rules.
 *
 * An update of a slice always works in place, alone or as the root of a fusion; the copies that this needs are in the
 * program already. Other instructions may work in place if they are the last reader of an operand:
 *
 *	an operation that makes element i of its result from element i of an operand of the same shape, but not a plain
 *		copy;
 *	a loop fusion in which all instructions from that parameter to the root are such operations;
 *	a sort, which may sort each of its operands where it is.
 */
#include "space/order/own.h"

uint32_t order_parameter(const struct graph *g, uint32_t comp, int64_t number)
{
	for (uint32_t v = g->comp[comp].first; v < g->comp[comp].first + g->comp[comp].n_nodes; v++)
		if (g->node[v].opcode == OP_PARAMETER && g->node[v].proto->parameter_number == number)
			return v;
	return NONE;
}

/* Follows instructions that only give a value another name, back to the one that makes it. */
static uint32_t source(const struct graph *g, uint32_t v)
{
	while (g->node[v].opcode == OP_BITCAST || g->node[v].opcode == OP_GET_TUPLE_ELEMENT)
		v = node_operands(g, v)[0];
	return v;
}

int64_t order_in_place(const struct graph *g, uint32_t made)
{
	made = source(g, made);
	if (g->node[made].opcode != OP_DYNAMIC_UPDATE_SLICE && g->node[made].opcode != OP_SCATTER)
		return -1;
	made = source(g, node_operands(g, made)[0]);
	return g->node[made].opcode == OP_PARAMETER ? g->node[made].proto->parameter_number : -1;
}

/* Have both values the same dimensions and the same layout? Their types may differ, but not the size of an element. */
static bool alike(const struct graph *g, uint32_t a, uint32_t b)
{
	const Hlo__ShapeProto *x = g->node[a].proto->shape, *y = g->node[b].proto->shape;
	const Hlo__Layout *p = x->layout, *q = y->layout;

	if (x->n_dimensions != y->n_dimensions || x->element_type != y->element_type)
		return false;
	for (size_t i = 0; i < x->n_dimensions; i++)
		if (x->dimensions[i] != y->dimensions[i])
			return false;
	if (!p || !q || p->n_minor_to_major != q->n_minor_to_major)
		return p == q;
	for (size_t i = 0; i < p->n_minor_to_major; i++)
		if (p->minor_to_major[i] != q->minor_to_major[i])
			return false;
	return true;
}

static bool elementwise(const struct graph *g, uint32_t v)
{
	return opcode_facts(g->node[v].opcode)->class == CLASS_ELEMENTWISE || g->node[v].opcode == OP_COPY;
}

/*
 * Do all instructions from v to the root make element i from element i? Types on the way may differ. Each is looked at
 * once, because there may be more paths than anybody could follow.
 */
static bool leads_to_root(const struct graph *g, uint32_t v)
{
	const struct comp *c = &g->comp[g->node[v].comp];
	uint32_t *open = MEM_NEW(c->n_nodes, uint32_t), n = 0;
	bool *met = MEM_NEW(c->n_nodes, bool), good = true;

	open[n++] = v;
	while (n && good) {
		uint32_t from = open[--n];
		for (uint32_t k = 0; k < g->node[from].n_users && good; k++) {
			uint32_t u = node_users(g, from)[k];
			if (g->node[u].opcode == OP_TUPLE || met[u - c->first])
				continue;
			met[u - c->first] = true;
			good = elementwise(g, u);
			open[n++] = u;
		}
	}
	mem_free(open);
	mem_free(met);
	return good;
}

/* May a sort write over this operand? It may if nothing else reads it. */
static bool sorts_over(const struct graph *g, uint32_t node, uint32_t operand)
{
	uint32_t from = node_operands(g, node)[operand], times = 0;

	for (uint32_t k = 0; k < g->node[node].n_operands; k++)
		times += node_operands(g, node)[k] == from;
	for (uint32_t k = 0; k < g->node[from].n_users; k++)
		times += node_users(g, from)[k] != node;
	return times == 1;
}

bool order_may_share(const struct graph *g, uint32_t node, uint32_t operand)
{
	const struct node *n = &g->node[node];
	uint32_t from = node_operands(g, node)[operand], inside;

	if (n->opcode == OP_SORT)
		return sorts_over(g, node, operand);

	if (!alike(g, node, from) || n->opcode == OP_COPY)
		return false;
	if (n->opcode != OP_FUSION)
		return elementwise(g, node);
	if (n->n_called != 1)
		return false;
	inside = order_parameter(g, node_calls(g, node)[0], operand);
	return inside != NONE && leads_to_root(g, inside);
}
