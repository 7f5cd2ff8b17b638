/*
 * angle.c - the angle of a point, atan2(y, x) of f32, as a polynomial.
 *
 *	atan(t)  =  t P(t^2)		where t = min(|x|, |y|) / max(|x|, |y|), at most 1
 *
 * That is the angle to the nearer axis. Three choices make of it the angle to the positive x axis: whether |y| is the
 * larger one, and the signs of x and of y. XLA:CPU calls a library's function for each number (18 ns, and 36 for an
 * arctangent, which is the angle of a point whose x is 1; Xeon); these are vector instructions.
 *
 * The polynomial's error is 2^-34 of the result. The cases at the edges are those of C: signs of zeros count, so they
 * are read from bits; infinities are taken for 2^1000, which is as good for any f32, and makes the ratio of two of them
 * 1; where both numbers are 0 their ratio is 0, by 2^-1000.
 *
 * Denormals are the exception. XLA:CPU takes them for zeros when it converts numbers, so where y is one and x is 0, the
 * angle is 0 here, and a quarter turn by the library.
 */
#include <math.h>
#include "space/rewrite/codes.h"
#include "space/rewrite/series.h"

/* atan(t) / t for 0 <= t <= 1, in t^2. */
static const double arctangent[] = {0x1.ffffffff7ecb8p-1, -0x1.55555426a1b4cp-2, 0x1.999923907df14p-3,
	-0x1.2489328796749p-3, 0x1.c66111f10d32cp-4, -0x1.6fd4a6ca06192p-4, 0x1.28c8eabfa2d4ep-4, -0x1.bca7bb758f420p-5,
	0x1.183ef976a7083p-5, -0x1.07f99d838159fp-6, 0x1.3de9b44048842p-8, -0x1.67080f56e5aa4p-11};

static bool match(const struct graph *g, uint32_t v, struct found *f)
{
	return series_match(g, v, OP_ATAN2, f);
}

/* The size of a number in 64 bits, at most 2^1000. */
static Hlo__HloInstructionProto *size_of(struct draft *d, Hlo__HloInstructionProto *x)
{
	return series_with(d, "minimum", draft_unary(d, "abs", draft_convert(d, x, DT_F64)), 0x1p1000);
}

static Hlo__HloInstructionProto *less_from(struct draft *d, double from, Hlo__HloInstructionProto *x)
{
	return draft_binary(d, "subtract", series_fill(d, x, from), x);
}

static Hlo__HloInstructionProto *write(struct draft *d, const struct found *f, uint32_t variant)
{
	Hlo__HloInstructionProto *y = draft_operand(d, f->anchor, 0), *x = draft_operand(d, f->anchor, 1);
	Hlo__HloInstructionProto *high = size_of(d, y), *wide = size_of(d, x), *t, *r;

	(void)variant;
	t = series_with(d, "maximum", draft_binary(d, "maximum", high, wide), 0x1p-1000);
	t = draft_binary(d, "divide", draft_binary(d, "minimum", high, wide), t);
	r = series_polynomial(d, draft_binary(d, "multiply", t, t), arctangent, sizeof arctangent / sizeof *arctangent);
	r = draft_binary(d, "multiply", t, r);
	r = draft_select(d, draft_compare(d, "GT", high, wide), less_from(d, M_PI_2, r), r);
	r = draft_select(d, series_negative(d, x), less_from(d, M_PI, r), r);
	r = draft_select(d, series_negative(d, y), draft_unary(d, "negate", r), r);
	return draft_convert(d, r, DT_F32);
}

const struct rule_code angle_series_code = {.name = "angle_series", .measures = series_measures,
	.match = match, .write = write};
