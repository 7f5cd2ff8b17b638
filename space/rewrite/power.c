/*
 * power.c - powers and cube roots of f32 as polynomials, right for all numbers.
 *
 *	|x|^y  =  2^(y log2 |x|)
 *
 * The logarithm is the exponent of |x|, and of its mantissa m, between the square roots of 1/2 and 2, a polynomial in
 * ((m - 1) / (m + 1))^2. It is right to 2^-45. The power of 2 is a whole exponent, which is written into the bits of a
 * number, and a polynomial. XLA:CPU calls a library's function for each number; these are vector instructions.
 *
 * The cases at the edges are those of C: x^0 and 1^y are 1, of NaN too; a negative number has powers at whole y alone,
 * negative ones where y is odd; 0 and infinity have logarithms that are infinite. An infinite y is taken for 2^130,
 * which is as good for any f32, so that it times the logarithm of 1 is 0.
 *
 * A cube root is the power 1/3 of |x|, with the sign of x. One term less of the logarithm is enough for it.
 *
 * Denormals are the exception. XLA:CPU takes them for zeros when it converts or compares numbers, so where y is one,
 * the power is 1 here, of a negative number, too, which has none. The root of one is 0. (XLA's own is -5.6e-16.)
 *
 * Where y is one number, the compiler does most of that before the program runs. Powers by few multiplications or a
 * root are left to it.
 */
#include <math.h>
#include "space/rewrite/codes.h"
#include "space/rewrite/series.h"

#define ROOT_BITS 0x3fe6a09e667f3bcd /* of the square root of 1/2 */
#define MANTISSA 52

/* log2((1 + s) / (1 - s)) / s, in s^2; 2^f for |f| <= 1/2 */
static const double logarithm[] = {0x1.71547652b8253p+1, 0x1.ec709dc539e77p-1, 0x1.2776c295f00c1p-1,
	0x1.a61a2cc1dd346p-2, 0x1.4795a62e05579p-2, 0x1.21ac9cb5592b4p-2};
static const double power[] = {0x1.ffffffffa7135p-1, 0x1.62e42fef9cc69p-1, 0x1.ebfbe0aa03df0p-3,
	0x1.c6b08da70cce3p-5, 0x1.3b29d8bb0b97ep-7, 0x1.5d877598350dep-10, 0x1.446c79efd4834p-13,
	0x1.00c0e4e15189cp-16};
#define COUNT(c) (uint32_t)(sizeof(c) / sizeof *(c))

/* Is it a power that the compiler computes by few multiplications, or by a root? */
static bool is_easy(const struct graph *g, uint32_t v)
{
	double y;

	while (g->node[v].opcode == OP_BROADCAST || g->node[v].opcode == OP_CONVERT)
		v = node_operands(g, v)[0];
	if (!rule_constant(g, v, &y))
		return false;
	y = fabs(y);
	return y <= 3 && (!(fabs(y - rint(y)) > 0) || !(fabs(y - 0.5) > 0));
}

static bool match_root(const struct graph *g, uint32_t v, struct found *f)
{
	return series_match(g, v, OP_CBRT, f);
}

static bool match(const struct graph *g, uint32_t v, struct found *f)
{
	return series_match(g, v, OP_POWER, f) && !is_easy(g, node_operands(g, v)[1]);
}

/* The logarithm of numbers that are not negative, by so many terms. */
static Hlo__HloInstructionProto *log_of(struct draft *d, Hlo__HloInstructionProto *x, uint32_t terms)
{
	Hlo__HloInstructionProto *bits = draft_bits(d, x, DT_S64), *exponent, *m, *s;

	exponent = draft_with(d, "shift-right-arithmetic", draft_with(d, "subtract", bits, ROOT_BITS), MANTISSA);
	m = draft_bits(d, draft_binary(d, "subtract", bits, draft_with(d, "shift-left", exponent, MANTISSA)), DT_F64);
	s = draft_binary(d, "divide", series_with(d, "subtract", m, 1), series_with(d, "add", m, 1));
	s = draft_binary(d, "multiply", s, series_polynomial(d, draft_binary(d, "multiply", s, s), logarithm,
		terms));
	s = draft_binary(d, "add", draft_convert(d, draft_convert(d, exponent, DT_S32), DT_F64), s);
	s = draft_select(d, series_compare(d, "LT", x, INFINITY), s, x);
	return draft_select(d, series_compare(d, "EQ", x, 0), series_fill(d, x, -INFINITY), s);
}

