/*
 * sort_programs.h - programs that sort: every kind of comparator, of floats and integers, that tests ask about; and
 * programs that look for the largest numbers.
 *
 * The numbers are made in the program, so that they have what no random input has: zeros, infinities and denormals of
 * both signs, quiet and signalling NaNs of both signs, each many times, among random bits. Results are given out as
 * bits, which are compared exactly.
 *
 * XLA:CPU runs with denormals taken for zeros, but optimises as if they were not. So if a comparator joins zeros and
 * nothing else, it depends on the code around whether it takes denormals for zeros; its programs have none.
 */
#ifndef TESTS_SORT_PROGRAMS_H
#define TESTS_SORT_PROGRAMS_H

#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include "base/buf.h"

enum joined { NOTHING, ZEROS, NANS, BOTH, BITS, PLAIN }; /* what f makes one of; or what it compares */

struct sort_case {
	const char *type, *bits; /* of what is sorted, and the integer of its size */
	enum joined joined;
	bool greater, swapped;
	/* x: those sorted by; i: places; v: other numbers; p or k: no sort, but the place of the largest, or several */
	const char *arrays;
	int dim, rows, columns;
};

/* Writes f of a parameter; returns the name of its value, which ends with `p`. */
static inline const char *sort_side(struct buf *b, const struct sort_case *c, const char *p, int number)
{
	const char *t = c->type, *was = "p";

	buf_addf(b, "  p%s = %s[] parameter(%d)\n", p, t, number);
	if (c->joined == ZEROS || c->joined == BOTH) {
		buf_addf(b, "  z%s = %s[] constant(0)\n", p, t);
		buf_addf(b, "  e%s = pred[] compare(p%s, z%s), direction=EQ\n", p, p, p);
		buf_addf(b, "  s%s = %s[] select(e%s, z%s, p%s)\n", p, t, p, p, p);
		was = "s";
	}
	if (c->joined == NANS || c->joined == BOTH) {
		buf_addf(b, "  n%s = %s[] constant(nan)\n", p, t);
		buf_addf(b, "  u%s = pred[] compare(p%s, p%s), direction=NE\n", p, p, p);
		buf_addf(b, "  t%s = %s[] select(u%s, n%s, %s%s)\n", p, t, p, p, was, p);
		was = "t";
	}
	if (c->joined == BITS) {
		buf_addf(b, "  b%s = s32[] bitcast-convert(p%s)\n  z%s = s32[] constant(0)\n", p, p, p);
		buf_addf(b, "  m%s = s32[] constant(2147483647)\n", p);
		buf_addf(b, "  l%s = pred[] compare(b%s, z%s), direction=LT\n", p, p, p);
		buf_addf(b, "  x%s = s32[] xor(b%s, m%s)\n", p, p, p);
		buf_addf(b, "  r%s = s32[] select(l%s, x%s, b%s)\n", p, p, p, p);
		was = "r";
	}
	return was;
}

/* The comparator; the type of its parameters is that of the arrays. */
static inline void sort_comparator(struct buf *b, const struct sort_case *c)
{
	int key = (int)(strchr(c->arrays, 'x') - c->arrays);
	bool integers = c->type[0] == 's' || c->type[0] == 'u' || c->joined == BITS;
	const char *f;

	buf_adds(b, "less {\n");
	for (int k = 0; c->arrays[k]; k++)
		if (c->arrays[k] != 'x')
			for (int side = 0; side < 2; side++)
				buf_addf(b, "  q%d = %s[] parameter(%d)\n", 2 * k + side,
					c->arrays[k] == 'i' ? "s32" : "f32", 2 * k + side);
	f = sort_side(b, c, "a", 2 * key);
	sort_side(b, c, "b", 2 * key + 1);
	buf_addf(b, "  ROOT less = pred[] compare(%s%s, %s%s), direction=%s%s\n}\n", f, c->swapped ? "b" : "a", f,
		c->swapped ? "a" : "b", c->greater ? "GT" : "LT",
		integers || c->joined == PLAIN ? "" : ", type=TOTALORDER");
}

