/*
 * draft_own.h - what draft.c has for draft_sum.c; nobody else includes it.
 */
#ifndef SPACE_REWRITE_DRAFT_OWN_H
#define SPACE_REWRITE_DRAFT_OWN_H

#include "space/rewrite/draft.h"

#define DRAFT_MARK ".w" /* in a new name, before its number */

bool draft_is_integer(int32_t dtype); /* one whose numbers are constants here */
Hlo__ShapeProto *draft_shape(struct draft *d, int32_t dtype, const int64_t *dims, uint32_t rank);
/* Writes an instruction of this shape, and of the type of its first operand. */
Hlo__HloInstructionProto *draft_op(struct draft *d, const char *opcode, const int64_t *dims, uint32_t rank,
	Hlo__HloInstructionProto **x, uint32_t n);
void draft_set_dims(struct draft *d, Hlo__HloInstructionProto *in, const int64_t *v, uint32_t n);

#endif
