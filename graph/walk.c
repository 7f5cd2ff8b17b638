/*
 * walk.c - follows a walk from an instruction to its operands.
 *
 * Through a reshape or a bitcast, a step becomes a number of elements in memory; the operand's dimension that moves is
 * the outermost one whose own stride is not larger. A reduction walks along the dimensions that it folds.
 */
#include "graph/walk.h"

#include <math.h>

static int64_t minor_dim(const Hlo__ShapeProto *s, size_t i)
{
	return s->layout && i < s->layout->n_minor_to_major ? s->layout->minor_to_major[i]
		: (int64_t)(s->n_dimensions - 1 - i);
}

/* The innermost dimension that has more than one index. */
struct walk walk_of(const struct node *n)
{
	const Hlo__ShapeProto *s = n->proto->shape;

	for (size_t i = 0; i < s->n_dimensions; i++)
		if (s->dimensions[minor_dim(s, i)] > 1)
			return (struct walk){minor_dim(s, i), 1};
	return (struct walk){WALK_NONE, 0};
}

double walk_stride(const struct node *n, struct walk w)
{
	const Hlo__ShapeProto *s = n->proto->shape;
	double stride = w.step;

	if (w.dim == WALK_UNKNOWN)
		return WALK_ANYWHERE;
	if (w.dim == WALK_NONE || (size_t)w.dim >= s->n_dimensions)
		return 0;
	for (size_t i = 0; i < s->n_dimensions && minor_dim(s, i) != w.dim; i++)
		stride *= (double)s->dimensions[minor_dim(s, i)];
	return stride;
}

/* The dimension of n that moves when its place in memory moves by `stride` elements. */
static struct walk by_stride(const struct node *n, double stride)
{
	const Hlo__ShapeProto *s = n->proto->shape;
	struct walk w = {WALK_NONE, 0};
	double size = 1;

	for (size_t i = 0; i < s->n_dimensions; i++) {
		int64_t d = minor_dim(s, i);
		if (s->dimensions[d] <= 1)
			continue;
		if (size <= stride || w.dim == WALK_NONE)
			w = (struct walk){d, stride / size};
		size *= (double)s->dimensions[d];
	}
	return w;
}

/* Of the dimensions that a reduction folds, the one that its innermost loop runs over: the last one. */
static struct walk along_folded(const struct node *n, const struct node *p)
{
	int64_t last = WALK_NONE;

	for (size_t i = 0; i < n->proto->n_dimensions; i++)
		if (n->proto->dimensions[i] > last && (size_t)n->proto->dimensions[i] < p->proto->shape->n_dimensions)
			last = n->proto->dimensions[i];
	return last == WALK_NONE ? walk_of(p) : (struct walk){last, 1};
}

static struct walk through_broadcast(const struct node *n, struct walk w)
{
	for (size_t i = 0; i < n->proto->n_dimensions; i++)
		if (n->proto->dimensions[i] == w.dim)
			return (struct walk){(int64_t)i, w.step};
	return (struct walk){WALK_NONE, 0};
}

static struct walk through_slice(const struct node *n, struct walk w)
{
	if ((size_t)w.dim < n->proto->n_slice_dimensions && n->proto->slice_dimensions[w.dim]->stride > 1)
		w.step *= (double)n->proto->slice_dimensions[w.dim]->stride;
	return w;
}

struct walk walk_operand(const struct graph *g, uint32_t c, uint32_t k, struct walk w)
{
	const struct node *n = &g->node[c], *p = &g->node[node_operands(g, c)[k]];

	if (w.dim == WALK_UNKNOWN || p->elements <= 1)
		return p->elements <= 1 ? (struct walk){WALK_NONE, 0} : w;
	if (n->opcode == OP_REDUCE)
		return along_folded(n, p);
	if (w.dim == WALK_NONE)
		return w;
	switch (n->opcode) {
	case OP_BROADCAST:
		return through_broadcast(n, w);
	case OP_TRANSPOSE:
		return (size_t)w.dim < n->proto->n_dimensions ? (struct walk){n->proto->dimensions[w.dim], w.step} :
			(struct walk){WALK_UNKNOWN, 0};
	case OP_BITCAST:
	case OP_RESHAPE:
		return by_stride(p, walk_stride(n, w));
	case OP_SLICE:
		return through_slice(n, w);
	case OP_GATHER:
	case OP_DOT:
	case OP_CONVOLUTION:
	case OP_SCATTER:
	case OP_SORT:
		return (struct walk){WALK_UNKNOWN, 0};
	default:
		return p->rank == n->rank ? w : (struct walk){WALK_UNKNOWN, 0};
	}
}