/* Adds an instruction whose result has the shape of what is sorted. */
static inline __attribute__((format(printf, 5, 6))) void sort_line(struct buf *b, const struct sort_case *c,
	const char *name, const char *type, const char *fmt, ...)
{
	va_list ap;

	buf_addf(b, "  %s = %s[%d,%d] ", name, type, c->rows, c->columns);
	va_start(ap, fmt);
	buf_vaddf(b, fmt, ap);
	va_end(ap);
	buf_adds(b, "\n");
}

/* The same of one number everywhere. */
static inline void sort_fill(struct buf *b, const struct sort_case *c, const char *name, const char *type,
	const char *number)
{
	buf_addf(b, "  one_%s = %s[] constant(%s)\n", name, type, number);
	sort_line(b, c, name, type, "broadcast(one_%s), dimensions={}", name);
}

/* Numbers that are easy to get wrong, as bits of a type with this many bits of the exponent and of the mantissa. */
static inline void sort_specials(struct buf *b, int exponent, int mantissa, bool denormals)
{
	int64_t top = (INT64_C(1) << exponent) - 1, half = INT64_C(1) << (mantissa - 1), bias = top / 2;
	int64_t sign = half << exponent; /* half of what the sign stands for, which 64 bits cannot count */
	const int64_t few = denormals, mixed[] = {0, 0, few, 2 * few, half * few, (2 * half - 1) * few, 2 * half,
		2 * half + 1, bias << mantissa, (bias << mantissa) + 1, (top << mantissa) - 1, top << mantissa,
		(top << mantissa) + half, (top << mantissa) + half + 1, (top << mantissa) + 1,
		(top << mantissa) + (2 * half - 1)};
	int n = sizeof mixed / sizeof *mixed;

	for (int i = 0; i < 2 * n; i++)
		buf_addf(b, "%s%lld", i ? ", " : "", (long long)(i < n ? mixed[i] : mixed[i - n] - sign - sign));
}

struct sort_format {
	const char *type;
	int exponent, mantissa;
};

/* How floats lie in bits; integers get bits that would be special in a float. */
static inline const struct sort_format *sort_format(const char *type)
{
	static const struct sort_format floats[] = {{"f32", 8, 23}, {"f64", 11, 52}, {"bf16", 8, 7}, {"f16", 5, 10},
		{"s32", 8, 23}, {"u32", 8, 23}};
	size_t k = 0;

	while (strcmp(floats[k].type, type) != 0)
		k++;
	return &floats[k];
}

