/*
 * rewrite_narrow.h - programs of a product of few rows with a wide side, of all dimension numberings: plain, with the
 * wide side transposed before it, in a loop that leaves the wide side as it is, in f32 and bf16; and of numbers of 8 or
 * 16 bits that become f32 before the product or in it.
 */
#ifndef TESTS_REWRITE_NARROW_H
#define TESTS_REWRITE_NARROW_H

#include "tests/rewrite_cases.h"

/* "  NAME = SHAPE dot(x, w), ..." */
static void narrow_dot(struct buf *b, const struct product_case *c, const char *name)
{
	char left[16] = "", right[16] = "", out[40];

	result_labels(c, c->x, left);
	result_labels(c, c->w, right);
	snprintf(out, sizeof out, "%s%.15s%.15s", strchr(c->x, 'b') ? "b" : "", left, right);
	buf_addf(b, "  %s = ", name);
	shape_of(b, out, 0, 0);
	buf_adds(b, " dot(x, w)");
	product_lists(b, c, c->x, "lhs");
	product_lists(b, c, c->w, "rhs");
	buf_adds(b, "\n");
}

static void narrow_plain(struct buf *b, const struct product_case *c, bool through)
{
	char lying[8];

	snprintf(lying, sizeof lying, "%s", c->w);
	for (size_t i = 0, n = strlen(c->w); through && i < n; i++)
		lying[i] = c->w[n - 1 - i];
	buf_adds(b, "HloModule m\n\nENTRY e {\n  x = ");
	shape_of(b, c->x, 0, 0);
	buf_addf(b, " parameter(0)\n  %s = ", through ? "lying" : "w");
	shape_of(b, lying, 0, 0);
	buf_adds(b, " parameter(1)\n");
	if (through) {
		buf_adds(b, "  w = ");
		shape_of(b, c->w, 0, 0);
		buf_adds(b, " transpose(lying), dimensions={");
		dims_of(b, lying, c->w);
		buf_adds(b, "}\n");
	}
	narrow_dot(b, c, "ROOT y");
	buf_adds(b, "}\n");
}

/* A turn leaves of the product of mK, or K alone, and KQN what is one of N, turned as x lies. */
static void narrow_loop(struct buf *b, const struct product_case *c, int turns)
{
	struct buf state = {0};
	const char *rows = strchr(c->x, 'm') ? "3," : "", *all = *rows ? "[0:3], " : "";
	bool first; /* does Q stand before N? */

	buf_adds(&state, "(s32[], ");
	shape_of(&state, c->x, 0, 0);
	buf_adds(&state, ", ");
	shape_of(&state, c->w, 0, 0);
	buf_adds(&state, ")");
	buf_addf(b, "HloModule m\n\non {\n  p = %s parameter(0)\n  i = s32[] get-tuple-element(p), index=0\n"
		    "  n = s32[] constant(99)\n  ROOT r = pred[] compare(i, n), direction=LT\n}\n\n"
		    "turn {\n  p = %s parameter(0)\n  i = s32[] get-tuple-element(p), index=0\n  x = ",
		state.data, state.data);
	shape_of(b, c->x, 0, 0);
	buf_adds(b, " get-tuple-element(p), index=1\n  w = ");
	shape_of(b, c->w, 0, 0);
	buf_adds(b, " get-tuple-element(p), index=2\n");
	narrow_dot(b, c, "y");
	first = strchr(c->w, 'Q') < strchr(c->w, 'N');
	buf_addf(b, "  part = f32[%s%s] slice(y), slice={%s%s}\n  flat = f32[%s32] reshape(part)\n", rows,
		first ? "32,1" : "1,32", all, first ? "[0:32], [5:6]" : "[5:6], [0:32]", rows);
	buf_adds(b, "  next = ");
	shape_of(b, c->x, 0, 0);
	buf_addf(b, " transpose(flat), dimensions={%s}\n  ROOT r = %s tuple(i, next, w)\n}\n\n",
		!*rows ? "0" : c->x[0] == 'm' ? "0,1" : "1,0", state.data);
	buf_adds(b, "ENTRY e {\n  i = s32[] constant(0)\n  x = ");
	shape_of(b, c->x, 0, 0);
	buf_adds(b, " parameter(0)\n  w = ");
	shape_of(b, c->w, 0, 0);
	buf_addf(b, " parameter(1)\n  p = %s tuple(i, x, w)\n  l = %s while(p), condition=on, body=turn, "
		    "backend_config={\"known_trip_count\":{\"n\":\"%d\"}}\n  ROOT y = ", state.data, state.data, turns);
	shape_of(b, c->x, 0, 0);
	buf_adds(b, " get-tuple-element(l), index=1\n}\n");
	buf_release(&state);
}

