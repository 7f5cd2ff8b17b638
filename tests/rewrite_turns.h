/*
 * rewrite_turns.h - programs of a product, transposed or not, of all dimension numberings.
 *
 * Some are of 65,536 multiplications and more, for rules leave smaller ones as they lie.
 */
#ifndef TESTS_REWRITE_TURNS_H
#define TESTS_REWRITE_TURNS_H

#include "tests/rewrite_cases.h"

static void turned_product(struct buf *b, const struct product_case *c, bool turns)
{
	char left[16] = "", right[16] = "", out[16] = "", turned[16] = "";
	const char *shared = strchr(c->x, 'b') ? "b" : "";

	result_labels(c, c->x, left);
	result_labels(c, c->w, right);
	snprintf(out, sizeof out, "%s%.5s%.5s", shared, left, right);
	snprintf(turned, sizeof turned, "%s%.5s%.5s", shared, right, left);
	buf_adds(b, "HloModule m\n\nENTRY e {\n  x = ");
	shape_of(b, c->x, 0, 0);
	buf_adds(b, " parameter(0)\n  w = ");
	shape_of(b, c->w, 0, 0);
	buf_addf(b, " parameter(1)\n  %st = ", turns ? "" : "ROOT ");
	shape_of(b, out, 0, 0);
	buf_adds(b, " dot(x, w)");
	product_lists(b, c, c->x, "lhs");
	product_lists(b, c, c->w, "rhs");
	if (!turns) {
		buf_adds(b, "\n}\n");
		return;
	}
	buf_adds(b, "\n  ROOT y = ");
	shape_of(b, turned, 0, 0);
	buf_adds(b, " transpose(t), dimensions={");
	dims_of(b, out, turned);
	buf_adds(b, "}\n}\n");
}

static void walk_labels(case_visit *visit, void *ctx, const char *const labels[2], bool turns, uint32_t each,
	uint32_t *n)
{
	for (uint32_t o = 0; o < 36; o++) {
		struct product_case c = {.side = 0};
		struct buf b = {0};
		if (left_out((*n)++, each))
			continue;
		ordered(labels[0], o % 6, c.x);
		ordered(labels[1], o / 6, c.w);
		turned_product(&b, &c, turns);
		visit(ctx, b.data);
		buf_release(&b);
	}
}

static void walk_turns(case_visit *visit, void *ctx, uint32_t each, uint32_t first)
{
	static const char *const turned[][2] = {{"mk", "kn"}, {"mkl", "kln"}, {"bmk", "bkn"}, {"mk", "kpn"},
		{"mpk", "kn"}, {"m", "n"}};
	static const char *const large[][2] = {{"MK", "KN"}, {"MKl", "KlN"}, {"bMK", "bKN"}, {"MK", "KpN"},
		{"MpK", "KN"}};
	uint32_t n = first;

	for (size_t l = 0; l < sizeof turned / sizeof *turned; l++)
		walk_labels(visit, ctx, turned[l], true, each, &n);
	for (size_t l = 0; l < sizeof large / sizeof *large; l++)
		walk_labels(visit, ctx, large[l], false, each, &n);
	for (size_t l = 0; l < sizeof large / sizeof *large; l++)
		walk_labels(visit, ctx, large[l], true, 2 * each, &n);
}

#endif
