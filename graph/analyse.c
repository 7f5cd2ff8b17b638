/*
 * analyse.c - computes what follows from the arrays: roles, how often things run, operations.
 *
 * One pass goes from callers to callees (from the last computation to the first): each computation
 * learns what it is for and how often it runs. Then a pass from callees to callers computes how many
 * operations each node takes (work.c).
 */
#include <math.h>
#include "graph/own.h"
#include "graph/turns.h"
#include "graph/work.h"
#include "hlo/shape.h"

#define TRIPS_LIMIT 1e30 /* loops in loops in loops must not multiply to infinity */

static void measure_node(struct node *n)
{
	const Hlo__ShapeProto *s = n->proto->shape;
	shape_size(s, &n->elements, &n->bytes);
	n->dtype = (uint8_t)s->element_type;
	n->rank = (uint8_t)s->n_dimensions;
	if (n->opcode == OP_CUSTOM_CALL ? n->proto->custom_call_has_side_effect :
					  opcode_facts(n->opcode)->flags & SIDE_EFFECT)
		n->flags |= NODE_SIDE_EFFECT;
	if (n->opcode == OP_CONSTANT && n->elements == 1 && n->dtype != DT_TUPLE)
		n->flags |= NODE_SCALAR_CONST;
}

/* The role that one of its callers gives to a computation. */
static enum comp_role role_called(uint16_t opcode, enum comp_role caller)
{
	if (opcode == OP_FUSION && caller != ROLE_APPLIED)
		return ROLE_FUSED;
	if (caller == ROLE_APPLIED || caller == ROLE_FUSED)
		return ROLE_APPLIED;
	return opcode == OP_WHILE || opcode == OP_CONDITIONAL || opcode == OP_CALL ||
			       opcode == OP_ASYNC_START ?
		       ROLE_CONTROL :
		       ROLE_APPLIED;
}

/* A computation with callers of several kinds is compiled as a program if any of them needs that. */
static void spread_roles(struct graph *g)
{
	for (uint32_t c = 0; c < g->n_comps; c++) {
		g->comp[c].role = ROLE_DEAD;
		g->comp[c].caller = NONE;
	}
	g->comp[g->entry].role = ROLE_ENTRY;
	for (uint32_t c = g->entry + 1; c-- > 0;) {
		const struct comp *from = &g->comp[c];
		for (uint32_t v = from->first; v < from->first + from->n_nodes; v++)
			for (uint32_t k = 0; k < g->node[v].n_called; k++) {
				struct comp *to = &g->comp[node_calls(g, v)[k]];
				enum comp_role role = role_called(g->node[v].opcode, from->role);
				if (role < to->role)
					to->role = (uint8_t)role;
				if (to->n_callers++ == 0 || v < to->caller)
					to->caller = v;
			}
	}
}

/* How often a node that runs once runs the k-th computation that it calls. A condition runs once more than its body. */
static double runs_once(const struct node *n, uint32_t k)
{
	if (n->opcode == OP_WHILE && n->trip_count >= 0)
		return n->trip_count + k;
	if (n->opcode == OP_CONDITIONAL && turns_noted(n->proto, k) >= 0)
		return turns_noted(n->proto, k);
	return 1;
}

/* Needs trip counts, which need roles and callers. */
static void spread_trips(struct graph *g)
{
	for (uint32_t c = 0; c < g->n_comps; c++)
		g->comp[c].trips_known = true;
	g->comp[g->entry].trips = 1;
	for (uint32_t c = g->entry + 1; c-- > 0;) {
		const struct comp *from = &g->comp[c];
		for (uint32_t v = from->first; v < from->first + from->n_nodes; v++) {
			const struct node *n = &g->node[v];
			bool unknown = n->opcode == OP_WHILE && n->trip_count < 0 && from->trips > 0;
			for (uint32_t k = 0; k < n->n_called; k++) {
				struct comp *to = &g->comp[node_calls(g, v)[k]];
				to->trips = fmin(to->trips + from->trips * runs_once(n, k), TRIPS_LIMIT);
				to->trips_known &= from->trips_known && !unknown;
			}
		}
	}
	for (uint32_t c = g->entry + 1; c < g->n_comps; c++)
		g->comp[c].trips = 1;
}

/* Callees first: what calls a computation with side effects has them too. */
static void spread_side_effects(struct graph *g)
{
	uint8_t *has = MEM_NEW(g->n_comps, uint8_t);
	for (uint32_t v = 0; v < g->n_nodes; v++) {
		struct node *n = &g->node[v];
		for (uint32_t k = 0; k < n->n_called; k++)
			if (has[node_calls(g, v)[k]])
				n->flags |= NODE_SIDE_EFFECT;
		has[n->comp] |= (n->flags & NODE_SIDE_EFFECT) != 0;
	}
	mem_free(has);
}

void graph_analyse(struct graph *g)
{
	for (uint32_t v = 0; v < g->n_nodes; v++)
		measure_node(&g->node[v]);
	spread_roles(g);
	spread_side_effects(g);
	graph_loops(g);
	spread_trips(g);
	graph_applied(g);
	graph_work(g);
}