/* The plain product, of parameters of another type; converted: by a step before it. */
static void narrow_widened(struct buf *b, const struct product_case *c, const char *type, bool converted)
{
	struct buf plain = {0};
	const char *at, *from;

	narrow_plain(&plain, c, false);
	from = plain.data;
	for (uint32_t i = 0; i < 2; i++, from = at + 4) { /* its first two types are those of the parameters */
		at = strstr(from, "f32[");
		buf_add(b, from, (size_t)(at - from));
		buf_addf(b, "%s[", type);
	}
	at = strstr(from, " dot(x, w)");
	if (converted) {
		const char *line = strstr(from, "  ROOT");
		buf_add(b, from, (size_t)(line - from));
		buf_adds(b, "  xf = ");
		shape_of(b, c->x, 0, 0);
		buf_adds(b, " convert(x)\n  wf = ");
		shape_of(b, c->w, 0, 0);
		buf_adds(b, " convert(w)\n");
		from = line;
	}
	buf_add(b, from, (size_t)(at - from));
	buf_addf(b, " dot(%s)%s", converted ? "xf, wf" : "x, w", at + strlen(" dot(x, w)"));
	buf_release(&plain);
}

/* All numbers in 16 bits. */
static void narrow_bf16(struct buf *b)
{
	struct buf wide = *b;
	const char *from = wide.data;

	*b = (struct buf){0};
	for (const char *at; (at = strstr(from, "f32[")); from = at + 4) {
		buf_add(b, from, (size_t)(at - from));
		buf_adds(b, "bf16[");
	}
	buf_adds(b, from);
	buf_release(&wide);
}

enum narrow_way { NARROW_PLAIN, NARROW_THROUGH, NARROW_LOOP, NARROW_CONVERTED, NARROW_WIDER, NARROW_WHOLE, NARROW_BF16,
	NARROW_BF16_THROUGH, NARROW_BF16_LOOP, NARROW_WAYS };

static void narrow_text(struct buf *b, const struct product_case *c, enum narrow_way way)
{
	switch (way) {
	case NARROW_LOOP:
	case NARROW_BF16_LOOP:
		narrow_loop(b, c, 4);
		break;
	case NARROW_CONVERTED:
	case NARROW_WIDER:
	case NARROW_WHOLE:
		narrow_widened(b, c, way == NARROW_WHOLE ? "s8" : "bf16", way != NARROW_WIDER);
		break;
	default:
		narrow_plain(b, c, way == NARROW_THROUGH || way == NARROW_BF16_THROUGH);
	}
	if (way >= NARROW_BF16)
		narrow_bf16(b);
}

static void walk_narrow(case_visit *visit, void *ctx, uint32_t each, uint32_t first)
{
	static const char *const sides[][2] = {{"mK", "KQN"}, {"bmK", "bKQN"}, {"K", "KQN"}, {"MK", "KW"}};
	uint32_t n = first;

	for (size_t l = 0; l < sizeof sides / sizeof *sides; l++)
		for (uint32_t o = 0; o < 36; o++)
			for (int way = 0; way < NARROW_WAYS; way++) {
				struct product_case c = {.side = 0};
				struct buf b = {0};
				bool loop = way == NARROW_LOOP || way == NARROW_BF16_LOOP;
				if (left_out(n++, loop ? each / 3 + 1 : each) || (way == NARROW_LOOP && l > 0) ||
					(way == NARROW_BF16_LOOP && l != 2))
					continue;
				ordered(sides[l][0], o % 6, c.x);
				ordered(sides[l][1], o / 6, c.w);
				narrow_text(&b, &c, (enum narrow_way)way);
				visit(ctx, b.data);
				buf_release(&b);
			}
}

#endif
