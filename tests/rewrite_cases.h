/*
 * rewrite_cases.h - small programs to which rules of space/rewrite/ apply, with all numberings of dimensions.
 *
 * Each is HLO text with small dimensions, windows and groups. Together they have every order of dimensions that the
 * definitions allow. A walk gives them to a visitor one by one.
 */
#ifndef TESTS_REWRITE_CASES_H
#define TESTS_REWRITE_CASES_H

#include <stdio.h>
#include <string.h>
#include "base/buf.h"
#include "base/rng.h"

typedef void case_visit(void *ctx, const char *text);

/* Leaves out all but one in `each`, spread so that they fall on no period of the walk. */
static inline bool left_out(uint32_t n, uint32_t each)
{
	return (n * 2654435761u >> 8) % each != 0;
}

/* ---- orders of a few things ---- */

static const char *const orders3[] = {"012", "021", "102", "120", "201", "210"};

/* ---- convolutions ---- */

struct window_case {
	int size, stride, low, high, base, dilation, reversed;
};
static const struct window_case window_cases[] = {
	{3, 1, 1, 1, 1, 1, 0}, {2, 1, 0, 0, 1, 1, 0}, {1, 1, 0, 0, 1, 1, 0}, {3, 2, 1, 1, 1, 1, 0},
	{2, 2, 0, 1, 1, 2, 0},
	{3, 1, 2, 1, 2, 1, 0}, {3, 1, 1, 1, 1, 1, 1}, {2, 1, 1, 0, 3, 1, 1}, {3, 1, -1, 2, 1, 1, 0},
	{2, 3, 0, -1, 1, 1, 0},
	{1, 2, 0, 0, 1, 1, 0}, {4, 1, 0, 0, 1, 1, 0}};
#define N_WINDOWS (sizeof window_cases / sizeof *window_cases)

struct group_case {
	int groups, batch_groups, inner, multiple, batch, size;
};
static const struct group_case group_cases[] = {{1, 1, 2, 3, 2, 4}, {1, 1, 1, 2, 2, 5}, {2, 1, 1, 1, 2, 4},
	{3, 1, 1, 2, 1, 5},
	{2, 1, 2, 2, 2, 4}, {1, 3, 2, 1, 1, 4}, {1, 2, 2, 2, 1, 5}, {1, 1, 3, 3, 3, 3}};
#define N_GROUPS (sizeof group_cases / sizeof *group_cases)

struct conv_case {
	uint32_t n; /* spatial dimensions */
	struct window_case w[3];
	struct group_case g;
	/* of input, kernel, output: which dimension stands where (0 batch or o, 1 feature or i, 2.. spatial) */
	int order[3][5];
	uint32_t single; /* a bit for each spatial dimension of which there is one element */
	bool reverse;	 /* the kernel goes through an instruction that turns it around */
};

static int conv_out(const struct window_case *w, int size)
{
	int in = w->low + w->high + (size - 1) * w->base + 1, seen = (w->size - 1) * w->dilation + 1;

	return in < seen ? 0 : (in - seen) / w->stride + 1;
}

static void conv_shape(struct buf *b, const struct conv_case *c, int which, const int *dims)
{
	buf_adds(b, "f32[");
	for (uint32_t i = 0; i < c->n + 2; i++)
		buf_addf(b, "%s%d", i ? "," : "", dims[c->order[which][i]]);
	buf_adds(b, "]");
}

static void conv_labels(struct buf *b, const struct conv_case *c, int which)
{
	static const char *const letters[] = {"bf012", "oi012", "bf012"};

	for (uint32_t i = 0; i < c->n + 2; i++)
		buf_addch(b, letters[which][c->order[which][i]]);
}

static void conv_list(struct buf *b, const struct conv_case *c, const char *key, const char *format, int what)
{
	buf_addf(b, " %s=", key);
	for (uint32_t i = 0; i < c->n; i++) {
		const struct window_case *w = &c->w[i];
		const int first[] = {w->size, w->stride, w->low, w->base, w->dilation, w->reversed};
		buf_adds(b, i ? "x" : "");
		buf_addf(b, "%d", first[what]);
		if (*format)
			buf_addf(b, "_%d", w->high);
	}
}

