/*
 * check_rewrite_loop.c - which loops are written out: those whose turns follow from the program, and no others.
 */
#include <stdio.h>
#include "graph/turns.h"
#include "space/space.h"
#include "tests/test.h"

/* A loop that ends by what it computes, or, with a limit, by a counter. */
static void write_program(struct buf *b, const char *limit)
{
	buf_addf(b, "HloModule m\n\n"
		    "on {\n  p = (s32[], f32[64]) parameter(0)\n  i = s32[] get-tuple-element(p), index=0\n"
		    "  x = f32[64] get-tuple-element(p), index=1\n  s = f32[1] slice(x), slice={[3:4]}\n"
		    "  t = f32[] reshape(s)\n  u = s32[] convert(t)\n  n = s32[] constant(5)\n"
		    "  ROOT r = pred[] compare(i, %s), direction=LT\n}\n\n"
		    "turn {\n  p = (s32[], f32[64]) parameter(0)\n  i = s32[] get-tuple-element(p), index=0\n"
		    "  x = f32[64] get-tuple-element(p), index=1\n  one = s32[] constant(1)\n  j = s32[] add(i, one)\n"
		    "  y = f32[64] add(x, x)\n  ROOT r = (s32[], f32[64]) tuple(j, y)\n}\n\n"
		    "ENTRY e {\n  zero = s32[] constant(0)\n  x = f32[64] parameter(0)\n"
		    "  p = (s32[], f32[64]) tuple(zero, x)\n"
		    "  l = (s32[], f32[64]) while(p), condition=on, body=turn\n"
		    "  ROOT y = f32[64] get-tuple-element(l), index=1\n}\n", limit);
}

static uint32_t places(const struct buf *program, bool note)
{
	struct graph g = {0};
	struct buf noted = {0};
	struct space *s;
	uint32_t n = NONE;

	CHECK(graph_parse(&g, program->data, program->len, "a loop", NULL) == 0);
	if (note) {
		turns_note(&g, graph_find(&g, "l"), (double[]){5, 6}, 2);
		graph_write(&g, &noted);
		graph_release(&g);
		CHECK(graph_parse(&g, noted.data, noted.len, "a loop that was counted", NULL) == 0);
		CHECK_NEAR(g.node[graph_find(&g, "l")].trip_count, 5, 0);
	}
	s = space_open("rewrite", "cpu", &g, NULL, 0, NULL);
	if (CHECK(s != NULL))
		n = s->n_sites;
	space_free(s);
	graph_release(&g);
	buf_release(&noted);
	return n;
}

static void turns_must_follow_from_the_program(void)
{
	struct buf counted = {0}, open = {0};

	write_program(&counted, "n");
	write_program(&open, "u");
	CHECK_INT(places(&counted, false), 1);
	CHECK_INT(places(&open, false), 0);
	CHECK_INT(places(&open, true), 0);
	buf_release(&counted);
	buf_release(&open);
}

/* A channel has one user. What calls a computation that talks to other devices is not copied either. */
static void what_talks_to_others_is_not_copied(void)
{
	static const struct {
		const char *does;
		uint32_t places;
	} table[] = {{"negate(a)", 1}, {"custom-call(a), custom_call_target=\"f\"", 1},
		{"custom-call(a), custom_call_target=\"f\", custom_call_has_side_effect=true", 0},
		{"all-reduce(a), channel_id=1, replica_groups={}, to_apply=adds", 0}};

	for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
		struct buf b = {0};
		buf_addf(&b, "HloModule m\n\n"
			"adds {\n  a = f32[] parameter(0)\n  b = f32[] parameter(1)\n  ROOT s = f32[] add(a, b)\n}\n\n"
			"inner {\n  a = f32[64] parameter(0)\n  ROOT r = f32[64] %s\n}\n\n"
			"outer {\n  a = f32[64] parameter(0)\n  ROOT r = f32[64] call(a), to_apply=inner\n}\n\n"
			"on {\n  p = (s32[], f32[64]) parameter(0)\n  i = s32[] get-tuple-element(p), index=0\n"
			"  n = s32[] constant(5)\n  ROOT r = pred[] compare(i, n), direction=LT\n}\n\n"
			"turn {\n  p = (s32[], f32[64]) parameter(0)\n  i = s32[] get-tuple-element(p), index=0\n"
			"  x = f32[64] get-tuple-element(p), index=1\n  one = s32[] constant(1)\n"
			"  j = s32[] add(i, one)\n  y = f32[64] call(x), to_apply=outer\n"
			"  ROOT r = (s32[], f32[64]) tuple(j, y)\n}\n\n"
			"ENTRY e {\n  zero = s32[] constant(0)\n  x = f32[64] parameter(0)\n"
			"  p = (s32[], f32[64]) tuple(zero, x)\n"
			"  l = (s32[], f32[64]) while(p), condition=on, body=turn\n"
			"  ROOT y = f32[64] get-tuple-element(l), index=1\n}\n", table[i].does);
		if (!CHECK_INT(places(&b, false), table[i].places))
			printf("\t%s\n", table[i].does);
		buf_release(&b);
	}
}

int main(void)
{
	RUN(what_talks_to_others_is_not_copied);
	RUN(turns_must_follow_from_the_program);
	return test_done();
}
