/*
 * shash.c - structural hashes: equal where two nodes compute the same value.
 *
 * Names and ids are renumbered by every pass, so what a node is can only be told by what it does and
 * what it reads: a local hash of the instruction (attr.h), mixed with its operands' hashes, bottom-up.
 *
 * A computation that one caller runs is walked when its caller is: only then is known what its
 * parameters stand for. Inside a fusion they are the fusion's operands, and the fusion is its root,
 * so a fusion leaves no trace, also where it lies in what is applied. Elsewhere (loops, branches,
 * calls) a parameter stands for the caller, the place among what it calls, and its number; the
 * caller's hash then takes in the roots of what it runs. A computation with several callers is walked
 * once, its parameters standing for themselves.
 *
 * The depth of this recursion is that of calls, at most CALL_DEPTH.
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

/* Two or more operands whose order does not matter: sorted, for two. */
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

/* What a computation does, by content: parameters by number, or as `operands` where a fusion gives them. */
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

/* Applied computations, callees first. The compiler fuses inside them too, and that leaves no trace either. */
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

/* The inside value that a result of a multi-output fusion is, or NONE. */
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

/* A node that runs computations: first itself, for their parameters, then with what they return. */
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