/* False where the output would be empty. */
static bool conv_text(struct buf *b, const struct conv_case *c)
{
	const struct group_case *g = &c->g;
	int x[5] = {g->batch * g->batch_groups, g->inner * g->groups};
	int k[5] = {g->multiple * g->groups * g->batch_groups, g->inner};
	int y[5] = {g->batch, k[0]};

	for (uint32_t i = 0; i < c->n; i++) {
		x[2 + i] = c->single >> i & 1 ? 1 : g->size;
		k[2 + i] = c->w[i].size;
		y[2 + i] = conv_out(&c->w[i], x[2 + i]);
		if (y[2 + i] < 1)
			return false;
	}
	buf_adds(b, "HloModule m\n\nENTRY e {\n  x = ");
	conv_shape(b, c, 0, x);
	buf_adds(b, " parameter(0)\n  k = ");
	conv_shape(b, c, 1, k);
	buf_adds(b, " parameter(1)\n");
	if (c->reverse) {
		buf_adds(b, "  r = ");
		conv_shape(b, c, 1, k);
		buf_adds(b, " reverse(k), dimensions={");
		for (uint32_t i = 0, n = 0; i < c->n + 2; i++)
			if (c->order[1][i] >= 2)
				buf_addf(b, "%s%u", n++ ? "," : "", i);
		buf_adds(b, "}\n");
	}
	buf_adds(b, "  ROOT y = ");
	conv_shape(b, c, 2, y);
	buf_addf(b, " convolution(x, %s), window={", c->reverse ? "r" : "k");
	conv_list(b, c, "size", "", 0);
	conv_list(b, c, "stride", "", 1);
	conv_list(b, c, "pad", "_", 2);
	conv_list(b, c, "lhs_dilate", "", 3);
	conv_list(b, c, "rhs_dilate", "", 4);
	conv_list(b, c, "rhs_reversal", "", 5);
	buf_adds(b, "}, dim_labels=");
	for (int i = 0; i < 3; i++) {
		conv_labels(b, c, i);
		buf_adds(b, i == 0 ? "_" : i == 1 ? "->" : "");
	}
	buf_addf(b, ", feature_group_count=%d, batch_group_count=%d\n}\n", g->groups, g->batch_groups);
	return true;
}

static void visit_conv(const struct conv_case *c, case_visit *visit, void *ctx)
{
	struct buf b = {0};

	if (conv_text(&b, c))
		visit(ctx, b.data);
	buf_release(&b);
}

/* Visits convolutions of one spatial dimension: every `each`-th combination of numbering, window and groups. */
static inline void walk_conv1(case_visit *visit, void *ctx, uint32_t each, uint32_t first)
{
	uint32_t n = first;

	for (uint32_t i = 0; i < 216; i++)
		for (size_t w = 0; w < N_WINDOWS; w++)
			for (size_t g = 0; g < N_GROUPS; g++) {
				const char *o[3] = {orders3[i % 6], orders3[i / 6 % 6], orders3[i / 36]};
				struct conv_case c = {.n = 1, .w = {window_cases[w]}, .g = group_cases[g],
					.reverse = n % 3 == 0};
				if (left_out(n++, each))
					continue;
				for (int a = 0; a < 3; a++)
					for (int k = 0; k < 3; k++)
						c.order[a][k] = o[a][k] - '0';
				visit_conv(&c, visit, ctx);
			}
}

/* The number-th order of n things. */
static void order_of(uint32_t n, uint32_t number, int *order)
{
	uint32_t used = 0;

	for (uint32_t k = n; k > 0; k--) {
		uint32_t pick = number % k, v = 0;
		number /= k;
		for (;; v++)
			if (!(used >> v & 1) && pick-- == 0)
				break;
		used |= 1u << v;
		*order++ = (int)v;
	}
}

static void visit_conv2(uint32_t i, struct conv_case *c, case_visit *visit, void *ctx)
{
	for (int a = 0; a < 3; a++, i /= 24)
		order_of(4, i % 24, c->order[a]);
	visit_conv(c, visit, ctx);
}

/* Visits convolutions of two spatial dimensions: all 13,824 numberings, with windows and groups in turn. */
static inline void walk_conv2(case_visit *visit, void *ctx, uint32_t each, uint32_t first)
{
	for (uint32_t i = first; i < 13824; i += each) {
		struct conv_case c = {.n = 2, .w = {window_cases[i % N_WINDOWS], window_cases[i / 5 % N_WINDOWS]},
			.g = group_cases[i / 3 % N_GROUPS], .reverse = i % 4 == 0};
		visit_conv2(i, &c, visit, ctx);
	}
}

/* The same of columns and rows. */
static inline void walk_columns(case_visit *visit, void *ctx, uint32_t each, uint32_t first)
{
	for (uint32_t i = first; i < 13824; i += each) {
		struct conv_case c = {.n = 2, .g = group_cases[i / 3 % N_GROUPS], .single = 1 + i % 2};
		c.w[i % 2] = window_cases[2];
		c.w[!(i % 2)] = window_cases[i / 5 % N_WINDOWS];
		visit_conv2(i, &c, visit, ctx);
	}
}

/*
 * The same for windows that are larger than what they move over, as in the gradient of a transposed convolution's
 * filter. They have more taps than any rule takes apart.
 */