/* 2 to the power x; beyond what an f32 can show it is something that an f32 cannot show. */
static Hlo__HloInstructionProto *power_of_two(struct draft *d, Hlo__HloInstructionProto *x)
{
	Hlo__HloInstructionProto *n, *scale;

	x = series_with(d, "minimum", series_with(d, "maximum", x, -400), 400);
	n = series_round(d, x);
	scale = draft_convert(d, draft_convert(d, n, DT_S32), DT_S64);
	scale = draft_bits(d, draft_with(d, "shift-left", draft_with(d, "add", scale, 1023), MANTISSA), DT_F64);
	return draft_binary(d, "multiply", scale, series_polynomial(d, draft_binary(d, "subtract", x, n), power,
		COUNT(power)));
}

static Hlo__HloInstructionProto *is_whole(struct draft *d, Hlo__HloInstructionProto *x)
{
	return draft_compare(d, "EQ", series_round(d, x), x);
}

/* Signs of the powers of negative numbers, and NaNs, where there is none. */
static Hlo__HloInstructionProto *of_negative(struct draft *d, Hlo__HloInstructionProto *x, Hlo__HloInstructionProto *y,
	Hlo__HloInstructionProto *result)
{
	Hlo__HloInstructionProto *whole = is_whole(d, y), *odd, *none;

	odd = draft_binary(d, "and", whole, draft_unary(d, "not", is_whole(d, series_with(d, "multiply", y, 0.5))));
	odd = draft_binary(d, "and", odd, series_negative(d, x));
	none = draft_binary(d, "and", series_compare(d, "LT", x, 0), series_compare(d, "GT", x, -INFINITY));
	none = draft_binary(d, "and", none, draft_unary(d, "not", whole));
	result = draft_select(d, odd, draft_unary(d, "negate", result), result);
	return draft_select(d, none, series_fill(d, result, NAN), result);
}

static Hlo__HloInstructionProto *write(struct draft *d, const struct found *f, uint32_t variant)
{
	Hlo__HloInstructionProto *x = draft_operand(d, f->anchor, 0), *y = draft_operand(d, f->anchor, 1), *wide, *one;

	(void)variant;
	wide = draft_convert(d, y, DT_F64);
	wide = series_with(d, "minimum", series_with(d, "maximum", wide, -0x1p130), 0x1p130);
	wide = draft_binary(d, "multiply", wide, log_of(d, draft_unary(d, "abs", draft_convert(d, x, DT_F64)),
		COUNT(logarithm)));
	wide = of_negative(d, x, y, draft_convert(d, power_of_two(d, wide), DT_F32));
	one = draft_binary(d, "or", series_compare(d, "EQ", y, 0), series_compare(d, "EQ", x, 1));
	return draft_select(d, one, series_fill(d, x, 1), wide);
}

static Hlo__HloInstructionProto *write_root(struct draft *d, const struct found *f, uint32_t variant)
{
	Hlo__HloInstructionProto *x = draft_operand(d, f->anchor, 0), *root;

	(void)variant;
	root = log_of(d, draft_unary(d, "abs", draft_convert(d, x, DT_F64)), COUNT(logarithm) - 1);
	root = draft_convert(d, power_of_two(d, series_with(d, "multiply", root, 1.0 / 3)), DT_F32);
	return draft_select(d, series_negative(d, x), draft_unary(d, "negate", root), root);
}

const struct rule_code cube_root_series_code = {.name = "cube_root_series", .measures = series_measures,
	.match = match_root, .write = write_root};
const struct rule_code power_series_code = {.name = "power_series", .measures = series_measures,
	.match = match, .write = write};
