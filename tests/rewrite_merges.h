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

/* Flattens the n values and concatenates them, because these programs have one result. */
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

/* Writes products of x with several others; with `differ`, the labels of each are in an order of their own. */
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

/* Writes two convolutions of one input by two kernels, or of two inputs by one kernel. */
static bool merged_convolutions(struct buf *b, const struct conv_case *c, int side)
{
	const struct group_case *g = &c->g;
	int y[4] = {g->batch, g->multiple * g->groups * g->batch_groups, conv_out(&c->w[0], g->size),
		c->n > 1 ? conv_out(&c->w[1], g->size) : 1};
	const char *from;
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
	from = strstr(one.data, side ? "x = " : "k = ") + 4;
	buf_add(b, from, (size_t)(strchr(from, ']') + 1 - from));
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

/* Writes a product of which three parts are read, cut along its first and its last dimension. */
static void parted_product(struct buf *b, const char *x, const char *w, int side, uint32_t orders)
{
	struct product_case c = {.side = side};
	char out[16] = "";
	int size[MERGED];

	ordered(x, orders % 6, c.x);
	ordered(w, orders / 6, c.w);
	buf_adds(b, "HloModule m\n\nENTRY e {\n  x = ");
	shape_of(b, c.x, 0, 0);
	buf_adds(b, " parameter(0)\n  w = ");
	shape_of(b, c.w, 'n', 5);
	buf_adds(b, " parameter(1)\n  y = ");
	if (strchr(c.x, 'b'))
		strcat(out, "b");
	result_labels(&c, side ? c.w : c.x, out);
	result_labels(&c, side ? c.x : c.w, out);
	shape_of(b, out, 'n', 5);
	buf_adds(b, side ? " dot(w, x)" : " dot(x, w)");
	product_lists(b, &c, side ? c.w : c.x, "lhs");
	product_lists(b, &c, side ? c.x : c.w, "rhs");
	buf_adds(b, "\n");
	for (uint32_t i = 0; i < MERGED; i++) {
		char shape[64] = "", cut[128] = "";
		size[i] = 1;
		for (const char *p = out; *p; p++) {
			bool cut_n = *p == 'n';
			int all = cut_n ? 5 : label_size(*p);
			int start = cut_n ? (int)i : p == out && all > 2 ? 1 : 0;
			int limit = cut_n ? start + 2 + (int)i % 2 : all;
			int step = cut_n && i == 0 ? 2 : 1;
			int count = (limit - start + step - 1) / step;
			sprintf(shape + strlen(shape), "%s%d", p > out ? "," : "", count);
			sprintf(cut + strlen(cut), "%s[%d:%d:%d]", p > out ? ", " : "", start, limit, step);
			size[i] *= count;
		}
		buf_addf(b, "  y%u = f32[%s] slice(y), slice={%s}\n", i, shape, cut);
	}
	merge_result(b, size, MERGED);
}

/*
 * Writes the sum of the squared distances of x from m. Bit i of `summed`: dimension i of x is summed; bit i of `has`: m
 * has that dimension, and is the same along the others.
 */
static void squared_distances(struct buf *b, uint32_t rank, uint32_t summed, uint32_t has, bool other_way)
{
	static const int sizes[] = {3, 2, 3};
	const char *sep[4] = {"", "", "", ""};
	struct buf dims = {0}, m = {0}, map = {0}, out = {0}, gone = {0};
	struct buf *list[] = {&m, &map, &out, &gone};

	for (uint32_t i = 0; i < rank; i++) {
		buf_addf(&dims, "%s%d", i ? "," : "", sizes[i]);
		const int number[] = {sizes[i], (int)i, sizes[i], (int)i};
		const bool take[] = {has >> i & 1, has >> i & 1, !(summed >> i & 1), summed >> i & 1};
		for (int k = 0; k < 4; k++)
			if (take[k]) {
				buf_addf(list[k], "%s%d", sep[k], number[k]);
				sep[k] = ",";
			}
	}
	for (int k = 0; k < 4; k++)
		buf_addch(list[k], 0);
	buf_addf(b,
		"HloModule m\n\nadd {\n  a = f32[] parameter(0)\n  b = f32[] parameter(1)\n"
		"  ROOT c = f32[] add(a, b)\n}\n\nENTRY e {\n"
		"  x = f32[%s] parameter(0)\n  m = f32[%s] parameter(1)\n  z = f32[] constant(0)\n"
		"  p = f32[%s] broadcast(m), dimensions={%s}\n  d = f32[%s] subtract(%s)\n"
		"  q = f32[%s] multiply(d, d)\n"
		"  ROOT y = f32[%s] reduce(q, z), dimensions={%s}, to_apply=add\n}\n",
		(char *)dims.data, (char *)m.data, (char *)dims.data, (char *)map.data, (char *)dims.data,
		other_way ? "p, x" : "x, p", (char *)dims.data, (char *)out.data, (char *)gone.data);
	buf_release(&dims);
	for (int k = 0; k < 4; k++)
		buf_release(list[k]);
}

static void walk_distances(case_visit *visit, void *ctx)
{
	for (uint32_t rank = 1; rank <= 3; rank++)
		for (uint32_t summed = 1; summed < 1u << rank; summed++)
			for (uint32_t has = 0; has < 1u << rank; has++) {
				struct buf b = {0};
				if (has & summed)
					continue;
				squared_distances(&b, rank, summed, has, (rank + summed + has) % 2);
				visit(ctx, b.data);
				buf_release(&b);
			}
}

static void walk_merges(case_visit *visit, void *ctx, uint32_t each, uint32_t first)
{
	static const char *const labels[][2] = {{"mk", "kn"}, {"k", "kn"}, {"mkl", "kln"}, {"bmk", "bkn"},
		{"mk", "kpn"}, {"mpk", "kn"}, {"m", "n"}};
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
	for (size_t l = 0; l < sizeof labels / sizeof *labels; l++)
		for (uint32_t o = 0; o < 72; o++) {
			struct buf b = {0};
			if (left_out(n++, each))
				continue;
			parted_product(&b, labels[l][0], labels[l][1], (int)(o & 1), o / 2);
			visit(ctx, b.data);
			buf_release(&b);
		}
	for (uint32_t i = 0; i < 216; i++)
		for (uint32_t k = 0; k < N_WINDOWS * N_GROUPS; k++) {
			struct conv_case c = {.n = 1, .w = {window_cases[k % N_WINDOWS], {.size = 1}},
				.g = group_cases[k / N_WINDOWS]};
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
