/*
 * shash.c - structural hashes: equal where two nodes compute the same value.
 *
 * Names and ids are renumbered by every pass, so what a node is can only be told by what it does and
 * what it reads. The local hash is that of the instruction's own message with everything taken out
 * that does not change its value; the structural hash mixes in the operands, bottom-up.
 *
 * Computations are visited callers first, because what a parameter of a loop body or a fusion stands
 * for is known only from its caller; applied computations (reducers) are hashed by content, before
 * their callers, and enter the local hash.
 */
#include <stdlib.h>
#include <string.h>
#include "graph/graph_own.h"

static uint64_t shape_hash(const Hlo__ShapeProto *s, bool with_layout, uint64_t h)
{
	if (!s)
		return h;
	h = hash_mix(h, (uint64_t)s->element_type);
	for (size_t i = 0; i < s->n_dimensions; i++)
		h = hash_mix(h, (uint64_t)s->dimensions[i]);
	for (size_t i = 0; i < s->n_is_dynamic_dimension; i++)
		h = hash_mix(h, (uint64_t)s->is_dynamic_dimension[i]);
	for (size_t i = 0; i < s->n_tuple_shapes; i++)
		h = shape_hash(s->tuple_shapes[i], with_layout, hash_mix(h, i));
	for (size_t i = 0; with_layout && s->layout && i < s->layout->n_minor_to_major; i++)
		h = hash_mix(h, 0x6c61 + (uint64_t)s->layout->minor_to_major[i]);
	return hash_mix(h, s->n_dimensions);
}

/* Attributes, of whatever kind: the message without what is not one, packed. */
static uint64_t attribute_hash(const Hlo__HloInstructionProto *in)
{
	Hlo__HloInstructionProto bare = *in;
	Hlo__Literal literal;
	uint8_t small[512], *p = small;
	size_t n;
	uint64_t h;

	bare.name = bare.opcode = bare.fusion_kind = (char *)protobuf_c_empty_string;
	bare.shape = NULL;
	bare.metadata = NULL;
	bare.sharding = NULL;
	bare.frontend_attributes = NULL;
	bare.statistics_viz = NULL;
	bare.id = 0;
	bare.n_operand_ids = bare.n_control_predecessor_ids = bare.n_called_computation_ids = 0;
	bare.backend_config = (ProtobufCBinaryData){0, NULL};
	if (in->literal) { /* its shape says nothing new, and has a layout */
		literal = *in->literal;
		literal.shape = NULL;
		bare.literal = &literal;
	}
	n = hlo__hlo_instruction_proto__get_packed_size(&bare);
	p = n > sizeof small ? mem_alloc(n) : small;
	n = hlo__hlo_instruction_proto__pack(&bare, p);
	h = hash64(p, n, 0x61747472);
	if (p != small)
		mem_free(p);
	return h;
}

/* The content of an applied computation: parameters by number, everything bottom-up. */
static uint64_t applied_hash(const struct graph *g, uint32_t c, bool with_layout)
{
	const struct comp *comp = &g->comp[c];
	uint64_t *h = mem_alloc(comp->n_nodes * sizeof *h), out;

	for (uint32_t i = 0; i < comp->n_nodes; i++) {
		uint32_t v = comp->first + i;
		h[i] = node_local_hash(g, v, with_layout);
		for (uint32_t k = 0; k < g->node[v].n_operands; k++)
			h[i] = hash_mix(h[i], h[node_operands(g, v)[k] - comp->first]);
	}
	out = h[comp->root - comp->first];
	mem_free(h);
	return out;
}

uint64_t node_local_hash(const struct graph *g, uint32_t v, bool with_layout)
{
	const struct node *n = &g->node[v];
	uint64_t h = hash_mix(0x6e6f6465, n->opcode);

	if (n->opcode == OP_COUNT)
		h = hash_mix(h, hash64(n->proto->opcode, strlen(n->proto->opcode), 0));
	h = shape_hash(n->proto->shape, with_layout, h);
	h = hash_mix(h, attribute_hash(n->proto));
	for (uint32_t k = 0; k < n->n_called; k++)
		if (g->comp[node_calls(g, v)[k]].role == ROLE_APPLIED)
			h = hash_mix(h, applied_hash(g, node_calls(g, v)[k], with_layout));
	return h;
}

