/*
 * harm.h - makes an instruction wrong by a little.
 */
#ifndef TESTS_HARM_H
#define TESTS_HARM_H

#include "graph/graph.h"

/* Lets a slice begin one place later, or earlier where it ends at the end. Returns false if it takes all there is. */
static inline bool shift_slice(const struct graph *g, uint32_t v)
{
	Hlo__HloInstructionProto *in = g->node[v].proto;
	const Hlo__ShapeProto *x = g->node[node_operands(g, v)[0]].proto->shape;

	for (size_t i = 0; i < in->n_slice_dimensions; i++) {
		Hlo__SliceDimensions *d = in->slice_dimensions[i];
		int64_t by = d->limit < x->dimensions[i] ? 1 : d->start > 0 ? -1 : 0;
		d->start += by;
		d->limit += by;
		if (by)
			return true;
	}
	return false;
}

#endif
