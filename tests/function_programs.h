/*
 * function_programs.h - programs that apply a function of f32 or 16 bits to numbers, and count where it is wrong.
 *
 * The numbers are made in the program from their bits: all of them, part by part, or some of each sign and exponent
 * with the special ones among them. What is right is said by the compiler's own function of 64 bits. A result is right
 * if it is the nearest number, or less than `bound` units of the last place away, and has the sign of what is right; or
 * if both are NaN. The program gives out in how many blocks of numbers something was wrong.
 *
 * XLA:CPU runs with denormals taken for zeros. So a denormal passes for the zero of its sign.
 */
#ifndef TESTS_FUNCTION_PROGRAMS_H
#define TESTS_FUNCTION_PROGRAMS_H

#include "base/buf.h"

struct float_type {
	const char *name, *bits;
	int width, mantissa, least; /* least: the exponent of the smallest normal number */
};
static const struct float_type float_types[] = {{"f32", "s32", 32, 23, -126}, {"bf16", "s16", 16, 7, -126},
	{"f16", "s16", 16, 10, -14}};

struct function_case {
	const char *opcode;
	const struct float_type *type;
	int part;    /* of FUNCTION_PARTS, of all numbers of 32 bits; -1: some numbers */
	double bound; /* in units of the last place */
};

#define FUNCTION_PARTS 16
#define BLOCK (1 << 16)

/* Adds an instruction whose result is a block. */
static inline __attribute__((format(printf, 4, 5))) void function_line(struct buf *b, const char *name,
	const char *type, const char *fmt, ...)
{
	va_list ap;

	buf_addf(b, "  %s = %s[%d] ", name, type, BLOCK);
	va_start(ap, fmt);
	buf_vaddf(b, fmt, ap);
	va_end(ap);
	buf_adds(b, "\n");
}

static inline void function_fill(struct buf *b, const char *name, const char *type, double number)
{
	buf_addf(b, "  one_%s = %s[] constant(%.17g)\n", name, type, number);
	function_line(b, name, type, "broadcast(one_%s), dimensions={}", name);
}

/* The bits of the turn's numbers: those of 32 bits are the turn's block of its part, or 22 bits and some below. */
static inline void function_bits(struct buf *b, const struct function_case *c)
{
	function_line(b, "along", "s32", "iota(), iota_dimension=0");
	function_line(b, "turns", "s32", "broadcast(turn), dimensions={}");
	function_fill(b, "sixteen", "s32", 16);
	function_line(b, "high", "s32", "shift-left(turns, sixteen)");
	function_line(b, "place", "s32", "or(high, along)");
	if (c->type->width == 16) {
		function_line(b, "bits", "s16", "convert(along)");
	} else if (c->part >= 0) {
		function_fill(b, "part", "s32", (double)(c->part - FUNCTION_PARTS / 2) * 268435456);
		function_line(b, "bits", "s32", "add(place, part)");
	} else {
		function_fill(b, "many", "s32", 40503 * 1031);
		function_fill(b, "ten", "s32", 10);
		function_fill(b, "shift", "s32", 22);
		function_fill(b, "mask", "s32", 8191);
		function_fill(b, "none", "s32", 0);
		function_line(b, "mixed", "s32", "multiply(place, many)");
		function_line(b, "low", "s32", "shift-right-logical(mixed, shift)");
		function_line(b, "fraction", "s32", "and(place, mask)");
		function_line(b, "round", "pred", "compare(fraction, none), direction=EQ");
		function_line(b, "below", "s32", "select(round, none, low)");
		function_line(b, "above", "s32", "shift-left(place, ten)");
		function_line(b, "bits", "s32", "or(above, below)");
	}
}