/* Writes x, of special numbers and random bits. */
static inline void sort_numbers(struct buf *b, const struct sort_case *c)
{
	const struct sort_format *f = sort_format(c->type);
	char bit[24];

	sort_line(b, c, "salt", "s32", "parameter(0)");
	sort_line(b, c, "i0", "s32", "iota(), iota_dimension=0");
	sort_line(b, c, "i1", "s32", "iota(), iota_dimension=1");
	sort_fill(b, c, "n0", "s32", "40503");
	sort_fill(b, c, "n1", "s32", "668265261");
	sort_fill(b, c, "n2", "s32", "13");
	sort_line(b, c, "h0", "s32", "multiply(i0, n0)");
	sort_line(b, c, "h1", "s32", "add(h0, i1)");
	sort_line(b, c, "h2", "s32", "multiply(salt, n0)");
	sort_line(b, c, "h3", "s32", "xor(h1, h2)");
	sort_line(b, c, "h4", "s32", "multiply(h3, n1)");
	sort_line(b, c, "h5", "s32", "shift-right-logical(h4, n2)");
	sort_line(b, c, "h6", "s32", "xor(h4, h5)");
	sort_line(b, c, "h", "s32", "multiply(h6, n1)");
	sort_fill(b, c, "n3", "s32", "27");
	sort_line(b, c, "which", "s32", "shift-right-logical(h, n3)");
	buf_addf(b, "  at = s32[%d,%d,1] reshape(which)\n  table = %s[32] constant({", c->rows, c->columns, c->bits);
	sort_specials(b, f->exponent, f->mantissa, c->joined != ZEROS);
	buf_adds(b, "})\n");
	sort_line(b, c, "special", c->bits, "gather(table, at), offset_dims={}, collapsed_slice_dims={0}, "
		"start_index_map={0}, index_vector_dim=2, slice_sizes={1}");
	snprintf(bit, sizeof bit, "%lld", c->joined == ZEROS ? 1ll << f->mantissa : 0);
	sort_fill(b, c, "normal", c->bits, bit);
	sort_line(b, c, "half", c->bits, strcmp(c->bits, "s32") ? "convert(h)" : "reshape(h)");
	sort_line(b, c, "whole", c->bits, strcmp(c->bits, "s64") ? "reshape(half)" : "multiply(half, half)");
	sort_line(b, c, "random", c->bits, "or(whole, normal)");
	sort_line(b, c, "odd", "pred", "compare(h, h6), direction=LT");
	sort_line(b, c, "raw", c->bits, "select(odd, random, special)");
	sort_line(b, c, "x", c->type, "%s(raw)", strcmp(c->type, c->bits) ? "bitcast-convert" : "reshape");
	buf_addf(b, "  along = s32[%d] iota(), iota_dimension=0\n", c->dim ? c->columns : c->rows);
	sort_line(b, c, "j", "s32", "broadcast(along), dimensions={%d}", c->dim);
	sort_line(b, c, "v", "f32", "convert(h)");
}

/*
 * The result of a sort of one array whose comparator takes some numbers for equal: its bits with those numbers as one,
 * and along the dimension a sum that another set of bits does not have. It asks the bits which numbers these are, not
 * the floats. XLA:CPU compares floats with zero as integers where they were made of bits, and then denormals are not
 * zeros, as they are elsewhere. Those of f16 never are, since it is computed in f32.
 */
static inline void sort_one_result(struct buf *b, const struct sort_case *c)
{
	const struct sort_format *f = sort_format(c->type);
	long long least = strcmp(c->type, "f16") ? 1ll << f->mantissa : 1;
	long long inf = ((1ll << f->exponent) - 1) << f->mantissa;
	const char *was = "yb";

	sort_line(b, c, "yb", c->bits, "bitcast-convert(y)");
	sort_fill(b, c, "d0", c->bits, "0");
	buf_addf(b, "  c_all = %s[] constant(%lld)\n  c_least = %s[] constant(%lld)\n  c_inf = %s[] constant(%lld)\n",
		c->bits, inf | ((1ll << f->mantissa) - 1), c->bits, least, c->bits, inf);
	sort_line(b, c, "all_but_sign", c->bits, "broadcast(c_all), dimensions={}");
	sort_line(b, c, "size", c->bits, "and(yb, all_but_sign)");
	sort_line(b, c, "least", c->bits, "broadcast(c_least), dimensions={}");
	sort_line(b, c, "infinite", c->bits, "broadcast(c_inf), dimensions={}");
	if (c->joined == ZEROS || c->joined == BOTH) {
		sort_line(b, c, "e", "pred", "compare(size, least), direction=LT");
		sort_line(b, c, "g", c->bits, "select(e, d0, yb)");
		was = "g";
	}
	if (c->joined == NANS || c->joined == BOTH) {
		sort_line(b, c, "u", "pred", "compare(size, infinite), direction=GT");
		sort_line(b, c, "k", c->bits, "select(u, all_but_sign, %s)", was);
		was = "k";
	}
	sort_line(b, c, "seen", c->bits, "reshape(%s)", was);
	sort_line(b, c, "yw", "s64", "convert(yb)");
	sort_fill(b, c, "v1", "s64", "-7046029254386353131");
	sort_fill(b, c, "v2", "s64", "29");
	sort_line(b, c, "y1", "s64", "multiply(yw, v1)");
	sort_line(b, c, "y2", "s64", "shift-right-logical(y1, v2)");
	sort_line(b, c, "y3", "s64", "xor(y1, y2)");
	sort_line(b, c, "y4", "s64", "multiply(y3, v1)");
	buf_addf(b, "  start = s64[] constant(0)\n  all = s64[%d] reduce(y4, start), dimensions={%d}, to_apply=sum\n",
		c->dim ? c->rows : c->columns, c->dim);
	buf_addf(b, "  ROOT out = (%s[%d,%d], s64[%d]) tuple(seen, all)\n}\n", c->bits, c->rows, c->columns,
		c->dim ? c->rows : c->columns);
}

