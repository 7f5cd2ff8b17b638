/*
 * lines.h - the instructions of a computation that is being written, and where each id stands among them.
 */
#ifndef SPACE_REWRITE_LINES_H
#define SPACE_REWRITE_LINES_H

#include "graph/graph.h"

/* A list of instructions, operands first. All zero is empty; the caller frees `v`. */
struct lines {
	Hlo__HloInstructionProto **v;
	size_t n, cap;
};
void lines_add(struct lines *l, Hlo__HloInstructionProto *in);
/* Drops the instructions that the root (an id) does not need; keeps side effects, parameters and control edges. */
void lines_prune(struct lines *l, int64_t root);
/* Brings operands before what reads them; keeps the order otherwise. */
void lines_sort(struct lines *l);

/* Tells where in a list an id stands. It holds as long as the list is not changed. */
struct line_index {
	struct line_place *v;
	size_t n;
};
struct line_index lines_index(const struct lines *l);
uint32_t line_at(const struct line_index *x, int64_t id); /* NONE: nowhere */
void line_index_release(struct line_index *x);

/* Does it do more than compute a value of its operands? */
bool line_has_effect(const Hlo__HloInstructionProto *in);

#endif
