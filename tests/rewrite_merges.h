/*
 * rewrite_merges.h - small programs in which products or convolutions share an operand, of all dimension numberings.
 */
#ifndef TESTS_REWRITE_MERGES_H
#define TESTS_REWRITE_MERGES_H

#include "tests/rewrite_cases.h"

#define MERGED 3

static int merge_size(const char *labels, int columns)
{
	int n = 1;

	for (const char *p = labels; *p; p++)
		n *= *p == 'n' ? columns : label_size(*p);
	return n;
}

/* Flattens the n values and puts them together: a program has one result here. */
static void merge_result(struct buf *b, const int *size, uint32_t n)
{
	int all = 0;

	for (uint32_t i = 0; i < n; i++) {
		buf_addf(b, "  r%u = f32[%d] reshape(y%u)\n", i, size[i], i);
		all += size[i];
	}
	buf_addf(b, "  ROOT all = f32[%d] concatenate(", all);
	for (uint32_t i = 0; i < n; i++)
		buf_addf(b, "%sr%u", i ? ", " : "", i);
	buf_adds(b, "), dimensions={0}\n}\n");
}

/* Products of x with several others, the i-th of which has its labels in an order of its own if they differ. */
static void merged_products(struct buf *b, const char *x, const char *w, int side, uint32_t orders, bool differ)
{
	struct product_case c = {.side = side};
	int size[MERGED];

	ordered(x, orders % 6, c.x);
	buf_adds(b, "HloModule m\n\nENTRY e {\n  x = ");
	shape_of(b, c.x, 0, 0);
	buf_adds(b, " parameter(0)\n");
	for (uint32_t i = 0; i < MERGED; i++) {
		int columns = 1 + (int)(i + orders) % 3;
		char out[16] = "";
		ordered(w, orders / 6 + (differ ? i : 0), c.w);
		buf_addf(b, "  w%u = ", i);
		shape_of(b, c.w, 'n', columns);
		buf_addf(b, " parameter(%u)\n  y%u = ", i + 1, i);
		if (strchr(c.x, 'b'))
			strcat(out, "b");
		result_labels(&c, side ? c.w : c.x, out);
		result_labels(&c, side ? c.x : c.w, out);
		shape_of(b, out, 'n', columns);
		buf_addf(b, side ? " dot(w%u, x)" : " dot(x, w%u)", i);
		product_lists(b, &c, side ? c.w : c.x, "lhs");
		product_lists(b, &c, side ? c.x : c.w, "rhs");
		buf_adds(b, "\n");
		size[i] = merge_size(out, columns);
	}
	merge_result(b, size, MERGED);
}

/* One of `text` after another between a first and a last part of a convolution's text: see merged_convolutions. */
static void put_line(struct buf *b, const char *text, const char *key)
{
	const char *p = strstr(text, key), *end = strchr(p, '\n');

	buf_add(b, p, (size_t)(end - p));
}

/* Two convolutions of one input by two kernels, or of two inputs by one kernel. */
static bool merged_convolutions(struct buf *b, const struct conv_case *c, int side)
{
	const struct group_case *g = &c->g;
	int y[4] = {g->batch, g->multiple * g->groups * g->batch_groups, conv_out(&c->w[0], g->size), conv_out(&c->w[1], g->size)};
	const char *to;
	struct buf one = {0};
	int size[2];

	if (!conv_text(&one, c)) {
		buf_release(&one);
		return false;
	}
	buf_adds(b, "HloModule m\n\nENTRY e {\n  ");
	put_line(b, one.data, "x = ");
	buf_adds(b, "\n  ");
	put_line(b, one.data, "k = ");
	buf_adds(b, side ? "\n  z = " : "\n  l = ");
	to = strchr(strstr(one.data, side ? "x = " : "k = ") + 4, ']');
	buf_add(b, strstr(one.data, side ? "x = " : "k = ") + 4, (size_t)(to + 1 - strstr(one.data, side ? "x = " : "k = ") - 4));
	buf_adds(b, " parameter(2)\n");
	for (uint32_t i = 0; i < 2; i++) {
		struct buf line = {0};
		size[i] = y[0] * y[1] * y[2] * (c->n > 1 ? y[3] : 1);
		put_line(&line, one.data, "y = ");
		buf_addch(&line, 0);
		const char *at = strstr(line.data, "(x, k)");
		buf_addf(b, "  y%u", i);
		buf_add(b, (char *)line.data + 1, (size_t)(at - (char *)line.data) - 1);
		buf_addf(b, "(%s, %s)%s\n", side && i ? "z" : "x", !side && i ? "l" : "k", at + 6);
		buf_release(&line);
	}
	merge_result(b, size, 2);
	buf_release(&one);
	return true;
}

static void walk_merges(case_visit *visit, void *ctx, uint32_t each, uint32_t first)
{
	static const char *const labels[][2] = {{"mk", "kn"}, {"k", "kn"}, {"mkl", "kln"}, {"bmk", "bkn"}, {"mk", "kpn"}, {"mpk", "kn"},
		{"m", "n"}};
	uint32_t n = first;

	for (size_t l = 0; l < sizeof labels / sizeof *labels; l++)
		for (uint32_t o = 0; o < 144; o++) {
			struct buf b = {0};
			if (left_out(n++, each))
				continue;
			merged_products(&b, labels[l][0], labels[l][1], (int)(o & 1), o / 4, o & 2);
			visit(ctx, b.data);
			buf_release(&b);
		}
	for (uint32_t i = 0; i < 216; i++)
		for (uint32_t k = 0; k < N_WINDOWS * N_GROUPS; k++) {
			struct conv_case c = {.n = 1, .w = {window_cases[k % N_WINDOWS], {.size = 1}}, .g = group_cases[k / N_WINDOWS]};
			const char *o[3] = {orders3[i % 6], orders3[i / 6 % 6], orders3[i / 36]};
			struct buf b = {0};
			if (left_out(n++, 8 * each))
				continue;
			for (int a = 0; a < 3; a++)
				for (int m = 0; m < 3; m++)
					c.order[a][m] = o[a][m] - '0';
			if (merged_convolutions(&b, &c, (int)(i + k) % 2))
				visit(ctx, b.data);
			buf_release(&b);
		}
}

#endif