/* Writes y, the function of x, and `good`, a truth for each element. */
static inline void function_values(struct buf *b, const struct function_case *c)
{
	const struct float_type *t = c->type;

	function_line(b, "x", t->name, "bitcast-convert(bits)");
	function_line(b, "y", t->name, "%s(x)", c->opcode);
	function_line(b, "wide", "f64", "convert(x)");
	function_line(b, "right", "f64", "%s(wide)", c->opcode);
	function_line(b, "nearest", t->name, "convert(right)");
	function_line(b, "got", "f64", "convert(y)");
	function_line(b, "apart", "f64", "subtract(got, right)");
	function_line(b, "far", "f64", "abs(apart)");
	function_line(b, "rightbits", "s64", "bitcast-convert(right)");
	buf_addf(b, "  one_power = s64[] constant(9218868437227405312)\n"); /* the bits of the exponent */
	function_line(b, "power", "s64", "broadcast(one_power), dimensions={}");
	function_line(b, "exponent", "s64", "and(rightbits, power)");
	function_line(b, "size", "f64", "bitcast-convert(exponent)");
	function_fill(b, "least", "f64", ldexp(1, t->least));
	function_line(b, "atleast", "f64", "maximum(size, least)");
	function_fill(b, "bound", "f64", ldexp(c->bound, -t->mantissa));
	function_line(b, "allowed", "f64", "multiply(atleast, bound)");
	function_line(b, "near", "pred", "compare(far, allowed), direction=LE");
	function_line(b, "same", "pred", "compare(y, nearest), direction=EQ");
	function_line(b, "close", "pred", "or(near, same)");
	function_fill(b, "zero", t->bits, 0);
	function_line(b, "ybits", t->bits, "bitcast-convert(y)");
	function_line(b, "nbits", t->bits, "bitcast-convert(nearest)");
	function_line(b, "ysign", "pred", "compare(ybits, zero), direction=LT");
	function_line(b, "nsign", "pred", "compare(nbits, zero), direction=LT");
	function_line(b, "signs", "pred", "compare(ysign, nsign), direction=EQ");
	function_line(b, "number", "pred", "and(close, signs)");
	function_line(b, "ynan", "pred", "compare(y, y), direction=NE");
	function_line(b, "rnan", "pred", "compare(right, right), direction=NE");
	function_line(b, "nans", "pred", "and(ynan, rnan)");
	function_line(b, "good", "pred", "or(number, nans)");
}

static inline int function_turns(const struct function_case *c)
{
	return c->type->width == 16 ? 1 : c->part < 0 ? 64 : (1 << 16) / FUNCTION_PARTS;
}

/*
 * Writes the program; the function is called y. Where a loop begins is a parameter, so that nothing is computed while
 * it is compiled; it turns through all blocks, whatever that is.
 */
static inline void function_program(struct buf *b, const struct function_case *c)
{
	int turns = function_turns(c);

	buf_adds(b, "HloModule functions\nall {\n  a = pred[] parameter(0)\n  b = pred[] parameter(1)\n"
		"  ROOT c = pred[] and(a, b)\n}\nbody {\n  state = (s32[], s32[], s32[]) parameter(0)\n"
		"  k = s32[] get-tuple-element(state), index=0\n  wrong = s32[] get-tuple-element(state), index=1\n"
		"  salt = s32[] get-tuple-element(state), index=2\n  one = s32[] constant(1)\n");
	buf_addf(b, "  last = s32[] constant(%d)\n  moved = s32[] add(k, salt)\n  turn = s32[] and(moved, last)\n",
		turns - 1);
	function_bits(b, c);
	function_values(b, c);
	buf_adds(b, "  yes = pred[] constant(true)\n"
		"  fine = pred[] reduce(good, yes), dimensions={0}, to_apply=all\n"
		"  not = pred[] not(fine)\n  more = s32[] convert(not)\n  sum = s32[] add(wrong, more)\n"
		"  next = s32[] add(k, one)\n  ROOT out = (s32[], s32[], s32[]) tuple(next, sum, salt)\n}\n");
	buf_addf(b, "goes {\n  state = (s32[], s32[], s32[]) parameter(0)\n"
		"  k = s32[] get-tuple-element(state), index=0\n  n = s32[] constant(%d)\n"
		"  ROOT on = pred[] compare(k, n), direction=LT\n}\n", turns);
	buf_adds(b, "ENTRY e {\n  salt = s32[] parameter(0)\n  zero = s32[] constant(0)\n"
		"  first = (s32[], s32[], s32[]) tuple(zero, zero, salt)\n"
		"  loop = (s32[], s32[], s32[]) while(first), condition=goes, body=body\n"
		"  wrong = s32[] get-tuple-element(loop), index=1\n  ROOT out = (s32[]) tuple(wrong)\n}\n");
}

/* What a right program gives out. */
static const char function_nothing_wrong[] = "HloModule none\nENTRY e {\n  salt = s32[] parameter(0)\n"
	"  zero = s32[] constant(0)\n  ROOT out = (s32[]) tuple(zero)\n}\n";

#endif
