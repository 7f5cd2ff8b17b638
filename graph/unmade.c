/*
 * unmade.c - see unmade.h.
 *
 * Two large reductions may not feed one another: the second would wait for all threads of the first. Nor may the result
 * of a reduction that threads share be repeated for each element, because then each thread would fold everything alone.
 * XLA does repeat the result of a short reduction if another reduction folds it again, because the kernel stays a
 * reduction: that is allowed.
 *
 * A kernel with several results was joined of kernels with one each (multi_output_fusion), some of which read what
 * others give. XLA joins these without looking at their reductions, so each is judged alone: what another one gives
 * comes from memory, as far as it is concerned.
 */
#include "graph/unmade.h"

#include "base/mem.h"
#include "graph/reduction.h"

#define LARGE 16 /* elements folded into one; fewer are folded by the thread that needs the result */

/* What is at or before a node: 1 + a reduction, or 0. */
struct before {
	bool result; /* it is one of several, or may have been */
	uint32_t large;	 /* one of many elements, not repeated yet */
	uint32_t shared; /* the one with most results that threads share, */
	uint64_t room;	 /* ... and how many elements there are if each of its results is used once */
	uint32_t again;	 /* one that is repeated, and was not folded since */
};

/* Do threads share the work of this reduction, which may fold several arrays together? */
static bool is_hero(const struct graph *g, uint32_t v)
{
	return reduction_is_shared(g, v) || (g->node[v].opcode == OP_REDUCE && g->node[v].n_operands > 2);
}

static void collect(const struct graph *g, const struct before *p, struct before *b)
{
	if (p->large)
		b->large = p->large;
	if (p->shared && (!b->shared || g->node[p->shared - 1].elements > g->node[b->shared - 1].elements)) {
		b->shared = p->shared;
		b->room = p->room;
	}
	if (p->again)
		b->again = p->again;
}

/* Returns where v is among the nodes, or n. */
static size_t place_of(const uint32_t *nodes, size_t n, uint32_t v)
{
	size_t low = 0, high = n;

	while (low < high) {
		size_t mid = low + (high - low) / 2;
		if (nodes[mid] < v)
			low = mid + 1;
		else
			high = mid;
	}
	return low < n && nodes[low] == v ? low : n;
}

/*
 * Marks the results of a kernel that has several, and what may have been one: if all who read a result are in the
 * kernel, it is none any more.
 */
static void mark_results(const struct graph *g, const uint32_t *nodes, size_t n, struct before *all)
{
	uint32_t last = n ? nodes[n - 1] : NONE;

	if (!n || g->node[last].opcode != OP_TUPLE)
		return;
	for (size_t i = 0; i + 1 < n; i++)
		all[i].result = g->node[nodes[i]].n_users > 1;
	for (uint32_t k = 0; k < g->node[last].n_operands; k++)
		all[place_of(nodes, n, node_operands(g, last)[k])].result = true;
}

const char *unmade_reduction(const struct graph *g, const uint32_t *nodes, size_t n, uint32_t *at)
{
	struct before *all = MEM_NEW(n + 1, struct before);
	const char *why = NULL;

	mark_results(g, nodes, n, all);
	for (size_t i = 0; i < n && !why; i++) {
		uint32_t v = nodes[i];
		const struct node *node = &g->node[v];
		struct before *b = &all[i];
		for (uint32_t k = 0; k < node->n_operands; k++) {
			size_t p = place_of(nodes, i, node_operands(g, v)[k]);
			if (p < i && !all[p].result)
				collect(g, &all[p], b);
		}
		if (reduction_folds(g, v) >= LARGE) {
			why = b->large ? "a reduction of what another one gives" : NULL;
			*at = b->large ? b->large - 1 : NONE;
			b->large = v + 1;
		}
		if (b->shared && reduction_is_put(g, v))
			b->room = node->elements;
		else if (b->shared && node->elements > b->room)
			b->again = b->shared;
		if (is_hero(g, v)) {
			b->shared = v + 1;
			b->room = node->elements;
			b->again = 0;
		}
		if (!why && b->again && (b->result || i + 1 == n)) {
			*at = b->again - 1;
			why = "a reduction that is done again for each element";
		}
	}
	mem_free(all);
	return why;
}

const char *unmade_fusion(const struct graph *g, const struct comp *c)
{
	size_t n = c->root + 1 - c->first;
	uint32_t *nodes = MEM_NEW(n, uint32_t), at;
	const char *why;

	for (size_t i = 0; i < n; i++)
		nodes[i] = c->first + (uint32_t)i;
	why = unmade_reduction(g, nodes, n, &at);
	mem_free(nodes);
	return why;
}
