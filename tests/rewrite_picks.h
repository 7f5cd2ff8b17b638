/*
 * rewrite_picks.h - programs of a product with matrices that are picked by indices: with all orders of the table's
 * dimensions, the places before, between or behind the others, flat or in two dimensions, the picked matrices as either
 * side, rows or none besides the places, and the other side as it lies, repeated, repeated and flattened, or gathered.
 * And of products that are added up by indices, to zeros or to what is given.
 *
 * Letters are dimensions: e of the table, o of the matrices' results, k of what is summed over, p (or n and m) of the
 * places, c of rows, r of the rows that are gathered.
 */
#ifndef TESTS_REWRITE_PICKS_H
#define TESTS_REWRITE_PICKS_H

#include "tests/rewrite_cases.h"

enum picks_way { PICKS_PLAIN, PICKS_REPEATED, PICKS_FLATTENED, PICKS_GATHERED, PICKS_WAYS };
struct picks_case {
	uint32_t order, at, way; /* of the table's dimensions; of the places: first, between, last */
	bool two, first, rows, apart; /* places in two dimensions; picked ones first; rows; an index in a dimension */
};

static int picks_size(char letter)
{
	static const char letters[] = "eokpnmcr";
	static const int sizes[] = {4, 8, 2, 30, 6, 5, 7, 3}; /* indices are below 5: some are out of range */

	return sizes[strchr(letters, letter) - letters];
}

static void picks_shape(struct buf *b, const char *type, const char *letters)
{
	buf_addf(b, "%s[", type);
	for (const char *p = letters; *p; p++)
		buf_addf(b, "%s%d", p == letters ? "" : ",", picks_size(*p));
	buf_adds(b, "]");
}

/* Where these letters stand: "NAME={0,2}". */
static void picks_list(struct buf *b, const char *name, const char *of, const char *in)
{
	buf_addf(b, ", %s={", name);
	for (const char *p = of; *p; p++)
		buf_addf(b, "%s%d", p == of ? "" : ",", (int)(strchr(in, *p) - in));
	buf_adds(b, "}");
}

static void picks_dot(struct buf *b, const char *places, const char *summed, const char *left, const char *right)
{
	picks_list(b, "lhs_batch_dims", places, left);
	picks_list(b, "lhs_contracting_dims", summed, left);
	picks_list(b, "rhs_batch_dims", places, right);
	picks_list(b, "rhs_contracting_dims", summed, right);
}

/* "  g = SHAPE gather(table, which), ..": picks matrices. Fills `out`, the letters of g. */
static void picks_gather(struct buf *b, const struct picks_case *c, const char *table, const char *places, char *out)
{
	char rest[3] = "", *end = rest;

	for (const char *p = table; *p; p++)
		if (*p != 'e')
			*end++ = *p;
	snprintf(out, 8, "%s%.1s%s%s%s", c->at == 0 ? places : "", rest, c->at == 1 ? places : "", rest + 1,
		c->at == 2 ? places : "");
	buf_adds(b, "  g = ");
	picks_shape(b, "f32", out);
	buf_adds(b, " gather(table, which)");
	picks_list(b, "offset_dims", rest, out);
	picks_list(b, "collapsed_slice_dims", "e", table);
	picks_list(b, "start_index_map", "e", table);
	buf_addf(b, ", index_vector_dim=%zu, slice_sizes={", strlen(places));
	for (const char *p = table; *p; p++)
		buf_addf(b, "%s%d", p == table ? "" : ",", *p == 'e' ? 1 : picks_size(*p));
	buf_adds(b, "}\n");
}

/* The other side, x, which has these letters. */
static void picks_other(struct buf *b, const struct picks_case *c, const char *x, const char *places)
{
	char rest[8], rows[10], wide[10];

	snprintf(rest, sizeof rest, "%s", x + (c->way == PICKS_PLAIN ? 0 : strlen(places)));
	snprintf(rows, sizeof rows, "%s%s", c->way == PICKS_GATHERED ? "r" : "n", rest);
	snprintf(wide, sizeof wide, "nm%s", rest);
	buf_addf(b, "  %s = ", c->way == PICKS_PLAIN ? "x" : "rows");
	picks_shape(b, "f32", c->way == PICKS_PLAIN ? x : rows);
	buf_adds(b, " parameter(2)\n");
	if (c->way == PICKS_GATHERED) {
		buf_adds(b, "  from = ");
		picks_shape(b, "s32", places);
		buf_adds(b, " parameter(3)\n  x = ");
		picks_shape(b, "f32", x);
		buf_adds(b, " gather(rows, from)");
		picks_list(b, "offset_dims", rest, x);
		buf_addf(b, ", collapsed_slice_dims={0}, start_index_map={0}, index_vector_dim=%zu, slice_sizes={1",
			strlen(places));
		for (const char *p = rest; *p; p++)
			buf_addf(b, ",%d", picks_size(*p));
		buf_adds(b, "}\n");
	} else if (c->way != PICKS_PLAIN) {
		buf_addf(b, "  %s = ", c->way == PICKS_REPEATED ? "x" : "w");
		picks_shape(b, "f32", wide);
		buf_addf(b, " broadcast(rows), dimensions={0,2%s}\n", rest[1] ? ",3" : "");
	}
	if (c->way == PICKS_FLATTENED) {
		buf_adds(b, "  x = ");
		picks_shape(b, "f32", x);
		buf_adds(b, " reshape(w)\n");
	}
}

