/*
 * rewrite_windows.h - sums, products and extremes over moving windows, to which rules apply.
 *
 * Short windows of every stride, padding and dilation; and long ones, which some rules take apart by their dimensions.
 */
#ifndef TESTS_REWRITE_WINDOWS_H
#define TESTS_REWRITE_WINDOWS_H

#include "tests/rewrite_cases.h"

static void window_text(struct buf *b, const struct window_case *w, const int *sizes, uint32_t rank,
	const char *const *op, const char *type)
{
	buf_addf(b, "HloModule m\n\nf {\n  a = %s[] parameter(0)\n  b = %s[] "
		"parameter(1)\n  ROOT c = %s[] %s(a, b)\n}\n\n"
		    "ENTRY e {\n  x = %s[", type, type, type, op[0], type);
	for (uint32_t i = 0; i < rank; i++)
		buf_addf(b, "%s%d", i ? "," : "", sizes[i]);
	buf_addf(b, "] parameter(0)\n  i = %s[] constant(%s)\n  ROOT y = %s[", type, op[1], type);
	for (uint32_t i = 0; i < rank; i++)
		buf_addf(b, "%s%d", i ? "," : "", conv_out(&w[i], sizes[i]));
	buf_adds(b, "] reduce-window(x, i), to_apply=f, window={size=");
	for (int what = 0; what < 5; what++) {
		static const char *const key[] = {"", " stride=", " pad=", " lhs_dilate=", " rhs_dilate="};
		buf_adds(b, key[what]);
		for (uint32_t i = 0; i < rank; i++) {
			const int number[] = {w[i].size, w[i].stride, w[i].low, w[i].base, w[i].dilation};
			buf_addf(b, "%s%d", i ? "x" : "", number[what]);
			if (what == 2)
				buf_addf(b, "_%d", w[i].high);
		}
	}
	buf_adds(b, "}\n}\n");
}

/* Is there a window over something of that size that sees no padding but at the edges? */
static bool window_fits(const struct window_case *w, int size)
{
	return !w->reversed && conv_out(w, size) > 0 && (w->size - 1) * w->dilation <= (size - 1) * w->base;
}

/* Windows over one to three dimensions of these sizes, of each operation, from n kinds along each. */
static void walk_window_kinds(const struct window_case *kind, uint32_t n, const int *sizes, case_visit *visit,
	void *ctx, uint32_t each, uint32_t first)
{
	static const char *const ops[][2] = {{"add", "0"}, {"maximum", "-inf"}, {"minimum", "inf"},
		{"multiply", "1"}};
	uint32_t seen = first;

	for (uint32_t rank = 1; rank <= 3; rank++)
		for (uint32_t i = 0; i < n * n; i++)
			for (int op = 0; op < 4; op++) {
				struct window_case w[3] = {kind[i % n], kind[i / n], kind[i % 5]};
				struct buf b = {0};
				bool some = true;
				for (uint32_t k = 0; k < rank; k++)
					some = some && window_fits(&w[k], sizes[k]);
				if (left_out(seen++, each) || !some)
					continue;
				window_text(&b, w, sizes, rank, ops[op], i % 3 ? "f32" : "bf16");
				visit(ctx, b.data);
				buf_release(&b);
			}
}

static void walk_windows(case_visit *visit, void *ctx, uint32_t each, uint32_t first)
{
	walk_window_kinds(window_cases, N_WINDOWS, (const int[]){5, 4, 6}, visit, ctx, each, first);
}

/* Long windows, and among them those of all up to an element. */
static void walk_long_windows(case_visit *visit, void *ctx, uint32_t each, uint32_t first)
{
	static const struct window_case longer[] = {{7, 1, 6, 0, 1, 1, 0}, {9, 1, 4, 4, 1, 1, 0}, {5, 2, 3, 3, 1, 1, 0},
		{1, 1, 0, 0, 1, 1, 0}, {4, 1, 3, 0, 1, 1, 0}, {17, 1, 16, 0, 1, 1, 0}, {5, 1, 4, 4, 1, 2, 0},
		{7, 3, 3, 3, 2, 1, 0}, {16, 1, 0, 15, 1, 1, 0}, {8, 2, -1, 3, 1, 1, 0}};

	walk_window_kinds(longer, sizeof longer / sizeof *longer, (const int[]){17, 9, 10}, visit, ctx, each, first);
}

#endif
