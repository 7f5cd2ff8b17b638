/*
 * around.c - what belongs to the place of a product besides the product.
 *
 * The compiler makes one of a product and a transposition that reads it: it multiplies in the other order. A rewriting
 * that writes the product in another way mostly keeps the two apart. Then the transposition goes into the kernels that
 * read it, and these read their operand across. Neither is seen where the product is cut out alone. (In the training
 * step of an LSTM, two products in a loop with their sides turned were 0.8% of the program dearer by the product alone,
 * 17 to 25% with what reads them, and 13 to 18% in truth; six other choices 0.5 to 1.7%, 2 to 12%, and 1 to 10%.)
 *
 * So the transposition and all that reads it belong to the place, if each reader would be one kernel with it or is a
 * result of the program. If any is not, none of them belongs to it. The transposition alone would mislead. As a result
 * it is a kernel of its own on one side and a part of the product on the other; with its readers it is neither.
 */
#include "space/rewrite/cut.h"

#define MOST_READERS 8

static bool is_elementwise(const struct graph *g, uint32_t v)
{
	return opcode_facts(g->node[v].opcode)->class == CLASS_ELEMENTWISE;
}

static void add(struct around *a, uint32_t v)
{
	for (uint32_t i = 0; i < a->n; i++)
		if (a->v[i] == v)
			return;
	if (a->n == AROUND_MOST)
		a->over = true;
	else
		a->v[a->n++] = v;
}

/* Adds what reads a value element by element, or a slice of it so. Returns false if anything else reads it. */
static bool add_readers(const struct graph *g, uint32_t v, bool sliced, struct around *a)
{
	bool all = g->node[v].n_users <= MOST_READERS;

	for (uint32_t k = 0; k < g->node[v].n_users && all; k++) {
		uint32_t u = node_users(g, v)[k];
		bool slice = g->node[u].opcode == OP_SLICE && !sliced;
		if (is_elementwise(g, u) || slice)
			add(a, u);
		else
			all = sliced || g->node[u].opcode == OP_TUPLE;
		if (slice)
			all &= add_readers(g, u, true, a);
	}
	return all;
}

void around_product(const struct graph *g, uint32_t v, struct around *a)
{
	*a = (struct around){0};
	for (uint32_t k = 0; g->node[v].opcode == OP_DOT && k < g->node[v].n_users; k++) {
		uint32_t t = node_users(g, v)[k], before = a->n;
		if (g->node[t].opcode != OP_TRANSPOSE)
			continue;
		add(a, t);
		if (!add_readers(g, t, false, a) || a->over)
			a->n = before;
		a->over = false;
	}
}
