/*
 * behind.c - finds what a value was made of, through copies, reshapes, loops and calls.
 *
 * People write the layers of a network as a loop: the weights of all layers are one tensor, [layers, rows, columns],
 * and each turn cuts its part out. So the operand of a product is often no parameter, but a part of one, and it may
 * have passed a tuple, the state of a loop, and a call. Splitting the product by columns still means splitting that
 * parameter. A view says which parameter a value is a part of, and where each dimension of the value lies in it.
 *
 * The state of a loop counts only where a turn passes it on as it is. Where a value is reshaped, several dimensions may
 * become one: they are split as their outermost one is. A dimension that was cut lies nowhere.
 */
#include "space/shard/own.h"

#include <string.h>

#define STEPS_BACK 64

static uint32_t callee_root(const struct graph *g, uint32_t call)
{
	return g->comp[node_calls(g, call)[0]].root;
}

/* Returns the operand that a parameter stands for in a computation that is called once; NONE: that is not so. */
static uint32_t argument_of(const struct graph *g, uint32_t parameter)
{
	const struct comp *c = &g->comp[g->node[parameter].comp];

	if (c->caller == NONE || c->n_callers != 1 || g->node[c->caller].opcode != OP_CALL)
		return NONE;
	return node_operands(g, c->caller)[g->node[parameter].proto->parameter_number];
}

/* Does each turn of the loop pass element k of its state on as it is? */
static bool is_kept(const struct graph *g, uint32_t loop, uint32_t k)
{
	for (uint32_t i = 0; i < g->node[loop].n_called; i++) {
		const struct node *root = &g->node[g->comp[node_calls(g, loop)[i]].root];
		uint32_t part;
		if (root->dtype != DT_TUPLE) /* the condition */
			continue;
		if (root->opcode != OP_TUPLE || k >= root->n_operands)
			return false;
		part = g->edges[root->operand + k];
		if (g->node[part].opcode != OP_GET_TUPLE_ELEMENT || g->node[part].proto->tuple_index != (int64_t)k ||
			g->node[node_operands(g, part)[0]].opcode != OP_PARAMETER)
			return false;
	}
	return true;
}

/*
 * Returns the node that is element k of a tuple; NONE: it is not known. For the state of a loop that is what the loop
 * begins with; if `kept`, only where each turn passes it on.
 */
static uint32_t element(const struct graph *g, uint32_t tuple, uint32_t k, bool kept)
{
	for (int step = 0; step < STEPS_BACK && tuple != NONE; step++) {
		const struct node *n = &g->node[tuple];
		uint32_t caller = g->comp[n->comp].caller;
		switch (n->opcode) {
		case OP_TUPLE:
			return k < n->n_operands ? node_operands(g, tuple)[k] : NONE;
		case OP_OPTIMIZATION_BARRIER:
			tuple = node_operands(g, tuple)[0];
			break;
		case OP_CALL:
			tuple = callee_root(g, tuple);
			break;
		case OP_WHILE:
			tuple = !kept || is_kept(g, tuple, k) ? node_operands(g, tuple)[0] : NONE;
			break;
		case OP_PARAMETER:
			if (caller != NONE && g->node[caller].opcode == OP_WHILE)
				tuple = !kept || is_kept(g, caller, k) ? node_operands(g, caller)[0] : NONE;
			else
				tuple = argument_of(g, tuple);
			break;
		default:
			return NONE;
		}
	}
	return NONE;
}

uint32_t behind_state(const struct graph *g, uint32_t v)
{
	switch (g->node[v].opcode) {
	case OP_GET_TUPLE_ELEMENT:
		return element(g, node_operands(g, v)[0], (uint32_t)g->node[v].proto->tuple_index, false);
	case OP_PARAMETER:
		return argument_of(g, v);
	case OP_CALL:
		return callee_root(g, v);
	default:
		return NONE;
	}
}

