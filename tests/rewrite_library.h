/*
 * rewrite_library.h - products and convolutions that are large enough for a call of a library, in all orders of their
 * dimensions.
 */
#ifndef TESTS_REWRITE_LIBRARY_H
#define TESTS_REWRITE_LIBRARY_H

#include "tests/rewrite_cases.h"

/* Sizes of the labels b, c (shared), m, p (of the first side), k, l (summed), n, q (of the second). */
static int called_size(char label)
{
	static const char labels[] = "bcmpklnq";
	static const int sizes[] = {2, 3, 12, 5, 16, 9, 14, 6};

	return sizes[strchr(labels, label) - labels];
}

static void called_array(struct buf *b, const char *labels)
{
	buf_adds(b, "f32[");
	for (const char *p = labels; *p; p++)
		buf_addf(b, "%s%d", p > labels ? "," : "", called_size(*p));
	buf_adds(b, "]");
}

/* The dimensions of a side that stand for these labels, in the order of the labels. */
static void called_dims(struct buf *b, const char *key, const char *side, const char *labels)
{
	buf_addf(b, ", %s={", key);
	for (const char *p = labels; *p; p++)
		buf_addf(b, "%s%d", p > labels ? "," : "", (int)(strchr(side, *p) - side));
	buf_adds(b, "}");
}

static void called_product(struct buf *b, const char *x, const char *w, const char *shared, const char *summed)
{
	char result[DRAFT_RANK] = "", *end = result + sprintf(result, "%s", shared);

	for (const char *p = x; *p; p++)
		if (!strchr(w, *p))
			*end++ = *p;
	for (const char *p = w; *p; p++)
		if (!strchr(x, *p))
			*end++ = *p;
	*end = 0;
	buf_adds(b, "HloModule m\n\nENTRY e {\n  x = ");
	called_array(b, x);
	buf_adds(b, " parameter(0)\n  w = ");
	called_array(b, w);
	buf_adds(b, " parameter(1)\n  ROOT y = ");
	called_array(b, result);
	buf_adds(b, " dot(x, w)");
	called_dims(b, "lhs_batch_dims", x, shared);
	called_dims(b, "rhs_batch_dims", w, shared);
	called_dims(b, "lhs_contracting_dims", x, summed);
	called_dims(b, "rhs_contracting_dims", w, summed);
	buf_adds(b, "\n}\n");
}

/* Puts labels in an order, by its number. */
static void called_order(const char *labels, uint32_t number, char *out)
{
	uint32_t n = (uint32_t)strlen(labels);
	int order[8];

	order_of(n, number, order);
	for (uint32_t i = 0; i < n; i++)
		out[i] = labels[order[i]];
	out[n] = 0;
}

static void walk_called_products(case_visit *visit, void *ctx, uint32_t each, uint32_t first)
{
	static const char *const sides[][4] = {{"mpkl", "klnq", "", "kl"}, {"mpkl", "klnq", "", "lk"},
		{"bmpkl", "bkln", "b", "kl"}, {"bcmkl", "bcknl", "cb", "kl"}, {"bmpk", "bknq", "b", "k"},
		{"bcmpkl", "bckl", "bc", "kl"}, {"bckl", "bcklnq", "bc", "lk"}, {"mpklbc", "nqbc", "", "bc"}};

	for (uint32_t i = first; i < 23 * 40; i += each) {
		const char *const *s = sides[i % (sizeof sides / sizeof *sides)];
		char x[8], w[8];
		struct buf b = {0};
		called_order(s[0], i * 7, x);
		called_order(s[1], i * 31 / 3, w);
		called_product(&b, x, w, s[2], s[3]);
		visit(ctx, b.data);
		buf_release(&b);
	}
}

static void walk_called_windows(case_visit *visit, void *ctx, uint32_t each, uint32_t first)
{
	static const struct group_case many[] = {{1, 1, 12, 16, 2, 7}, {4, 1, 5, 6, 2, 8}, {24, 1, 1, 2, 2, 12}};

	for (uint32_t i = first; i < 23 * 60; i += each) {
		struct conv_case c = {.n = 2, .w = {window_cases[i % N_WINDOWS], window_cases[i / 5 % N_WINDOWS]},
			.g = many[i % 3]};
		visit_conv2(i * 11, &c, visit, ctx);
	}
	for (uint32_t i = first; i < 23 * 12; i += each) {
		bool line = i % 2 == 0;
		struct conv_case c = {.n = line ? 1 : 3,
			.g = {1, 1, line ? 40 : 12, line ? 50 : 16, 2, line ? 30 : 5}};
		for (uint32_t k = 0; k < c.n; k++)
			c.w[k] = window_cases[(i / 2 + 5 * k) % N_WINDOWS];
		for (uint32_t a = 0; a < 3; a++)
			order_of(c.n + 2, i * 31 + a * 47, c.order[a]);
		visit_conv(&c, visit, ctx);
	}
}

#endif
