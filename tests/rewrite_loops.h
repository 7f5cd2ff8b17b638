/*
 * rewrite_loops.h - programs of a loop of few turns, which carries numbers, two matrices and a table.
 *
 * What a turn does differs: parts that stay, parts that change places, a loop inside, a body that ends in something
 * else than a tuple.
 */
#ifndef TESTS_REWRITE_LOOPS_H
#define TESTS_REWRITE_LOOPS_H

#include "tests/rewrite_cases.h"

#define LOOP_STATE "(s32[], f32[3,3], f32[3,3], f32[6])"
#define LOOP_PARTS \
	"  i = s32[] get-tuple-element(p), index=0\n  a = f32[3,3] get-tuple-element(p), index=1\n" \
	"  b = f32[3,3] get-tuple-element(p), index=2\n  t = f32[6] get-tuple-element(p), index=3\n"

static const char *const loop_bodies[] = {
	/* One matrix turned, the table as it was. */
	LOOP_PARTS "  c = f32[3,3] subtract(a, b)\n  d = f32[3,3] transpose(a), dimensions={1,0}\n"
		   "  e = f32[3,3] add(d, c)\n  ROOT r = " LOOP_STATE " tuple(i, e, a, t)\n",
	/* A row of the table; the matrices change places. */
	LOOP_PARTS "  s = f32[3] slice(t), slice={[1:4]}\n  w = f32[3,3] broadcast(s), dimensions={1}\n"
		   "  c = f32[3,3] multiply(a, w)\n  u = f32[6] reverse(t), dimensions={0}\n"
		   "  ROOT r = " LOOP_STATE " tuple(i, b, c, u)\n",
	/* A product, and a matrix moved down. */
	LOOP_PARTS "  z = f32[] constant(2)\n  s = f32[2,3] slice(a), slice={[0:2], [0:3]}\n"
		   "  c = f32[3,3] pad(s, z), padding=1_0x0_0\n  e = f32[3,3] subtract(b, c)\n"
		   "  d = f32[3,3] dot(a, b), lhs_contracting_dims={1}, rhs_contracting_dims={0}\n"
		   "  ROOT r = " LOOP_STATE " tuple(i, e, d, t)\n",
	/* A loop over what the turn got, as it came. */
	"  ROOT r = " LOOP_STATE " while(p), condition=on, body=inner, "
	"backend_config={\"known_trip_count\":{\"n\":\"2\"}}\n",
	/* A loop over parts of it. */
	LOOP_PARTS "  c = f32[3,3] subtract(a, b)\n  q = " LOOP_STATE " tuple(i, b, c, t)\n"
		   "  l = " LOOP_STATE " while(q), condition=on, body=inner, "
		   "backend_config={\"known_trip_count\":{\"n\":\"3\"}}\n"
		   "  d = f32[3,3] get-tuple-element(l), index=1\n  e = f32[6] get-tuple-element(l), index=3\n"
		   "  ROOT r = " LOOP_STATE " tuple(i, a, d, e)\n",
};

static void loop_text(struct buf *b, const char *body, int turns)
{
	buf_adds(b, "HloModule m\n\non {\n  p = " LOOP_STATE " parameter(0)\n"
		    "  i = s32[] get-tuple-element(p), index=0\n  n = s32[] constant(9)\n"
		    "  ROOT r = pred[] compare(i, n), direction=LT\n}\n\n"
		    "inner {\n  p = " LOOP_STATE " parameter(0)\n" LOOP_PARTS
		    "  c = f32[3,3] subtract(a, b)\n  d = f32[3,3] transpose(c), dimensions={1,0}\n"
		    "  ROOT r = " LOOP_STATE " tuple(i, d, a, t)\n}\n\n");
	buf_addf(b, "turn {\n  p = " LOOP_STATE " parameter(0)\n%s}\n\n", body);
	buf_addf(b, "ENTRY e {\n  zero = s32[] constant(0)\n  x = f32[3,3] parameter(0)\n  y = f32[3,3] parameter(1)\n"
		    "  t = f32[6] constant({1, 2, 3, 5, 7, 11})\n  p = " LOOP_STATE " tuple(zero, x, y, t)\n"
		    "  l = " LOOP_STATE " while(p), condition=on, body=turn, "
		    "backend_config={\"known_trip_count\":{\"n\":\"%d\"}}\n"
		    "  a = f32[3,3] get-tuple-element(l), index=1\n  b = f32[3,3] get-tuple-element(l), index=2\n"
		    "  s = f32[6] get-tuple-element(l), index=3\n  h = f32[3] slice(s), slice={[0:3]}\n"
		    "  w = f32[3,3] broadcast(h), dimensions={0}\n  c = f32[3,3] multiply(a, w)\n"
		    "  ROOT r = f32[3,3] subtract(c, b)\n}\n", turns);
}

static void walk_loops(case_visit *visit, void *ctx)
{
	for (size_t i = 0; i < sizeof loop_bodies / sizeof *loop_bodies; i++)
		for (int turns = 1; turns <= 5; turns++) {
			struct buf b = {0};
			loop_text(&b, loop_bodies[i], turns);
			visit(ctx, b.data);
			buf_release(&b);
		}
}

#endif
