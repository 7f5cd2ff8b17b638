/*
 * rewrite_few.h - programs of a sum, maximum or minimum over few terms.
 *
 * Over every set of dimensions of arrays of one to four, and of each operation. A rule takes those apart that reduce
 * the last dimension; the others are there to show that it leaves them alone.
 */
#ifndef TESTS_REWRITE_FEW_H
#define TESTS_REWRITE_FEW_H

#include "tests/rewrite_cases.h"

static void few_text(struct buf *b, uint32_t rank, uint32_t gone, const char *op, const char *first)
{
	static const int sizes[] = {3, 2, 4, 2};
	const char *in = "", *kept = "", *dim = "";
	struct buf shape = {0}, out = {0}, dims = {0};

	for (uint32_t i = 0; i < rank; i++) {
		buf_addf(&shape, "%s%d", in, sizes[i]);
		in = ",";
		if (gone >> i & 1) {
			buf_addf(&dims, "%s%u", dim, i);
			dim = ",";
		} else {
			buf_addf(&out, "%s%d", kept, sizes[i]);
			kept = ",";
		}
	}
	buf_addf(b, "HloModule m\n\nf {\n  a = f32[] parameter(0)\n  b = f32[] parameter(1)\n"
		"  ROOT c = f32[] %s(a, b)\n}\n\n"
		"ENTRY e {\n  x = f32[%s] parameter(0)\n  w = f32[%s] parameter(1)\n  i = f32[] constant(%s)\n"
		"  s = f32[%s] add(x, w)\n  ROOT y = f32[%s] reduce(s, i), dimensions={%s}, to_apply=f\n}\n",
		op, (char *)shape.data, (char *)shape.data, first, (char *)shape.data,
		out.len ? (char *)out.data : "", (char *)dims.data);
	buf_release(&shape);
	buf_release(&out);
	buf_release(&dims);
}

static void walk_few(case_visit *visit, void *ctx)
{
	static const char *const ops[][2] = {{"add", "0"}, {"maximum", "-inf"}, {"minimum", "inf"}};

	for (uint32_t rank = 1; rank <= 4; rank++)
		for (uint32_t gone = 1; gone < 1u << rank; gone++)
			for (int op = 0; op < 3; op++) {
				struct buf b = {0};
				few_text(&b, rank, gone, ops[op][0], ops[op][1]);
				visit(ctx, b.data);
				buf_release(&b);
			}
}

#endif
