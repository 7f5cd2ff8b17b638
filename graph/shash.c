/*
 * shash.c - structural hashes: equal where two nodes compute the same value.
 *
 * Every pass of the compiler may rename and renumber. So we recognise a node by what it does and what
 * it reads: a local hash of the instruction (attr.h), mixed with its operands' hashes, bottom-up.
 *
 * A computation with one caller is walked together with its caller, because only there do we know what
 * its parameters stand for. Inside a fusion they stand for the fusion's operands, and the fusion stands
 * for its root. So a fusion leaves no trace, not even inside an applied computation. In loops, branches
 * and calls a parameter's hash is made of the caller, the computation's place among those it calls, and
 * the parameter's number; the caller's hash then takes in the roots of what it runs. A computation with
 * several callers is walked once, and its parameters stand for themselves.
 *
 * The recursion is as deep as the calls, at most CALL_DEPTH.
 */
#include <stdlib.h>
#include <string.h>
#include "graph/attr.h"
#include "graph/own.h"

uint64_t node_local_hash(const struct graph *g, uint32_t v, bool with_layout)
{
	struct sink s = {.hash = 0x6e6f6465};
	attr_instruction(&s, g->node[v].proto, ATTR_VALUE, with_layout);
	for (uint32_t k = 0; k < g->node[v].n_called; k++) {
		const struct comp *c = &g->comp[node_calls(g, v)[k]];
		if (c->role == ROLE_APPLIED)
			sink_word(&s, c->applied[with_layout]);
	}
	return s.hash;
}

/* Mixes in the operands' hashes; the two operands of a commutative operation are sorted first. */
static uint64_t mix_operands(const struct graph *g, uint32_t v, uint64_t h, const uint64_t *hash)
{
	const struct node *n = &g->node[v];
	const uint32_t *op = node_operands(g, v);
	if (n->n_operands == 2 && (opcode_facts(n->opcode)->flags & COMMUTES)) {
		uint64_t a = hash[op[0]], b = hash[op[1]];
		return hash_mix(hash_mix(h, a < b ? a : b), a < b ? b : a);
	}
	for (uint32_t k = 0; k < n->n_operands; k++)
		h = hash_mix(h, hash[op[k]]);
	return h;
}

/* The hash of what a computation does. Parameters count by number, or as `operands` if a fusion gives them. */
static uint64_t applied_content(const struct graph *g, const struct comp *c, const uint32_t *operands,
	bool with_layout, uint64_t *hash)
{
	for (uint32_t v = c->first; v < c->first + c->n_nodes; v++) {
		const struct node *n = &g->node[v];
		const struct comp *inside = n->opcode == OP_FUSION ? &g->comp[node_calls(g, v)[0]] : NULL;
		if (operands && n->opcode == OP_PARAMETER)
			hash[v] = hash[operands[n->proto->parameter_number]];
		else if (inside && inside->n_callers == 1)
			hash[v] = applied_content(g, inside, node_operands(g, v), with_layout, hash);
		else
			hash[v] = mix_operands(g, v, node_local_hash(g, v, with_layout), hash);
	}
	return hash[c->root];
}

/* Hashes applied computations, callees first. Fusions inside them leave no trace either. */
void graph_applied(struct graph *g)
{
	uint64_t *hash = MEM_NEW(g->n_nodes, uint64_t);
	for (int layout = 0; layout < 2; layout++)
		for (uint32_t c = 0; c < g->n_comps; c++)
			if (g->comp[c].role == ROLE_APPLIED)
				g->comp[c].applied[layout] = applied_content(g, &g->comp[c], NULL, layout, hash);
	mem_free(hash);
}

struct hasher {
	const struct graph *g;
	uint64_t *hash;
	uint8_t *done; /* per computation */
};

static bool is_single(const struct comp *c)
{
	return c->n_callers == 1 && (c->role == ROLE_FUSED || c->role == ROLE_CONTROL);
}

static uint64_t parameter(const struct hasher *h, uint32_t v)
{
	const struct graph *g = h->g;
	uint32_t comp = g->node[v].comp;
	const struct comp *c = &g->comp[comp];
	int64_t number = g->node[v].proto->parameter_number;
	uint64_t own = node_local_hash(g, v, false);
	if (!is_single(c))
		return own;
	const uint32_t *op = node_operands(g, c->caller);
	if (c->role == ROLE_FUSED)
		return h->hash[op[number]];
	uint32_t place = 0;
	while (node_calls(g, c->caller)[place] != comp)
		place++;
	return hash_mix(hash_mix(own, h->hash[c->caller]), place);
}

/* The node inside a multi-output fusion whose value this get-tuple-element takes, or NONE. */
static uint32_t fused_element(const struct graph *g, uint32_t v)
{
	if (g->node[v].opcode != OP_GET_TUPLE_ELEMENT)
		return NONE;
	uint32_t fusion = node_operands(g, v)[0];
	if (g->node[fusion].opcode != OP_FUSION)
		return NONE;
	const struct comp *c = &g->comp[node_calls(g, fusion)[0]];
	uint64_t i = (uint64_t)g->node[v].proto->tuple_index;
	if (!is_single(c) || g->node[c->root].opcode != OP_TUPLE || i >= g->node[c->root].n_operands)
		return NONE;
	return node_operands(g, c->root)[i];
}

static void walk(struct hasher *h, uint32_t c);

/* Hashes a node that runs computations: first by itself, for their parameters; then with what they return. */
static void walk_calls(struct hasher *h, uint32_t v)
{
	const struct graph *g = h->g;
	for (uint32_t k = 0; k < g->node[v].n_called; k++) {
		uint32_t c = node_calls(g, v)[k];
		if (g->comp[c].role != ROLE_APPLIED && !h->done[c])
			walk(h, c);
	}
	for (uint32_t k = 0; k < g->node[v].n_called; k++) {
		const struct comp *c = &g->comp[node_calls(g, v)[k]];
		if (c->role == ROLE_FUSED && is_single(c))
			h->hash[v] = h->hash[c->root];
		else if (c->role != ROLE_APPLIED)
			h->hash[v] = hash_mix(h->hash[v], h->hash[c->root]);
	}
}

static void walk(struct hasher *h, uint32_t c)
{
	const struct graph *g = h->g;
	h->done[c] = 1;
	for (uint32_t v = g->comp[c].first; v < g->comp[c].first + g->comp[c].n_nodes; v++) {
		uint32_t inside = fused_element(g, v);
		if (g->node[v].opcode == OP_PARAMETER)
			h->hash[v] = parameter(h, v);
		else if (inside != NONE)
			h->hash[v] = h->hash[inside];
		else
			h->hash[v] = mix_operands(g, v, node_local_hash(g, v, false), h->hash);
		if (g->node[v].n_called)
			walk_calls(h, v);
	}
}

void graph_structural_hash(const struct graph *g, uint64_t *hash)
{
	struct hasher h = {g, hash, MEM_NEW(g->n_comps, uint8_t)};
	memset(hash, 0, g->n_nodes * sizeof(*hash));
	for (uint32_t c = 0; c < g->n_comps; c++)
		if (g->comp[c].role == ROLE_APPLIED)
			walk(&h, c);
	walk(&h, g->entry);
	mem_free(h.done);
}
