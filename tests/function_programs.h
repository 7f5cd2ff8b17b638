/*
 * function_programs.h - programs that apply a function of f32 or 16 bits to numbers, and count where it is wrong.
 *
 * The numbers are made in the program from their bits: all of them, part by part, or some of each sign and exponent
 * with the special ones among them. A second operand is one number, or others: a quarter each of random bits, powers of
 * 2 with zeros and infinities, small whole numbers, and half fractions of these, half the first operand itself.
 *
 * What is right is said by the compiler's own function of 64 bits. A result is right if it is the nearest number, or
 * less than `bound` units of the last place away, and has the sign of what is right; or if both are NaN. The program
 * gives out in how many blocks of numbers something was wrong.
 *
 * XLA:CPU runs with denormals taken for zeros, but optimises as if they were not. So where the right number is a
 * denormal, zero with its sign passes; and functions of two numbers, which may have another value where one is a
 * denormal than where it is 0, get none.
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
	const char *other; /* the second operand: a number, "" for many, NULL for none */
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

/* A block of one number. */
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

/* Writes x or w from bits, with zeros for denormals if the function is one of two numbers. */
static inline void function_operand(struct buf *b, const struct function_case *c, const char *name, const char *bits)
{
	const struct float_type *t = c->type;
	char part[7][8];

	for (int i = 0; i < 7; i++)
		snprintf(part[i], sizeof part[i], "%s%c", name, "abcdefg"[i]);
	function_fill(b, part[0], t->bits, t->width == 32 ? 2139095040 : 32768 - (1 << t->mantissa));
	function_line(b, part[1], t->bits, "and(%s, %s)", bits, part[0]);
	function_fill(b, part[2], t->bits, t->least == -126 && c->other ? 0 : -1);
	function_line(b, part[3], "pred", "compare(%s, %s), direction=EQ", part[1], part[2]);
	function_fill(b, part[4], t->bits, t->width == 32 ? INT32_MIN : INT16_MIN);
	function_line(b, part[5], t->bits, "and(%s, %s)", bits, part[4]);
	function_line(b, part[6], t->bits, "select(%s, %s, %s)", part[3], part[5], bits);
	function_line(b, name, t->name, "bitcast-convert(%s)", part[6]);
}

/* Writes w, the second operand. */
static inline void function_other(struct buf *b, const struct function_case *c)
{
	const struct float_type *t = c->type;

	if (*c->other) {
		buf_addf(b, "  given = %s[] constant(%s)\n", t->name, c->other);
		function_line(b, "w", t->name, "broadcast(given), dimensions={}");
		return;
	}
	function_fill(b, "m1", "s32", 668265261);
	function_fill(b, "m2", "s32", 13);
	function_fill(b, "m3", "s32", 30);
	function_fill(b, "m4", "s32", 28);
	function_fill(b, "m5", "s32", 1);
	function_fill(b, "m6", "s32", 2);
	function_fill(b, "top", t->bits, t->width == 32 ? -8388608 : -(1 << t->mantissa));
	function_line(b, "h0", "s32", "multiply(place, m1)");
	function_line(b, "h1", "s32", "shift-right-logical(h0, m2)");
	function_line(b, "h2", "s32", "xor(h0, h1)");
	function_line(b, "h3", "s32", "multiply(h2, m1)");
	function_line(b, "h4", "s32", "shift-right-logical(h3, m2)");
	function_line(b, "h", "s32", "xor(h3, h4)");
	function_line(b, "raw", t->bits, t->width == 32 ? "reshape(h)" : "convert(h)");
	function_line(b, "powers", t->bits, "and(raw, top)");
	function_line(b, "w0", t->name, "bitcast-convert(raw)");
	function_line(b, "w1", t->name, "bitcast-convert(powers)");
	function_line(b, "w2i", "s32", "shift-right-arithmetic(h, m4)");
	function_line(b, "w2", t->name, "convert(w2i)");
	function_fill(b, "small", t->name, 0.37109375);
	function_line(b, "w4", t->name, "multiply(w2, small)");
	function_fill(b, "m7", "s32", 536870912);
	function_line(b, "h5", "s32", "and(h0, m7)");
	function_line(b, "itself", "pred", "compare(h5, m7), direction=EQ");
	function_line(b, "w3", t->name, "select(itself, x, w4)");
	function_line(b, "kind", "s32", "shift-right-logical(h0, m3)");
	function_line(b, "is0", "pred", "compare(kind, m5), direction=LT");
	function_line(b, "is1", "pred", "compare(kind, m5), direction=EQ");
	function_line(b, "is2", "pred", "compare(kind, m6), direction=EQ");
	function_line(b, "v2", t->name, "select(is2, w2, w3)");
	function_line(b, "v1", t->name, "select(is1, w1, v2)");
	function_line(b, "v0", t->name, "select(is0, w0, v1)");
	function_line(b, "v", t->bits, "bitcast-convert(v0)");
	function_operand(b, c, "w", "v");
}

/* Writes y, the function of x, and `good`, a truth for each element. */
static inline void function_values(struct buf *b, const struct function_case *c)
{
	const struct float_type *t = c->type;

	function_operand(b, c, "x", "bits");
	if (c->other) {
		function_other(b, c);
		function_line(b, "wider", "f64", "convert(w)");
	}
	function_line(b, "y", t->name, "%s(x%s)", c->opcode, c->other ? ", w" : "");
	function_line(b, "wide", "f64", "convert(x)");
	function_line(b, "right", "f64", "%s(wide%s)", c->opcode, c->other ? ", wider" : "");
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
	function_line(b, "some", "f64", "multiply(atleast, bound)");
	function_fill(b, "lost", "f64", t->least == -126 ? ldexp(1, -126) : 0);
	function_line(b, "normal", "pred", "compare(size, least), direction=GE");
	function_line(b, "more", "f64", "maximum(some, lost)");
	function_line(b, "allowed", "f64", "select(normal, some, more)");
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
		"  not = pred[] not(fine)\n  one_more = s32[] convert(not)\n  sum = s32[] add(wrong, one_more)\n"
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