static inline const char *sort_type(const struct sort_case *c, char array)
{
	return array == 'x' ? c->type : array == 'i' ? "s32" : "f32";
}

/* The bits of all results. */
static inline void sort_results(struct buf *b, const struct sort_case *c)
{
	struct buf types = {0}, names = {0};

	for (int k = 0; c->arrays[k]; k++) {
		const char *bits = c->arrays[k] == 'x' ? c->bits : "s32", *type = sort_type(c, c->arrays[k]);
		const char name[] = {'y', c->arrays[1] ? (char)('0' + k) : 0, 0};
		if (c->arrays[1])
			sort_line(b, c, name, type, "get-tuple-element(y), index=%d", k);
		buf_addf(b, "  r%d = %s[%d,%d] %s(%s)\n", k, bits, c->rows, c->columns,
			strcmp(bits, type) ? "bitcast-convert" : "reshape", name);
		buf_addf(&types, "%s%s[%d,%d]", k ? ", " : "", bits, c->rows, c->columns);
		buf_addf(&names, "%sr%d", k ? ", " : "", k);
	}
	buf_addf(b, "  ROOT out = (%.*s) tuple(%.*s)\n}\n", (int)types.len, types.data, (int)names.len, names.data);
	buf_release(&types);
	buf_release(&names);
}

/* Places have 64 bits where the numbers have. */
static inline const char *place_type(const struct sort_case *c)
{
	return strcmp(c->type, "f64") == 0 ? "s64" : "s32";
}

/*
 * The function that chooses the first of the largest (`greater`) or smallest of pairs: as JAX writes it; or (BOTH) in
 * fewer operations, for pairs come in the sequence of their places.
 */
static inline void pair_function(struct buf *b, const struct sort_case *c)
{
	const char *places = place_type(c);

	buf_addf(b, "pair {\n  a = %s[] parameter(0)\n  i = %s[] parameter(1)\n  b = %s[] parameter(2)\n"
		"  j = %s[] parameter(3)\n  none = pred[] compare(a, a), direction=NE\n", c->type, places, c->type,
		places);
	if (c->joined == BOTH)
		buf_addf(b, "  more = pred[] compare(a, b), direction=%s\n  first = pred[] or(more, none)\n"
			"  which = pred[] or(none, more)\n", c->greater ? "GE" : "LE");
	else
		buf_addf(b, "  more = pred[] compare(a, b), direction=%s\n  first = pred[] or(more, none)\n"
			"  same = pred[] compare(a, b), direction=EQ\n  before = pred[] compare(i, j), direction=LT\n"
			"  tie = pred[] and(same, before)\n  which = pred[] or(first, tie)\n",
			c->greater ? "GT" : "LT");
	buf_addf(b, "  x = %s[] select(first, a, b)\n  p = %s[] select(which, i, j)\n"
		"  ROOT out = (%s[], %s[]) tuple(x, p)\n}\n", c->type, places, c->type, places);
}