uint32_t behind_sources(const struct graph *g, uint32_t v, uint32_t *room, const uint32_t **out)
{
	const struct node *n = &g->node[v];

	*out = room;
	switch (n->opcode) {
	case OP_GET_TUPLE_ELEMENT:
		*room = element(g, node_operands(g, v)[0], (uint32_t)n->proto->tuple_index, true);
		return *room != NONE;
	case OP_PARAMETER:
		*room = argument_of(g, v);
		return *room != NONE;
	case OP_CALL:
		*room = callee_root(g, v);
		return 1;
	case OP_WHILE:
		return 0;
	default:
		*out = node_operands(g, v);
		return n->n_operands;
	}
}

void behind_reshape(const Hlo__ShapeProto *from, const Hlo__ShapeProto *to, int8_t *map)
{
	size_t i = 0, j = 0;

	memset(map, -1, VIEW_RANK * sizeof *map);
	while (i < from->n_dimensions && j < to->n_dimensions) {
		int64_t a = from->dimensions[i], b = to->dimensions[j];
		size_t i0 = i++, j0 = j++;
		while (a != b) {
			if (a < b && i < from->n_dimensions)
				a *= from->dimensions[i++];
			else if (b < a && j < to->n_dimensions)
				b *= to->dimensions[j++];
			else
				return;
		}
		while (i0 + 1 < i && from->dimensions[i0] == 1)
			i0++;
		while (j0 + 1 < j && to->dimensions[j0] == 1)
			j0++;
		if (from->dimensions[i0] > 1 && to->dimensions[j0] > 1)
			map[j0] = (int8_t)i0;
	}
}

/* Changes the places of dimensions from those in node v to those in its operand. */
static void step_back(const struct graph *g, uint32_t v, struct view *w)
{
	const Hlo__HloInstructionProto *p = g->node[v].proto;
	const Hlo__ShapeProto *to = p->shape, *from = g->node[node_operands(g, v)[0]].proto->shape;
	int8_t map[VIEW_RANK];

	memset(map, -1, sizeof map);
	switch (g->node[v].opcode) {
	case OP_TRANSPOSE:
		for (size_t d = 0; d < p->n_dimensions; d++)
			map[d] = (int8_t)p->dimensions[d];
		break;
	case OP_RESHAPE:
		behind_reshape(from, to, map);
		break;
	default:
		for (size_t d = 0; d < to->n_dimensions && d < from->n_dimensions; d++)
			map[d] = from->dimensions[d] == to->dimensions[d] ? (int8_t)d : -1;
	}
	for (size_t d = 0; d < VIEW_RANK; d++)
		w->dim[d] = w->dim[d] < 0 ? -1 : map[w->dim[d]];
}

static bool is_view(const struct node *n)
{
	switch (n->opcode) {
	case OP_CONVERT:
	case OP_COPY:
	case OP_TRANSPOSE:
	case OP_RESHAPE:
	case OP_SLICE:
	case OP_DYNAMIC_SLICE:
		return true;
	case OP_CUSTOM_CALL:
		return n->n_operands == 1 && strcmp(n->proto->custom_call_target, "Sharding") == 0;
	default:
		return false;
	}
}

bool behind(const struct graph *g, uint32_t v, struct view *out)
{
	uint32_t room;
	const uint32_t *source;

	for (size_t d = 0; d < VIEW_RANK; d++)
		out->dim[d] = d < g->node[v].rank ? (int8_t)d : -1;
	for (int step = 0; step < STEPS_BACK; step++) {
		const struct node *n = &g->node[v];
		if (n->rank > VIEW_RANK)
			return false;
		out->node = v;
		if (n->opcode == OP_PARAMETER && n->comp == g->entry)
			return true;
		if (is_view(n)) {
			step_back(g, v, out);
			v = node_operands(g, v)[0];
			continue;
		}
		if ((n->opcode != OP_PARAMETER && n->opcode != OP_GET_TUPLE_ELEMENT && n->opcode != OP_CALL) ||
			behind_sources(g, v, &room, &source) != 1)
			return false;
		v = source[0];
	}
	return false;
}
