/*
 * remainder.c - what is left of f32 numbers that are divided, exactly, by vector instructions.
 *
 *	x - q y		where q = x / y without its fraction
 *
 * A quotient of two f32 has up to 254 digits before the point. They are taken off in steps, from the top: of x / y the
 * first 29 digits, as far as they are whole, make q. Its product with y, which has 24, is exact in 64 bits, and so is
 * what it leaves of x, whose first digits are gone. After nine steps the quotient is below 1. So this is the right
 * number, not one close to it.
 *
 * Since x / y is rounded, q may be off by one. If it is too large, what is left is below 0, and the next step's q is
 * -1; in the last step that cannot be, for x / y has few digits there and is no closer to a whole number than 2^-24,
 * unless it is one. If it is too small, y is left, which no step takes off, and which is taken off in the end.
 *
 * XLA:CPU calls a library's function for each number (17 ns: Xeon). Periodic boxes and angles are wrapped so.
 *
 * The result has the sign of x, as in C, where it is 0, too. An infinite y is taken for 2^200, which is as good for any
 * f32. Of an infinite x, or by 0, infinity times 0 makes a NaN, as it should be.
 *
 * Denormals are the exception. XLA:CPU takes them for zeros when it converts numbers, so of a denormal 0 is left here,
 * and 0 where a denormal should be, with the right sign. Its library's function keeps them.
 */
#include "space/rewrite/codes.h"
#include "space/rewrite/series.h"

#define STEPS 9
#define FIRST_DIGITS (-(INT64_C(1) << 24)) /* of 64 bits all but those of the last 24 digits */

static bool match(const struct graph *g, uint32_t v, struct found *f)
{
	return series_match(g, v, OP_REMAINDER, f);
}

/* A number with its first digits alone. */
static Hlo__HloInstructionProto *first_digits(struct draft *d, Hlo__HloInstructionProto *x)
{
	return draft_bits(d, draft_with(d, "and", draft_bits(d, x, DT_S64), FIRST_DIGITS), DT_F64);
}

static Hlo__HloInstructionProto *write(struct draft *d, const struct found *f, uint32_t variant)
{
	Hlo__HloInstructionProto *given = draft_operand(d, f->anchor, 0), *x, *y, *inverse;

	(void)variant;
	x = draft_unary(d, "abs", draft_convert(d, given, DT_F64));
	y = draft_unary(d, "abs", draft_convert(d, draft_operand(d, f->anchor, 1), DT_F64));
	y = series_with(d, "minimum", y, 0x1p200);
	inverse = draft_binary(d, "divide", series_fill(d, y, 1), y);
	for (int i = 0; i < STEPS; i++) {
		Hlo__HloInstructionProto *q = first_digits(d, draft_binary(d, "multiply", x, inverse));
		q = draft_unary(d, "floor", q);
		x = draft_binary(d, "subtract", x, draft_binary(d, "multiply", q, y));
	}
	x = draft_select(d, draft_compare(d, "GE", x, y), draft_binary(d, "subtract", x, y), x);
	x = draft_select(d, series_negative(d, given), draft_unary(d, "negate", x), x);
	return draft_convert(d, x, DT_F32);
}

const struct rule_code remainder_steps_code = {.name = "remainder_steps", .measures = series_measures,
	.match = match, .write = write};
