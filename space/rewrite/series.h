/*
 * series.h - what the rules about elementary functions share: writing arithmetic on arrays of f64.
 *
 * These rules compute a function of f32 in 64 bits. What rounds there is 2^29 times finer than what the result can
 * show. So it does not matter in which order a compiler adds, or whether it rounds between a product and a sum, and no
 * number has to be carried in two parts. A loop of such arithmetic becomes vector instructions; a call of a library's
 * function does not.
 */
#ifndef SPACE_REWRITE_SERIES_H
#define SPACE_REWRITE_SERIES_H

#include "space/rewrite/rule.h"

/* Is it an array of f32, or of 16 bits, that a function is applied to element by element? */
bool series_applies(const struct graph *g, uint32_t v, uint16_t opcode);
/* An array of one number, of the shape and type of x. */
Hlo__HloInstructionProto *series_fill(struct draft *d, const Hlo__HloInstructionProto *x, double value);
/* x and a number, combined. */
Hlo__HloInstructionProto *series_with(struct draft *d, const char *opcode, Hlo__HloInstructionProto *x, double value);
/* x to the nearest whole number. */
Hlo__HloInstructionProto *series_round(struct draft *d, Hlo__HloInstructionProto *x);
/* Where x compares with a number as `direction` says, a truth for each element. */
Hlo__HloInstructionProto *series_compare(struct draft *d, const char *direction, Hlo__HloInstructionProto *x,
	double value);
/* Where x has a sign, which a zero may have. */
Hlo__HloInstructionProto *series_negative(struct draft *d, Hlo__HloInstructionProto *x);
/* c[0] + c[1] x + c[2] x^2 ... */
Hlo__HloInstructionProto *series_polynomial(struct draft *d, Hlo__HloInstructionProto *x, const double *c, uint32_t n);

#endif