static int by_value(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

/* What a parameter stands for, seen from the first caller of its computation. */
static uint64_t parameter_hash(const struct graph *g, uint32_t v, const uint64_t *hash)
{
	const struct comp *c = &g->comp[g->node[v].comp];
	int64_t number = g->node[v].proto->parameter_number;
	uint64_t h = shape_hash(g->node[v].proto->shape, false, hash_mix(0x706172616d, (uint64_t)number));

	if (c->caller == NONE || c->role == ROLE_APPLIED)
		return h;
	if (c->role == ROLE_FUSED && number >= 0 && (uint64_t)number < g->node[c->caller].n_operands)
		return hash[node_operands(g, c->caller)[number]];
	for (uint32_t k = 0; k < g->node[c->caller].n_called; k++)
		if (node_calls(g, c->caller)[k] == g->node[v].comp)
			h = hash_mix(h, k);
	return hash_mix(h, hash[c->caller]);
}

static uint64_t value_hash(const struct graph *g, uint32_t v, const uint64_t *hash)
{
	const struct node *n = &g->node[v];
	uint64_t h, in[2];

	if (n->opcode == OP_PARAMETER)
		return parameter_hash(g, v, hash);
	h = node_local_hash(g, v, false);
	if (n->n_operands == 2 && (opcode_facts(n->opcode)->flags & COMMUTES)) {
		in[0] = hash[node_operands(g, v)[0]];
		in[1] = hash[node_operands(g, v)[1]];
		qsort(in, 2, sizeof in[0], by_value);
		return hash_mix(hash_mix(h, in[0]), in[1]);
	}
	for (uint32_t k = 0; k < n->n_operands; k++)
		h = hash_mix(h, hash[node_operands(g, v)[k]]);
	return h;
}

/* One computation, and the fusions in it, whose values are those of their roots. */
static void hash_comp(const struct graph *g, uint32_t c, uint64_t *hash)
{
	const struct comp *comp = &g->comp[c];

	for (uint32_t v = comp->first; v < comp->first + comp->n_nodes; v++) {
		if (g->node[v].opcode == OP_FUSION && g->comp[node_calls(g, v)[0]].role == ROLE_FUSED &&
			g->comp[node_calls(g, v)[0]].caller == v) {
			uint32_t inside = node_calls(g, v)[0];
			hash_comp(g, inside, hash); /* fused computations call no fused ones: depth 1 */
			hash[v] = hash[g->comp[inside].root];
		} else {
			hash[v] = value_hash(g, v, hash);
		}
	}
}

/* Control computations, callers first: breadth-first along calls from the entry. */
void graph_structural_hash(const struct graph *g, uint64_t *hash)
{
	uint32_t *queue = MEM_NEW(g->n_comps + 1, uint32_t), n = 0;
	uint8_t *seen = MEM_NEW(g->n_comps + 1, uint8_t);

	memset(hash, 0, g->n_nodes * sizeof *hash);
	for (uint32_t c = 0; c < g->n_comps; c++)
		if (g->comp[c].role == ROLE_APPLIED)
			hash_comp(g, c, hash);
	queue[n++] = g->entry;
	seen[g->entry] = 1;
	for (uint32_t i = 0; i < n; i++) {
		const struct comp *c = &g->comp[queue[i]];
		hash_comp(g, queue[i], hash);
		for (uint32_t v = c->first; v < c->first + c->n_nodes; v++)
			for (uint32_t k = 0; k < g->node[v].n_called; k++) {
				uint32_t d = node_calls(g, v)[k];
				if (g->comp[d].role == ROLE_CONTROL && !seen[d]) {
					seen[d] = 1;
					queue[n++] = d;
				}
			}
	}
	mem_free(queue);
	mem_free(seen);
}