static inline void walk_large(case_visit *visit, void *ctx, uint32_t each, uint32_t first)
{
	static const struct window_case large[] = {{8, 1, 1, 2, 2, 1, 0}, {9, 1, 3, 4, 1, 1, 0}, {8, 1, -1, 2, 3, 1, 0},
		{8, 1, 4, 4, 3, 2, 0}, {8, 2, 3, 4, 1, 1, 0}};

	for (uint32_t i = first; i < 13824; i += each) {
		struct conv_case c = {.n = 2, .w = {large[i % 5], large[i / 7 % 5]}, .g = group_cases[i / 3 % 2]};
		visit_conv2(i, &c, visit, ctx);
	}
}

/* Visits some convolutions of three spatial dimensions. */
static inline void walk_conv3(case_visit *visit, void *ctx, uint32_t each, uint32_t first)
{
	for (uint32_t i = first; i < 2000; i += each) {
		struct conv_case c = {.n = 3, .w = {window_cases[i % N_WINDOWS], window_cases[i / 5 % N_WINDOWS],
			window_cases[i / 11 % N_WINDOWS]}, .g = group_cases[i / 3 % N_GROUPS]};
		for (uint32_t a = 0; a < 3; a++)
			order_of(5, i * 31 + a * 47, c.order[a]);
		visit_conv(&c, visit, ctx);
	}
}

/* ---- products with operands put together ---- */

/*
 * Sizes of the labels b (shared), m, p (kept of the operand in question), k, l (summed), n (kept of the other one).
 * An operand is a string of labels; the one in question is a concatenation along `along`, or one part alone.
 */
struct product_case {
	char x[6], w[6]; /* labels */
	char along;	 /* 0: no concatenation */
	int side;
	/* p a parameter, s a broadcast of one number, b a broadcast that has the first label, g a gather */
	char part[4];
};

static int label_size(char c)
{
	return c == 'b' || c == 'p' || c == 'l' ? 2 : strchr("MKQ", c) ? 32 : c == 'N' ? 64 : c == 'W' ? 512 : 3;
}

static void shape_of(struct buf *b, const char *labels, char along, int size)
{
	buf_adds(b, "f32[");
	for (const char *p = labels; *p; p++)
		buf_addf(b, "%s%d", p > labels ? "," : "", *p == along ? size : label_size(*p));
	buf_adds(b, "]");
}

static void dims_of(struct buf *b, const char *labels, const char *which)
{
	const char *sep = "";

	for (const char *p = which; *p; p++)
		if (strchr(labels, *p)) {
			buf_addf(b, "%s%d", sep, (int)(strchr(labels, *p) - labels));
			sep = ",";
		}
}

static void append(char *labels, char l)
{
	size_t n = strlen(labels);

	labels[n] = l;
	labels[n + 1] = 0;
}

static bool is_summed(const struct product_case *c, char l)
{
	return strchr("klK", l) && strchr(c->x, l) && strchr(c->w, l);
}

/* A part of the operand: numbers of the first parameter, of the table, of the indices follow one another. */
static bool part_text(struct buf *b, const struct product_case *c, int i, int size, int *parameter)
{
	char kind = c->part[i], summed[6] = "", kept[6] = "";

	for (const char *p = c->x; *p; p++)
		append(is_summed(c, *p) ? summed : kept, *p);
	if (kind == 'p') {
		buf_addf(b, "  part%d = ", i);
		shape_of(b, c->x, c->along, size);
		buf_addf(b, " parameter(%d)\n", (*parameter)++);
		return true;
	}
	if (kind == 'g') { /* rows of a table, of which there are four */
		char table[8];
		if (strlen(kept) != 1 || !*summed || strchr(c->x, 'b') || c->along == kept[0])
			return false;
		snprintf(table, sizeof table, i % 2 ? "r%s" : "%sr", summed);
		buf_addf(b, "  table%d = ", i);
		shape_of(b, table, c->along, size);
		buf_addf(b, " parameter(%d)\n  index%d = s32[%d,1] parameter(%d)\n  part%d = ", *parameter, i,
			label_size(kept[0]),
			*parameter + 1, i);
		*parameter += 2;
		shape_of(b, c->x, c->along, size);
		buf_addf(b, " gather(table%d, index%d), offset_dims={", i, i);
		dims_of(b, c->x, summed);
		buf_addf(b, "}, collapsed_slice_dims={%d}, start_index_map={%d}, index_vector_dim=1, slice_sizes={",
			(int)(strchr(table, 'r') - table), (int)(strchr(table, 'r') - table));
		for (const char *p = table; *p; p++)
			buf_addf(b, "%s%d", p > table ? "," : "", *p == 'r' ? 1 : *p == c->along ? size
				: label_size(*p));
		buf_adds(b, "}\n");
		return true;
	}
	char has[6] = "";
	if (kind == 'b')
		append(has, *c->x);
	for (const char *p = c->x; *p; p++) /* what both share stays */
		if (*p == 'b' && !strchr(has, 'b'))
			append(has, *p);
	buf_addf(b, "  small%d = ", i);
	shape_of(b, has, c->along, size);
	buf_addf(b, " parameter(%d)\n  part%d = ", (*parameter)++, i);
	shape_of(b, c->x, c->along, size);
	buf_addf(b, " broadcast(small%d), dimensions={", i);
	for (const char *p = has; *p; p++)
		buf_addf(b, "%s%d", p > has ? "," : "", (int)(strchr(c->x, *p) - c->x));
	buf_adds(b, "}\n");
	return true;
}

