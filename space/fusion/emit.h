/*
 * emit.h - writes groups as HLO, for apply.c and region.c.
 *
 * An emitter collects computations in the order in which a module lists them, callees before callers.
 * Messages are shallow copies of the graph's own, in the emitter's arena, with new ids, operands and
 * names; unknown fields are kept. There are two manners:
 *
 *	plain	    for the whole program: values keep the ids they have, a fusion takes the id of the
 *		    root it replaces (so nothing that reads it changes), metadata stays
 *	canonical   for regions: ids and names count from 1 in order of writing, no metadata, so that
 *		    isomorphic regions give the same bytes
 */
#ifndef SPACE_FUSION_EMIT_H
#define SPACE_FUSION_EMIT_H

#include "space/fusion/own.h"

struct instrs { /* the instructions of a computation being written */
	Hlo__HloInstructionProto **v;
	size_t n, cap;
};

struct emitter {
	struct space *s;
	const uint8_t *config;
	bool canonical;
	struct arena mem;
	Hlo__HloComputationProto **comp;
	size_t n_comps, cap_comps;
	uint32_t next_comp, next_name;
	uint32_t home; /* canonical: id of the entry computation, whose values emit_value_id names */
	uint32_t *applied; /* canonical: per computation of the graph, its copy's id, or 0 */
};

void emitter_init(struct emitter *em, struct space *s, bool canonical);
void emitter_release(struct emitter *em);

void instrs_add(struct emitter *em, struct instrs *l, Hlo__HloInstructionProto *in);

/* Copies v's message under another id, with the name and the metadata that the manner gives. */
Hlo__HloInstructionProto *emit_copy(struct emitter *em, uint32_t v, int64_t id);
Hlo__HloInstructionProto *emit_parameter(struct emitter *em, const Hlo__ShapeProto *shape, uint32_t number,
	int64_t id);
/* Makes an operation that the graph does not have. The caller fills in its operands. */
Hlo__HloInstructionProto *emit_op(struct emitter *em, const char *opcode, const Hlo__ShapeProto *shape, int64_t id);
void emit_call(struct emitter *em, Hlo__HloInstructionProto *in, uint32_t comp_id);

/* The id of the value of v in the computation that is being written. */
int64_t emit_value_id(const struct emitter *em, uint32_t v);

/*
 * Makes the instruction for the group with these members (ascending, root last). It is the root alone, or a fusion,
 * whose computation is added to the emitter. It reads values by emit_value_id.
 */
Hlo__HloInstructionProto *emit_group(struct emitter *em, const struct nodes *members, int64_t id);

/* Adds a finished computation; `root` is the id of its root. Returns its message. */
Hlo__HloComputationProto *emit_comp(struct emitter *em, struct instrs *l, uint32_t comp_id, int64_t root);
uint32_t emit_comp_id(struct emitter *em);
/* The id of an instruction by its number, from 1, within its computation. */
int64_t emit_id(uint32_t comp_id, size_t number);

/* waits.c: makes whatever reads this input from now on depend on these results, which have been written. */
void emit_wait(struct emitter *em, struct instrs *l, uint32_t input, const struct nodes *results);

/* nothing.c: an instruction that makes a region run on the caller's thread. */
Hlo__HloInstructionProto *emit_nothing(struct emitter *em, int64_t id);

#endif