/* The place of the largest or smallest number, of all or (NANS) of the finite ones; the reduction is called y. */
static inline void pair_program(struct buf *b, const struct sort_case *c)
{
	int kept = c->dim ? c->rows : c->columns;
	const char *places = place_type(c);

	buf_adds(b, "HloModule places\n");
	pair_function(b, c);
	buf_adds(b, "ENTRY e {\n");
	sort_numbers(b, c);
	sort_fill(b, c, "zero", c->type, "0");
	sort_line(b, c, "off", c->type, "subtract(x, x)");
	sort_line(b, c, "finite", "pred", "compare(off, zero), direction=EQ");
	sort_line(b, c, "w", c->type, "select(finite, x, %s)", c->joined == NANS ? "zero" : "x");
	sort_line(b, c, "place", places, "iota(), iota_dimension=%d", c->dim);
	buf_addf(b, "  end = %s[] constant(%sinf)\n  nought = %s[] constant(0)\n"
		"  y = (%s[%d], %s[%d]) reduce(w, place, end, nought), dimensions={%d}, to_apply=pair\n"
		"  ROOT out = %s[%d] get-tuple-element(y), index=1\n}\n", c->type, c->greater ? "-" : "", places,
		c->type, kept, places, kept, c->dim, places, kept);
}

/* The 7 largest or smallest numbers of each row, NaNs as one NaN, and their places. */
static inline void top_program(struct buf *b, const struct sort_case *c)
{
	const struct sort_case few = {.rows = c->rows, .columns = 7};

	buf_adds(b, "HloModule largest\nENTRY e {\n");
	sort_numbers(b, c);
	buf_addf(b, "  y = (%s[%d,7], s32[%d,7]) topk(x), k=7, largest=%s\n", c->type, c->rows, c->rows,
		c->greater ? "true" : "false");
	sort_line(b, &few, "y0", c->type, "get-tuple-element(y), index=0");
	sort_line(b, &few, "y1", "s32", "get-tuple-element(y), index=1");
	sort_fill(b, &few, "dn", c->type, "nan");
	sort_line(b, &few, "u", "pred", "compare(y0, y0), direction=NE");
	sort_line(b, &few, "k", c->type, "select(u, dn, y0)");
	sort_line(b, &few, "seen", c->bits, "bitcast-convert(k)");
	buf_addf(b, "  ROOT out = (%s[%d,7], s32[%d,7]) tuple(seen, y1)\n}\n", c->bits, c->rows, c->rows);
}

/* Writes the program; the sort is called y. */
static inline void sort_program(struct buf *b, const struct sort_case *c)
{
	bool alone = !c->arrays[1];

	if (c->arrays[0] == 'p') {
		pair_program(b, c);
		return;
	}
	if (c->arrays[0] == 'k') {
		top_program(b, c);
		return;
	}
	buf_adds(b, "HloModule sorts\nsum {\n  a = s64[] parameter(0)\n  b = s64[] parameter(1)\n"
		"  ROOT c = s64[] add(a, b)\n}\n");
	sort_comparator(b, c);
	buf_adds(b, "ENTRY e {\n");
	sort_numbers(b, c);
	buf_addf(b, "  y = %s", alone ? "" : "(");
	for (int k = 0; c->arrays[k]; k++)
		buf_addf(b, "%s%s[%d,%d]", k ? ", " : "", sort_type(c, c->arrays[k]), c->rows, c->columns);
	buf_addf(b, "%s sort(", alone ? "" : ")");
	for (int k = 0; c->arrays[k]; k++)
		buf_addf(b, "%s%s", k ? ", " : "", c->arrays[k] == 'x' ? "x" : c->arrays[k] == 'v' ? "v" :
			c->swapped ? "j" : c->dim ? "i1" : "i0");
	buf_addf(b, "), dimensions={%d}, is_stable=true, to_apply=less\n", c->dim);
	if (alone && c->joined <= BOTH)
		sort_one_result(b, c);
	else
		sort_results(b, c);
}

#endif
