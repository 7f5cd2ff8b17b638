/*
 * live.c - a model of the temporary memory of a compiled program.
 *
 * Instructions run in the graph's order. A value is alive from the instruction that makes it to its last reader. The
 * program needs the most bytes that are alive at once. Instructions that only name other values (tuples, their
 * elements, bitcasts, a loop's state) take no memory and keep those values alive. Arguments, constants and results are
 * not temporary. The inside of a fusion needs nothing. A called computation needs its own most during the call.
 *
 * Real allocators reuse the memory of an operand, pad, and leave holes; this model does not.
 */
#include "device/sim/live.h"

/* Does it make no value of its own: is it only a name for its operands, or not computed in a run? */
static bool names(const struct node *n)
{
	return opcode_is_idle(n->opcode) || n->opcode == OP_GET_TUPLE_ELEMENT || n->opcode == OP_BITCAST ||
		n->opcode == OP_WHILE;
}

/*
 * Finds the last instruction that reads each value of a computation, also by other names; NONE if it is in the result.
 */
static void find_last(const struct graph *g, const struct comp *c, uint32_t *last)
{
	for (uint32_t v = c->first + c->n_nodes; v-- > c->first;) {
		bool name = names(&g->node[v]);
		uint32_t until = v == c->root ? NONE : last[v];

		last[v] = until == 0 ? v : until;
		for (uint32_t k = 0; k < g->node[v].n_operands; k++) {
			uint32_t p = node_operands(g, v)[k], use = name ? last[v] : v;
			last[p] = use > last[p] ? use : last[p];
		}
	}
}

/* The largest need of the computations that an instruction calls. */
static uint64_t of_called(const struct graph *g, uint32_t v, const uint64_t *need)
{
	uint64_t most = 0;

	for (uint32_t k = 0; k < g->node[v].n_called; k++) {
		uint32_t c = node_calls(g, v)[k];
		most = comp_is_compiled(&g->comp[c]) && need[c] > most ? need[c] : most;
	}
	return most;
}

/* `freed` is scratch, all zero before and after: per node, the bytes of which it is the last reader. */
static uint64_t most_alive(const struct graph *g, const struct comp *c, const uint32_t *last, const uint64_t *need,
	uint64_t *freed)
{
	uint64_t alive = 0, most = 0;

	for (uint32_t v = c->first; v < c->first + c->n_nodes; v++) {
		uint64_t now;
		if (!names(&g->node[v]) && last[v] != NONE) {
			alive += g->node[v].bytes;
			freed[last[v]] += g->node[v].bytes;
		}
		now = alive + of_called(g, v, need);
		most = now > most ? now : most;
		alive -= freed[v];
		freed[v] = 0;
	}
	return most;
}

uint64_t live_bytes(const struct graph *g)
{
	uint32_t *last = MEM_NEW(g->n_nodes, uint32_t);
	uint64_t *freed = MEM_NEW(g->n_nodes, uint64_t), *need = MEM_NEW(g->n_comps, uint64_t), bytes;

	for (uint32_t c = 0; c < g->n_comps; c++) /* callees before callers */
		if (comp_is_compiled(&g->comp[c])) {
			find_last(g, &g->comp[c], last);
			need[c] = most_alive(g, &g->comp[c], last, need, freed);
		}
	bytes = need[g->entry];
	mem_free(last);
	mem_free(freed);
	mem_free(need);
	return bytes;
}
