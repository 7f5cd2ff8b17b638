/*
 * reduction.c - see reduction.h.
 *
 * Sort the operand's dimensions from the slowest in memory to the fastest. A run is a sequence of folded dimensions, or
 * of kept ones. With at most three runs a reduction has one of two forms, and only the sizes of the runs matter:
 *
 *	rows	  the fastest run is folded: the threads lie along it
 *	columns	  the fastest run is kept: the threads lie along it, and each folds along the run before
 *
 * At these thresholds XLA:GPU (2026) generates a reduction instead of a loop.
 */
#include "graph/reduction.h"

#define THREADS 32
#define MOST_RUNS 4 /* one more than threads can share */

struct run {
	bool folded;
	uint64_t size;
};

uint64_t reduction_folds(const struct graph *g, uint32_t v)
{
	const struct node *n = &g->node[v];
	uint64_t in;

	if (n->opcode != OP_REDUCE || n->n_operands != 2 || n->elements == 0)
		return 1;
	in = g->node[node_operands(g, v)[0]].elements;
	return in > n->elements ? in / n->elements : 1;
}

/* Finds the runs of the operand, slowest first; returns their number, at most MOST_RUNS. */
static uint32_t find_runs(const Hlo__HloInstructionProto *reduce, const Hlo__ShapeProto *in, struct run *out)
{
	const Hlo__Layout *layout = in->layout;
	uint32_t n = 0;

	for (size_t i = in->n_dimensions; i-- > 0;) {
		bool stated = layout && layout->n_minor_to_major == in->n_dimensions;
		int64_t at = stated ? layout->minor_to_major[i] : (int64_t)(in->n_dimensions - 1 - i);
		bool folded = false;
		if (at < 0 || (size_t)at >= in->n_dimensions)
			return MOST_RUNS;
		for (size_t k = 0; k < reduce->n_dimensions; k++)
			folded |= reduce->dimensions[k] == at;
		if (n == 0 || out[n - 1].folded != folded) {
			if (n == MOST_RUNS)
				return n;
			out[n++] = (struct run){folded, 1};
		}
		out[n - 1].size *= (uint64_t)in->dimensions[at];
	}
	return n;
}

static bool rows_are_shared(uint64_t size)
{
	return size >= THREADS || (size && THREADS % size == 0);
}

static bool columns_are_shared(uint64_t along, uint64_t across)
{
	return along >= 8 * THREADS || (along >= 4 * THREADS && across >= 3) || (along >= 2 * THREADS && across >= 8) ||
	       (along >= THREADS && across >= THREADS);
}

bool reduction_is_shared(const struct graph *g, uint32_t v)
{
	struct run run[MOST_RUNS];
	uint32_t n, last;
	uint64_t size;

	if (g->node[v].opcode != OP_REDUCE || g->node[v].n_operands != 2)
		return false;
	n = find_runs(g->node[v].proto, g->node[node_operands(g, v)[0]].proto->shape, run);
	if (n == 0 || n == MOST_RUNS)
		return false;
	last = n - 1;
	if (!run[last].folded)
		return n > 1 && columns_are_shared(run[last - 1].size, run[last].size);
	size = run[last].size;
	if (n == 3 && run[1].size == 1) /* the kept run has one element: it is one folded run */
		size *= run[0].size;
	return rows_are_shared(size);
}

bool reduction_is_put(const struct graph *g, uint32_t v)
{
	switch (g->node[v].opcode) {
	case OP_CONCATENATE:
	case OP_DYNAMIC_UPDATE_SLICE:
	case OP_PAD:
	case OP_SCATTER:
	case OP_TUPLE:
		return true;
	}
	return false;
}
