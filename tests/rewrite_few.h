/*
 * rewrite_few.h - programs of a sum, product, maximum or minimum.
 *
 * Over every set of dimensions of arrays of one to four, and of each operation. A rule takes those of few terms apart
 * that reduce the last dimension; the others are there to show that it leaves them alone. Those of numbers of 16 bits
 * are over more, for a rule leaves few as they are.
 */
#ifndef TESTS_REWRITE_FEW_H
#define TESTS_REWRITE_FEW_H

#include "tests/rewrite_cases.h"

struct few_case {
	const char *type;
	int size[4];
	const char *op[2]; /* with what it begins */
};

static void few_text(struct buf *b, const struct few_case *c, uint32_t rank, uint32_t gone)
{
	const char *in = "", *kept = "", *dim = "";
	struct buf shape = {0}, out = {0}, dims = {0};

	for (uint32_t i = 0; i < rank; i++) {
		buf_addf(&shape, "%s%d", in, c->size[i]);
		in = ",";
		if (gone >> i & 1) {
			buf_addf(&dims, "%s%u", dim, i);
			dim = ",";
		} else {
			buf_addf(&out, "%s%d", kept, c->size[i]);
			kept = ",";
		}
	}
	buf_addf(b, "HloModule m\n\nf {\n  a = %s[] parameter(0)\n  b = %s[] parameter(1)\n"
		"  ROOT c = %s[] %s(a, b)\n}\n\nENTRY e {\n", c->type, c->type, c->type, c->op[0]);
	buf_addf(b, "  x = %s[%s] parameter(0)\n  w = %s[%s] parameter(1)\n  i = %s[] constant(%s)\n", c->type,
		(char *)shape.data, c->type, (char *)shape.data, c->type, c->op[1]);
	buf_addf(b, "  s = %s[%s] add(x, w)\n  ROOT y = %s[%s] reduce(s, i), dimensions={%s}, to_apply=f\n}\n",
		c->type, (char *)shape.data, c->type, out.len ? (char *)out.data : "", (char *)dims.data);
	buf_release(&shape);
	buf_release(&out);
	buf_release(&dims);
}

static void walk_few(case_visit *visit, void *ctx)
{
	static const struct few_case cases[] = {{"f32", {3, 2, 4, 2}, {"add", "0"}},
		{"f32", {3, 2, 4, 2}, {"maximum", "-inf"}}, {"f32", {3, 2, 4, 2}, {"minimum", "inf"}},
		{"bf16", {16, 8, 32, 3}, {"add", "0"}}, {"bf16", {64, 4, 16, 2}, {"multiply", "1"}},
		{"bf16", {4096, 2, 2, 2}, {"add", "7"}}, {"bf16", {16, 8, 32, 3}, {"maximum", "-inf"}}};

	for (uint32_t rank = 1; rank <= 4; rank++)
		for (uint32_t gone = 1; gone < 1u << rank; gone++)
			for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
				struct buf b = {0};
				few_text(&b, &cases[i], rank, gone);
				visit(ctx, b.data);
				buf_release(&b);
			}
}

#endif
