/*
 * work.c - counts operations per node.
 *
 * Elementwise operations have a weight per element in schemas/opcode.def. An operation that applies a
 * computation counts its operations once per application. A call counts what it calls, a loop its body
 * and condition times its rounds (1 if unknown), a conditional its branches as often as they are noted to be
 * taken, or else the dearest. The rest have textbook formulas:
 *
 *	dot		2 x results x contracted elements
 *	convolution	2 x results x kernel elements that meet one result
 *	fft		5 n log2 n per transform
 *	cholesky	n^3 / 3 per matrix; triangular solve: n^2 per right-hand side
 *	batch norm	8 per element
 *
 * Computations come callees first, so one pass is enough.
 */
#include "graph/work.h"

#include <math.h>
#include "graph/own.h"
#include "graph/turns.h"

#define WORK_LIMIT 1e30 /* calls of calls of calls must not multiply to infinity */

static const Hlo__ShapeProto *shape_of(const struct graph *g, uint32_t v)
{
	return g->node[v].proto->shape;
}

static double size(const struct graph *g, uint32_t v, int64_t i)
{
	return (double)shape_of(g, v)->dimensions[i];
}

/* Size of the last dimension; 1 where there is none. */
static double last_size(const struct graph *g, uint32_t v)
{
	const Hlo__ShapeProto *s = shape_of(g, v);
	return s->n_dimensions ? (double)s->dimensions[s->n_dimensions - 1] : 1;
}

static double contracted(const struct graph *g, uint32_t v)
{
	const Hlo__DotDimensionNumbers *d = g->node[v].proto->dot_dimension_numbers;
	double k = 1;
	for (size_t i = 0; d && i < d->n_lhs_contracting_dimensions; i++)
		k *= size(g, node_operands(g, v)[0], d->lhs_contracting_dimensions[i]);
	return k;
}

static double kernel_size(const struct graph *g, uint32_t v)
{
	const Hlo__ConvolutionDimensionNumbers *d = g->node[v].proto->convolution_dimension_numbers;
	uint32_t kernel = node_operands(g, v)[1];
	double k = size(g, kernel, d->kernel_input_feature_dimension);
	for (size_t i = 0; i < d->n_kernel_spatial_dimensions; i++)
		k *= size(g, kernel, d->kernel_spatial_dimensions[i]);
	return k;
}

static double fft_work(const struct graph *g, uint32_t v)
{
	const Hlo__HloInstructionProto *in = g->node[v].proto;
	double n = 1;
	for (size_t i = 0; i < in->n_fft_length; i++)
		n *= (double)in->fft_length[i];
	return n > 1 ? 5 * log2(n) * (double)g->node[v].elements : 0;
}

static double heavy(const struct graph *g, uint32_t v)
{
	const struct node *n = &g->node[v];
	const uint32_t *op = node_operands(g, v);
	double results = (double)n->elements;
	switch (n->opcode) {
	case OP_DOT:
	case OP_SCALED_DOT:
		return 2 * results * contracted(g, v);
	case OP_RAGGED_DOT:
		return 2 * results * last_size(g, op[0]);
	case OP_CONVOLUTION:
		return 2 * results * kernel_size(g, v);
	case OP_FFT:
		return fft_work(g, v);
	case OP_CHOLESKY:
		return results * last_size(g, v) / 3;
	case OP_TRIANGULAR_SOLVE:
		return results * last_size(g, op[0]);
	default:
		return 8 * (double)g->node[op[0]].elements;
	}
}

/* How many times the applied computation runs. */
static double applications(const struct graph *g, uint32_t v)
{
	const struct node *n = &g->node[v];
	const uint32_t *op = node_operands(g, v);
	const Hlo__Window *window = n->proto->window;
	double results = (double)n->elements, first = (double)g->node[op[0]].elements, inside = 1;
	for (size_t i = 0; window && i < window->n_dimensions; i++)
		inside *= (double)window->dimensions[i]->size;
	switch (n->opcode) {
	case OP_REDUCE_WINDOW: /* of a tuple: one application gives an element of each part */
		return results * inside / (double)(n->n_operands < 2 ? 1 : n->n_operands / 2);
	case OP_SELECT_AND_SCATTER:
		return (double)g->node[op[1]].elements * (inside + 1);
	case OP_SCATTER:
		return (double)g->node[op[n->n_operands - 1]].elements;
	case OP_SORT: {
		double length = size(g, op[0], n->proto->dimensions[0]);
		return length > 1 ? first * log2(length) : 0;
	}
	default:
		return first;
	}
}

static double called(const struct graph *g, uint32_t v, const double *comp)
{
	const struct node *n = &g->node[v];
	double sum = 0, most = 0, taken = 0;
	for (uint32_t k = 0; k < n->n_called; k++) {
		double inside = comp[node_calls(g, v)[k]];
		sum += inside;
		most = inside > most ? inside : most;
		taken += inside * turns_noted(n->proto, k);
	}
	if (n->opcode == OP_CONDITIONAL)
		return turns_noted(n->proto, 0) < 0 ? most : taken;
	return n->opcode == OP_WHILE && n->trip_count >= 0 ? sum * n->trip_count : sum;
}

static double work(const struct graph *g, uint32_t v, const double *comp)
{
	const struct node *n = &g->node[v];
	const struct opcode_facts *f = opcode_facts(n->opcode);
	double inside;
	switch ((enum opcode_class)f->class) {
	case CLASS_ELEMENTWISE:
		return (double)f->flops * (double)n->elements;
	case CLASS_HEAVY:
		return heavy(g, v);
	case CLASS_APPLY:
		inside = called(g, v, comp);
		return applications(g, v) * (inside > 0 ? inside : 1);
	case CLASS_CALL:
	case CLASS_OUTSIDE:
		return called(g, v, comp);
	case CLASS_MOVE:
	case CLASS_STRUCTURE:
		return 0;
	}
	return 0;
}

void graph_work(struct graph *g)
{
	double *comp = MEM_NEW(g->n_comps, double);
	for (uint32_t v = 0; v < g->n_nodes; v++) {
		g->node[v].flops = fmin(work(g, v, comp), WORK_LIMIT);
		comp[g->node[v].comp] = fmin(comp[g->node[v].comp] + g->node[v].flops, WORK_LIMIT);
	}
	mem_free(comp);
}

double graph_operations(const struct graph *g)
{
	const struct comp *entry = &g->comp[g->entry];
	double all = 0;

	for (uint32_t v = entry->first; v < entry->first + entry->n_nodes; v++)
		all += g->node[v].flops; /* with those of what it calls */
	return all;
}
