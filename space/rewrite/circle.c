/*
 * circle.c - sine, cosine and tangent of f32 as polynomials, right for every number.
 *
 *	sin(x)  =  (-1)^n sin(pi t)		where x / pi = n + t, n whole, |t| <= 1/2
 *	cos(x)  =  -(-1)^n sin(pi t)		where x / pi - 1/2 = n + t
 *	tan(x)  =  sin(pi t) / cos(pi t)	or  -cos(pi t) / sin(pi t), by quarters of a turn
 *
 * XLA:CPU calls a library's function for each number, which no vector instruction does. A sine takes 9 ns so, where an
 * exponential, for which it has vector code, takes 0.6.
 *
 * What is hard is n + t where x is large: the largest f32 is 2^128, so x / pi must be known to 2^-190 of itself. Only
 * what is left of it after even numbers are taken away counts. So 1 / pi is cut into three pieces. The first two have
 * 29 bits, and x has 24, so both products are exact in 64 bits; the third has the rest. Bits of 1 / pi that make even
 * numbers of x, whichever 24 bits it has, are left out. Which ones these are depends on how large x is: there are four
 * such cuts, from 0, 2^54, 2^82 and 2^110 on, and each element selects its own. Even numbers are taken off the first
 * product, n off the sum of the first two, both exactly. So where t is close to 0, the bits that are left are right.
 * The error of t is less than 2^-55, and no f32 but 0 comes closer to a zero of these functions than 2^-30.
 *
 * The polynomial's error is 2^-33 of the result, so that is the nearest f32, or in one of some hundred cases its
 * neighbour. Infinities become differences of infinities, which are NaNs, as they should be. Zero would lose its sign,
 * so it is selected.
 *
 * Sine and cosine of the same numbers share the products, because they are the same instructions.
 *
 * The compiler's own function for large numbers, in a `conditional` over the largest one, was not tried: the largest
 * number needs a pass of its own, and nothing is fused with a conditional.
 */
#include "space/rewrite/codes.h"
#include "space/rewrite/series.h"

#define CUTS 4
static const double from[CUTS] = {0, 0x1p54, 0x1p82, 0x1p110};
static const double piece[CUTS][3] = {
	{0x1.45f306dp-2, 0x1.9391054p-31, 0x1.4fe13abe8fa9ap-60},
	{0x1.9391054p-31, 0x1.4fe13abp-60, 0x1.d1f534ddc0db6p-89},
	{0x1.4fe13aap-60, 0x1.e8fa9a6p-88, 0x1.dc0db6295993cp-117},
	{0x1.f47d4d3p-87, 0x1.dc0db62p-117, 0x1.2b32788720840p-146}};

/* sin(pi t) / t for |t| <= 9/16; the same and cos(pi t) for |t| <= 9/32: polynomials in t^2. */
static const double half_turn[] = {0x1.921fb543cab4bp+1, -0x1.4abbce2cf6e5dp+2, 0x1.466bb71188c5p+1,
	-0x1.32cf8c810a228p-1, 0x1.4fd8f9ff0b36ep-4, -0x1.c6d0d404a585cp-8};
static const double quarter_sine[] = {0x1.921fb5442a926p+1, -0x1.4abbce446eae7p+2, 0x1.466baed102998p+1,
	-0x1.32c5b59c6652bp-1, 0x1.4a8bb4703c329p-4};
static const double quarter_cosine[] = {0x1.fffffffead2eap-1, -0x1.3bd3cc3357e73p+2, 0x1.03c1c7314286dp+2,
	-0x1.55bce836bcbf8p+0, 0x1.d79a0056c97abp-3};
#define COUNT(c) (uint32_t)(sizeof(c) / sizeof *(c))

struct turns { /* x / pi less an even number, in three parts */
	Hlo__HloInstructionProto *first, *second, *third;
};

static bool match_sine(const struct graph *g, uint32_t v, struct found *f)
{
	return series_match(g, v, OP_SINE, f);
}

static bool match_cosine(const struct graph *g, uint32_t v, struct found *f)
{
	return series_match(g, v, OP_COSINE, f);
}

static bool match_tangent(const struct graph *g, uint32_t v, struct found *f)
{
	return series_match(g, v, OP_TAN, f);
}

/* What is left of x / by after its nearest multiple of `by` is taken away. */
static Hlo__HloInstructionProto *less_multiples(struct draft *d, Hlo__HloInstructionProto *x, double by)
{
	Hlo__HloInstructionProto *n = series_round(d, series_with(d, "multiply", x, 1 / by));

	return draft_binary(d, "subtract", x, series_with(d, "multiply", n, by));
}

