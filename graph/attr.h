/*
 * attr.h - what an instruction says, as a stream of words.
 *
 * Equal instructions give equal streams, different ones different streams. The code walks a message by its
 * descriptor, so that no field of schemas/hlo.proto can be forgotten. It leaves out names, ids, metadata, and
 * fields that hold their default; it takes in unknown fields as bytes. There are two views. ATTR_VALUE has what
 * decides the value that an instruction computes. ATTR_PROGRAM has all that a compiler sees: also backend
 * configuration, sharding, schedules, layouts.
 *
 * Different spellings of the same thing give the same stream. A precision that is all defaults counts as none,
 * a sparsity of no operand as none, a group count of 1 as 0, a channel of 0 or less as none. A list that says that
 * no dimension is dynamic counts as no list, and the layout of a scalar or a tuple as none. Whether a topk is stable
 * does not count: messages of older compilers, whose topk is always stable, do not say it, nor does their text.
 */
#ifndef GRAPH_ATTR_H
#define GRAPH_ATTR_H

#include "graph/graph.h"

enum attr_view { ATTR_VALUE, ATTR_PROGRAM };

/* Where words go: into a running hash, or, if `bytes` is set, into that buf as varints. */
struct sink {
	uint64_t hash;
	struct buf *bytes;
};
void sink_word(struct sink *s, uint64_t v);
void sink_bytes(struct sink *s, const void *p, size_t n); /* its length first */

void attr_shape(struct sink *s, const Hlo__ShapeProto *shape, bool with_layout); /* shape may be NULL */
/* Adds opcode, shape and attributes of one instruction; not its operands or called computations. */
void attr_instruction(struct sink *s, const Hlo__HloInstructionProto *in, enum attr_view view,
	bool with_layout);
/* Adds everything in any other message, layouts included; `message` may be NULL. */
void attr_message(struct sink *s, const void *message);

#endif