static void product_lists(struct buf *b, const struct product_case *c, const char *labels, const char *side)
{
	char summed[6] = "";

	for (const char *p = c->x; *p; p++)
		if (is_summed(c, *p))
			append(summed, *p);
	buf_addf(b, ", %s_batch_dims={", side);
	dims_of(b, labels, strchr(c->x, 'b') ? "b" : "");
	buf_addf(b, "}, %s_contracting_dims={", side);
	dims_of(b, labels, summed);
	buf_adds(b, "}");
}

static void result_labels(const struct product_case *c, const char *labels, char *out)
{
	for (const char *p = labels; *p; p++)
		if (*p != 'b' && !is_summed(c, *p))
			append(out, *p);
}

static bool product_text(struct buf *b, const struct product_case *c)
{
	int n = (int)strlen(c->part), parameter = 0, total = 0;
	char out[16] = "";

	buf_adds(b, "HloModule m\n\nENTRY e {\n");
	for (int i = 0; i < n; i++) {
		int size = n > 1 ? 1 + (i + 1) % 3 : label_size(c->along ? c->along : 'k');
		total += size;
		if (!part_text(b, c, i, size, &parameter))
			return false;
	}
	if (n > 1) {
		buf_adds(b, "  x = ");
		shape_of(b, c->x, c->along, total);
		buf_adds(b, " concatenate(");
		for (int i = 0; i < n; i++)
			buf_addf(b, "%spart%d", i ? ", " : "", i);
		buf_addf(b, "), dimensions={%d}\n", (int)(strchr(c->x, c->along) - c->x));
	}
	buf_adds(b, "  w = ");
	shape_of(b, c->w, c->along, total);
	buf_addf(b, " parameter(%d)\n  ROOT y = ", parameter);
	if (strchr(c->x, 'b'))
		strcat(out, "b");
	result_labels(c, c->side ? c->w : c->x, out);
	result_labels(c, c->side ? c->x : c->w, out);
	shape_of(b, out, c->along, total);
	buf_addf(b, " dot(%s, %s)", c->side ? "w" : n > 1 ? "x" : "part0", c->side ? (n > 1 ? "x" : "part0") : "w");
	product_lists(b, c, c->side ? c->w : c->x, "lhs");
	product_lists(b, c, c->side ? c->x : c->w, "rhs");
	buf_adds(b, "\n}\n");
	return true;
}

static void ordered(const char *labels, uint32_t number, char *out)
{
	size_t n = strlen(labels);
	uint32_t used = 0;

	for (size_t k = n; k > 0; k--) {
		uint32_t pick = number % (uint32_t)k, v = 0;
		number /= (uint32_t)k;
		for (;; v++)
			if (!(used >> v & 1) && pick-- == 0)
				break;
		used |= 1u << v;
		*out++ = labels[v];
	}
	*out = 0;
}

static inline void walk_products(case_visit *visit, void *ctx, uint32_t each, uint32_t first)
{
	static const char *const labels[][2] = {{"mk", "kn"}, {"mk", "k"}, {"k", "kn"}, {"mkl", "kln"}, {"bmk", "bkn"},
		{"mpk", "kn"},
		{"mkl", "lk"}};
	static const char *const parts[] = {"pp", "ppp", "pg", "gb", "sb", "bpg", "sps", "gg", "p", "g", "b", "s"};
	uint32_t n = first;

	for (size_t l = 0; l < sizeof labels / sizeof *labels; l++)
		for (size_t p = 0; p < sizeof parts / sizeof *parts; p++)
			for (uint32_t o = 0; o < 72; o++)
				for (const char *a = labels[l][0]; *a; a++) {
					struct product_case c = {.side = (int)(o & 1), .along = strlen(parts[p]) > 1
						? *a : 0};
					struct buf b = {0};
					if (left_out(n++, each) || *a == 'b' || (!c.along && a > labels[l][0]))
						continue;
					ordered(labels[l][0], o / 2 % 6, c.x);
					ordered(labels[l][1], o / 12, c.w);
					snprintf(c.part, sizeof c.part, "%s", parts[p]);
					if (product_text(&b, &c))
						visit(ctx, b.data);
					buf_release(&b);
				}
}

#endif