static struct turns turns_of(struct draft *d, Hlo__HloInstructionProto *x)
{
	Hlo__HloInstructionProto *size = draft_unary(d, "abs", x), *below[CUTS], *part[3];

	for (int k = 1; k < CUTS; k++)
		below[k] = series_compare(d, "LT", size, from[k]);
	for (int i = 0; i < 3; i++) {
		part[i] = series_fill(d, x, piece[CUTS - 1][i]);
		for (int k = CUTS - 1; k > 0; k--)
			part[i] = draft_select(d, below[k], series_fill(d, x, piece[k - 1][i]), part[i]);
		part[i] = draft_binary(d, "multiply", x, part[i]);
	}
	return (struct turns){less_multiples(d, part[0], 2), part[1], part[2]};
}

/* What is left of a number of half turns if `n` of them are taken away, exactly. */
static Hlo__HloInstructionProto *rest(struct draft *d, const struct turns *t, Hlo__HloInstructionProto *n)
{
	Hlo__HloInstructionProto *x = draft_binary(d, "subtract", t->first, n);

	return draft_binary(d, "add", draft_binary(d, "add", x, t->second), t->third);
}

/* Is a whole number odd? */
static Hlo__HloInstructionProto *is_odd(struct draft *d, Hlo__HloInstructionProto *n)
{
	return series_compare(d, "NE", less_multiples(d, n, 2), 0);
}

/* The function's value, as f32; where x is 0 it is x itself. */
static Hlo__HloInstructionProto *with_zero(struct draft *d, Hlo__HloInstructionProto *x, Hlo__HloInstructionProto *y)
{
	return draft_select(d, series_compare(d, "EQ", x, 0), x, draft_convert(d, y, DT_F32));
}

static Hlo__HloInstructionProto *write_sine(struct draft *d, const struct found *f, uint32_t variant)
{
	Hlo__HloInstructionProto *x = draft_operand(d, f->anchor, 0), *n, *t;
	struct turns all = turns_of(d, draft_convert(d, x, DT_F64));

	(void)variant;
	n = series_round(d, draft_binary(d, "add", all.first, all.second));
	t = rest(d, &all, n);
	t = draft_select(d, is_odd(d, n), draft_unary(d, "negate", t), t);
	t = draft_binary(d, "multiply", t, series_polynomial(d, draft_binary(d, "multiply", t, t), half_turn,
		COUNT(half_turn)));
	return with_zero(d, x, t);
}

static Hlo__HloInstructionProto *write_cosine(struct draft *d, const struct found *f, uint32_t variant)
{
	Hlo__HloInstructionProto *x = draft_operand(d, f->anchor, 0), *n, *t;
	struct turns all = turns_of(d, draft_convert(d, x, DT_F64));

	(void)variant;
	n = draft_binary(d, "add", all.first, all.second);
	n = series_round(d, series_with(d, "subtract", n, 0.5));
	t = rest(d, &all, series_with(d, "add", n, 0.5));
	t = draft_select(d, is_odd(d, n), t, draft_unary(d, "negate", t));
	t = draft_binary(d, "multiply", t, series_polynomial(d, draft_binary(d, "multiply", t, t), half_turn,
		COUNT(half_turn)));
	return draft_convert(d, t, DT_F32);
}

static Hlo__HloInstructionProto *write_tangent(struct draft *d, const struct found *f, uint32_t variant)
{
	Hlo__HloInstructionProto *x = draft_operand(d, f->anchor, 0), *n, *t, *square, *sine, *cosine, *odd;
	struct turns all = turns_of(d, draft_convert(d, x, DT_F64));

	(void)variant;
	n = draft_binary(d, "add", all.first, all.second);
	n = series_round(d, draft_binary(d, "add", n, n));
	t = rest(d, &all, series_with(d, "multiply", n, 0.5));
	square = draft_binary(d, "multiply", t, t);
	sine = draft_binary(d, "multiply", t, series_polynomial(d, square, quarter_sine, COUNT(quarter_sine)));
	cosine = series_polynomial(d, square, quarter_cosine, COUNT(quarter_cosine));
	odd = is_odd(d, n);
	t = draft_binary(d, "divide", draft_select(d, odd, draft_unary(d, "negate", cosine), sine),
		draft_select(d, odd, sine, cosine));
	return with_zero(d, x, t);
}

const struct rule_code sine_series_code = {.name = "sine_series", .measures = series_measures,
	.match = match_sine, .write = write_sine};
const struct rule_code cosine_series_code = {.name = "cosine_series", .measures = series_measures,
	.match = match_cosine, .write = write_cosine};
const struct rule_code tangent_series_code = {.name = "tangent_series", .measures = series_measures,
	.match = match_tangent, .write = write_tangent};
