/*
 * analyse.c - what follows from the arrays: shapes, roles, how often things run.
 *
 * First every node is held against what its operation needs (operands, called computations,
 * parameters, a shape that fits in a machine), so that nobody later indexes by something that a
 * file made up. Then, callers first (descending computations), each computation learns what it is
 * for and how often it runs; then, callees first, what each node costs (work.c).
 */
#include <stdlib.h>
#include <string.h>
#include "graph/own.h"
#include "graph/work.h"

struct analysis {
	struct graph *g;
	const char *file;
	struct err *err;
	uint32_t *n_params; /* per computation */
};

static int offence(const struct analysis *a, uint32_t v, const char *what)
{
	const struct node *n = &a->g->node[v];
	return err_set(a->err, "%s: instruction %.100s (%.40s) of computation %.100s %s", a->file,
		n->proto->name, n->proto->opcode, a->g->comp[n->comp].proto->name, what);
}

/* Adds elements and bytes of all leaves; false for a shape that no machine holds. */
static bool measure_shape(const Hlo__ShapeProto *s, uint64_t *elements, uint64_t *bytes)
{
	uint64_t n = 1;
	for (size_t i = 0; i < s->n_tuple_shapes; i++)
		if (!measure_shape(s->tuple_shapes[i], elements, bytes))
			return false;
	if (s->element_type <= 0 || s->element_type > UINT8_MAX || s->n_dimensions > RANK_LIMIT)
		return false;
	if (s->element_type == DT_TUPLE || s->element_type == DT_TOKEN || s->element_type == DT_OPAQUE)
		return true;
	for (size_t i = 0; i < s->n_dimensions; i++) {
		int64_t d = s->dimensions[i];
		if (d < 0 || (d > 0 && n > ELEMENT_LIMIT / (uint64_t)d))
			return false;
		n *= (uint64_t)d;
	}
	uint64_t bits = dtype_bits((uint8_t)s->element_type);
	if (s->layout && s->layout->element_size_in_bits > 0 && s->layout->element_size_in_bits <= 128)
		bits = (uint64_t)s->layout->element_size_in_bits;
	*elements += n;
	*bytes += (n * bits + 7) / 8;
	return *elements <= ELEMENT_LIMIT;
}

static int measure_node(const struct analysis *a, uint32_t v)
{
	struct node *n = &a->g->node[v];
	const Hlo__ShapeProto *s = n->proto->shape;
	if (!s)
		return offence(a, v, "has no shape");
	if (!measure_shape(s, &n->elements, &n->bytes))
		return offence(a, v, "has a shape that no machine holds");
	n->dtype = (uint8_t)s->element_type;
	n->rank = (uint8_t)s->n_dimensions;
	if (n->opcode == OP_CUSTOM_CALL ? n->proto->custom_call_has_side_effect :
					  opcode_facts(n->opcode)->flags & SIDE_EFFECT)
		n->flags |= NODE_SIDE_EFFECT;
	if (n->opcode == OP_CONSTANT && n->elements == 1 && n->dtype != DT_TUPLE)
		n->flags |= NODE_SCALAR_CONST;
	return 0;
}

/* The parameters of a computation are numbered 0, 1, ... without gaps. */
static int check_parameters(const struct analysis *a, uint32_t c)
{
	const struct graph *g = a->g;
	const struct comp *comp = &g->comp[c];
	uint32_t n = 0;
	for (uint32_t v = comp->first; v < comp->first + comp->n_nodes; v++)
		n += g->node[v].opcode == OP_PARAMETER;
	uint8_t *seen = MEM_NEW(n, uint8_t);
	int rc = 0;
	for (uint32_t v = comp->first; rc == 0 && v < comp->first + comp->n_nodes; v++) {
		int64_t k = g->node[v].proto->parameter_number;
		if (g->node[v].opcode != OP_PARAMETER)
			continue;
		if (k < 0 || k >= n || seen[k]++)
			rc = offence(a, v, "has a parameter number that is taken or leaves a gap");
	}
	a->n_params[c] = n;
	mem_free(seen);
	return rc;
}

static uint32_t params_of(const struct analysis *a, uint32_t v, uint32_t k)
{
	return a->n_params[node_calls(a->g, v)[k]];
}

/* Calls whose parameters stand for operands: both must be as many. */
static bool calls_fit(const struct analysis *a, uint32_t v)
{
	const struct node *n = &a->g->node[v];
	switch (n->opcode) {
	case OP_FUSION:
	case OP_CALL:
		return n->n_called == 1 && params_of(a, v, 0) == n->n_operands;
	case OP_WHILE:
		return n->n_called == 2 && n->n_operands == 1 && params_of(a, v, 0) == 1 &&
		       params_of(a, v, 1) == 1;
	case OP_CONDITIONAL:
		for (uint32_t k = 0; k < n->n_called; k++)
			if (params_of(a, v, k) != 1)
				return false;
		return n->n_called > 0 && n->n_operands == n->n_called + 1;
	default:
		return true;
	}
}

static int check_node(const struct analysis *a, uint32_t v)
{
	const struct node *n = &a->g->node[v];
	if (n->n_operands < opcode_facts(n->opcode)->operands)
		return offence(a, v, "has too few operands");
	if (!calls_fit(a, v))
		return offence(a, v, "does not fit the computations it calls");
	if (n->opcode == OP_GET_TUPLE_ELEMENT) {
		const Hlo__ShapeProto *s = a->g->node[node_operands(a->g, v)[0]].proto->shape;
		if (n->proto->tuple_index < 0 || (uint64_t)n->proto->tuple_index >= s->n_tuple_shapes)
			return offence(a, v, "takes an element that its tuple does not have");
	}
	if (n->opcode == OP_TUPLE && n->proto->shape->n_tuple_shapes != n->n_operands)
		return offence(a, v, "has a shape of more or fewer elements than operands");
	return 0;
}

static int check(const struct analysis *a)
{
	for (uint32_t c = 0; c < a->g->n_comps; c++)
		if (check_parameters(a, c) < 0)
			return -1;
	for (uint32_t v = 0; v < a->g->n_nodes; v++)
		if (measure_node(a, v) < 0)
			return -1;
	for (uint32_t v = 0; v < a->g->n_nodes; v++)
		if (check_node(a, v) < 0)
			return -1;
	return 0;
}

/* What a computation is for, by one of its callers. */
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
			bool unknown = n->opcode == OP_WHILE && n->trip_count <= 0;
			for (uint32_t k = 0; k < n->n_called; k++) {
				struct comp *to = &g->comp[node_calls(g, v)[k]];
				double rounds = n->opcode == OP_WHILE && !unknown ? n->trip_count + k : 1;
				to->trips += from->trips * rounds; /* a condition is asked once more */
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

int graph_analyse(struct graph *g, const char *file, struct err *err)
{
	struct analysis a = {g, file, err, MEM_NEW(g->n_comps, uint32_t)};
	int rc = check(&a);
	mem_free(a.n_params);
	if (rc < 0)
		return -1;
	spread_roles(g);
	spread_side_effects(g);
	graph_loops(g);
	spread_trips(g);
	graph_applied(g);
	graph_work(g);
	return 0;
}