static void picks_text(struct buf *b, const struct picks_case *c)
{
	static const char letters[] = "eok";
	const char *places = c->two ? "nm" : "p", *left, *right;
	char table[4] = "", g[8], x[8], out[10] = "";

	for (int i = 0; i < 3; i++)
		table[i] = letters[orders3[c->order][i] - '0'];
	snprintf(x, sizeof x, "%s%s", places, !c->rows ? "k" : c->order % 2 ? "kc" : "ck");
	if (c->way == PICKS_PLAIN && c->at) /* what is summed over comes first */
		snprintf(x, sizeof x, "k%s%s", c->rows ? "c" : "", c->two ? "mn" : "p");
	buf_adds(b, "HloModule m\n\nENTRY e {\n  table = ");
	picks_shape(b, "f32", table);
	buf_adds(b, " parameter(0)\n  which = ");
	picks_shape(b, "s32", places);
	if (c->apart)
		b->len--, buf_adds(b, ",1]");
	buf_adds(b, " parameter(1)\n");
	picks_gather(b, c, table, places, g);
	picks_other(b, c, x, places);
	left = c->first ? g : x;
	right = c->first ? x : g;
	snprintf(out, sizeof out, "%s%s", places, !c->rows ? "o" : c->first ? "oc" : "co");
	buf_adds(b, "  ROOT y = ");
	picks_shape(b, "f32", out);
	buf_addf(b, " dot(%s)", c->first ? "g, x" : "x, g");
	picks_dot(b, places, "k", left, right);
	buf_adds(b, "\n}\n");
}

struct sums_case {
	uint32_t at; /* where the matrices stand in the result */
	bool two, first, rows, apart, given, turned; /* the larger side first; added to what is given; turned sides */
};

static void sums_text(struct buf *b, const struct sums_case *c)
{
	const char *places = c->two ? "nm" : "p", *window = c->first ? "ok" : "ko", *row = c->rows ? "c" : "";
	char x[8], y[8], update[8], out[8], *as[2] = {x, y};

	for (int i = 0; i < 2; i++) {
		snprintf(as[i], 8, "%s%s%c", places, row, window[i]);
		if (c->turned)
			snprintf(as[i], 8, "%c%s%s", window[i], c->two ? "mn" : "p", row);
	}
	snprintf(update, sizeof update, "%s%s", places, window);
	snprintf(out, sizeof out, "%.*se%s", (int)c->at, window, window + c->at);
	buf_adds(b, "HloModule m\n\nadds {\n  a = f32[] parameter(0)\n  b = f32[] parameter(1)\n"
		"  ROOT s = f32[] add(a, b)\n}\n\nENTRY e {\n  which = ");
	picks_shape(b, "s32", places);
	if (c->apart)
		b->len--, buf_adds(b, ",1]");
	buf_adds(b, " parameter(0)\n  x = ");
	picks_shape(b, "f32", x);
	buf_adds(b, " parameter(1)\n  y = ");
	picks_shape(b, "f32", y);
	buf_addf(b, " parameter(2)\n  zero = f32[] constant(0)\n  to = ");
	picks_shape(b, "f32", out);
	buf_adds(b, c->given ? " parameter(3)\n  u = " : " broadcast(zero), dimensions={}\n  u = ");
	picks_shape(b, "f32", update);
	buf_adds(b, " dot(x, y)");
	picks_dot(b, places, row, x, y);
	buf_adds(b, "\n  ROOT s = ");
	picks_shape(b, "f32", out);
	buf_adds(b, " scatter(to, which, u)");
	picks_list(b, "update_window_dims", window, update);
	picks_list(b, "inserted_window_dims", "e", out);
	picks_list(b, "scatter_dims_to_operand_dims", "e", out);
	buf_addf(b, ", index_vector_dim=%zu, to_apply=adds\n}\n", strlen(places));
}

static void walk_sums(case_visit *visit, void *ctx, uint32_t each, uint32_t first)
{
	uint32_t n = first;

	for (uint32_t k = 0; k < 3 * 64; k++) {
		struct sums_case c = {.two = k & 1, .first = k & 2, .rows = k & 4, .apart = k & 8, .given = k & 16,
			.turned = k & 32, .at = k / 64};
		struct buf b = {0};
		if (left_out(n++, each))
			continue;
		sums_text(&b, &c);
		visit(ctx, b.data);
		buf_release(&b);
	}
}

static void walk_picks(case_visit *visit, void *ctx, uint32_t each, uint32_t first)
{
	uint32_t n = first;

	for (uint32_t k = 0; k < 6 * 3 * PICKS_WAYS * 16; k++) {
		struct picks_case c = {.two = k & 1, .first = k & 2, .rows = k & 4, .apart = k & 8,
			.way = k / 16 % PICKS_WAYS, .at = k / 16 / PICKS_WAYS % 3, .order = k / 48 / PICKS_WAYS};
		struct buf b = {0};
		if (left_out(n++, each) || (c.way == PICKS_REPEATED && !c.two) || (c.way == PICKS_FLATTENED && c.two))
			continue;
		picks_text(&b, &c);
		visit(ctx, b.data);
		buf_release(&b);
	}
}

#endif
