/*
 * rewrite_unpools.h - programs of a gradient of a maximum or minimum over a window (select-and-scatter).
 *
 * Over one to three dimensions, each with windows of its own: that tile, overlap or leave places out, that meet padding
 * first or last or are all in it, that begin after the first element.
 */
#ifndef TESTS_REWRITE_UNPOOLS_H
#define TESTS_REWRITE_UNPOOLS_H

#include "tests/rewrite_cases.h"

static const struct window_case unpool_cases[] = {
	{2, 2, 0, 0, 1, 1, 0}, {3, 2, 0, 1, 1, 1, 0}, {1, 1, 0, 0, 1, 1, 0}, {3, 2, 1, 1, 1, 1, 0},
	{3, 1, 1, 1, 1, 1, 0},
	{2, 3, 0, 1, 1, 1, 0}, {2, 3, 1, -1, 1, 1, 0}, {3, 2, -1, 2, 1, 1, 0}, {2, 1, 1, 0, 1, 1, 0},
	{1, 2, 0, 0, 1, 1, 0}, {4, 3, 2, 1, 1, 1, 0}, {2, 2, 3, 0, 1, 1, 0}, {2, 1, 0, 3, 1, 1, 0},
	{3, 1, 0, 0, 1, 1, 0}};
#define N_UNPOOLS (sizeof unpool_cases / sizeof *unpool_cases)

static void unpool_text(struct buf *b, const struct window_case *w, uint32_t rank, const char *direction, bool turned)
{
	static const int sizes[] = {5, 4, 6};

	buf_addf(b, "HloModule m\n\nselects {\n  a = f32[] parameter(0)\n  b = f32[] parameter(1)\n"
		"  ROOT c = pred[] compare(%s), direction=%s\n}\n\n"
		"adds {\n  a = f32[] parameter(0)\n  b = f32[] parameter(1)\n  ROOT c = f32[] add(a, b)\n}\n\n"
		"ENTRY e {\n  x = f32[",
		turned ? "b, a" : "a, b", direction);
	for (uint32_t i = 0; i < rank; i++)
		buf_addf(b, "%s%d", i ? "," : "", sizes[i]);
	buf_adds(b, "] parameter(0)\n  s = f32[");
	for (uint32_t i = 0; i < rank; i++)
		buf_addf(b, "%s%d", i ? "," : "", conv_out(&w[i], sizes[i]));
	buf_adds(b, "] parameter(1)\n  i = f32[] constant(0)\n  ROOT y = f32[");
	for (uint32_t i = 0; i < rank; i++)
		buf_addf(b, "%s%d", i ? "," : "", sizes[i]);
	buf_adds(b, "] select-and-scatter(x, s, i), select=selects, scatter=adds, window={size=");
	for (int what = 0; what < 3; what++) {
		static const char *const key[] = {"", " stride=", " pad="};
		buf_adds(b, key[what]);
		for (uint32_t i = 0; i < rank; i++) {
			const int number[] = {w[i].size, w[i].stride, w[i].low};
			buf_addf(b, "%s%d", i ? "x" : "", number[what]);
			if (what == 2)
				buf_addf(b, "_%d", w[i].high);
		}
	}
	buf_adds(b, "}\n}\n");
}

static void walk_unpools(case_visit *visit, void *ctx, uint32_t each, uint32_t first)
{
	static const char *const direction[] = {"GE", "LE", "GT", "LT"};
	uint32_t n = first;

	for (uint32_t rank = 1; rank <= 3; rank++)
		for (uint32_t i = 0; i < N_UNPOOLS * N_UNPOOLS; i++)
			for (uint32_t k = 0; k < 4; k++) {
				struct window_case w[3] = {unpool_cases[i % N_UNPOOLS], unpool_cases[i / N_UNPOOLS],
					unpool_cases[(i + k) % 5]};
				struct buf b = {0};
				if (left_out(n++, each) || (rank == 1 && i >= N_UNPOOLS))
					continue;
				unpool_text(&b, w, rank, direction[k], (i + k / 2) % 2);
				visit(ctx, b.data);
				buf_release(&b);
			}
}

#endif
