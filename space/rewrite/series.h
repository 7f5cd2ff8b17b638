/*
 * series.h - what the rules about elementary functions share: writing arithmetic on arrays of f64.
 *
 * These rules compute a function of f32 in 64 bits. What rounds there is 2^29 times finer than what the result can
 * show. So it does not matter in which order a compiler adds, or whether it rounds between a product and a sum, and no
 * number has to be carried in two parts. A loop of such arithmetic becomes vector instructions; a call of a library's
 * function does not.
 *
 * A compiler joins a loop to each of those that read its result, and computes it anew for each, if it is made of cheap
 * operations. A call of a library's function is known to be dear, dozens of sums and products are not. What one loop
 * reads more than once is kept in memory already (reread.c). What several loops read may be: that is a variant, which
 * measuring decides about. (A simulation of molecules, 9 ms a run, wraps distances around its box at four places. At
 * one of them, the remainder by steps cost 3.8 ms more, and saved 0.6 where its result was kept.)
 */
#ifndef SPACE_REWRITE_SERIES_H
#define SPACE_REWRITE_SERIES_H

#include "space/rewrite/rule.h"

/* The names of what series_match measures. */
extern const char *const series_measures[];
/*
 * Is it an array of f32, or of 16 bits, that a function is applied to element by element? Fills `f`. The rule's second
 * variant, which keeps the result in memory, is offered only where that is read more than once.
 */
bool series_match(const struct graph *g, uint32_t v, uint16_t opcode, struct found *f);
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
