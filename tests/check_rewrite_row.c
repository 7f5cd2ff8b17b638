/*
 * check_rewrite_row.c - which products of a single row are taken apart: not those whose weights a loop leaves as they
 * are, for these are converted once before it. These get a second row, in bf16; others get one if they lie well.
 */
#include <string.h>
#include "space/rewrite/rule.h"
#include "tests/test.h"

#define LOOP "HloModule m\n\n" \
	"on {\n  p = (s32[], bf16[1,256], bf16[256,256]) parameter(0)\n  i = s32[] get-tuple-element(p), index=0\n" \
	"  n = s32[] constant(8)\n  ROOT r = pred[] compare(i, n), direction=LT\n}\n\n" \
	"turn {\n  p = (s32[], bf16[1,256], bf16[256,256]) parameter(0)\n  i = s32[] get-tuple-element(p), index=0\n" \
	"  one = s32[] constant(1)\n  j = s32[] add(i, one)\n  x = bf16[1,256] get-tuple-element(p), index=1\n" \
	"  w = bf16[256,256] get-tuple-element(p), index=2\n"
#define PRODUCT " dot(x, w), lhs_contracting_dims={1}, rhs_contracting_dims={0}\n"
#define END "}\n\nENTRY e {\n  zero = s32[] constant(0)\n  x = bf16[1,256] parameter(0)\n" \
	"  w = bf16[256,256] parameter(1)\n  p = (s32[], bf16[1,256], bf16[256,256]) tuple(zero, x, w)\n" \
	"  l = (s32[], bf16[1,256], bf16[256,256]) while(p), condition=on, body=turn, " \
	"backend_config={\"known_trip_count\":{\"n\":\"8\"}}\n  ROOT r = bf16[1,256] get-tuple-element(l), index=1\n}\n"

/* Does the rule apply to the product y? */
static bool applies(const char *rule, const char *text)
{
	struct graph g;
	struct err err = {0};
	struct rules rules = {.n = 0};
	struct found f;
	bool found = false;

	if (!CHECK(graph_parse(&g, text, strlen(text), "text", &err) == 0) || !CHECK(rules_load(&rules, &err) == 0)) {
		printf("%s\n", err.text);
		return false;
	}
	for (size_t r = 0; r < rules.n; r++)
		found |= strcmp(rules.rule[r].name, rule) == 0 &&
			rule_match(&rules.rule[r], &g, graph_find(&g, "y"), &f);
	rules_release(&rules);
	graph_release(&g);
	return found;
}

static void weights_that_a_loop_leaves_are_left_alone(void)
{
	CHECK(!applies("row-apart", LOOP "  y = bf16[1,256]" PRODUCT
		"  ROOT r = (s32[], bf16[1,256], bf16[256,256]) tuple(j, y, w)\n" END));
	CHECK(applies("row-apart", LOOP "  y = bf16[1,256]" PRODUCT "  v = bf16[256,256] add(w, w)\n"
		"  ROOT r = (s32[], bf16[1,256], bf16[256,256]) tuple(j, y, v)\n" END));
}

static void a_single_row_is_taken_apart(void)
{
	CHECK(applies("row-apart", "HloModule m\nENTRY e {\n  x = bf16[1,256] parameter(0)\n"
		"  w = bf16[256,256] parameter(1)\n"
		"  ROOT y = bf16[1,256]" PRODUCT "}\n"));
	CHECK(applies("row-apart", "HloModule m\nENTRY e {\n  x = bf16[256] parameter(0)\n"
		"  v = bf16[256,256] parameter(1)\n"
		"  a = f32[256] convert(x)\n  w = f32[256,256] convert(v)\n  ROOT y = f32[256] dot(a, w), "
		"lhs_contracting_dims={0}, rhs_contracting_dims={0}\n}\n"));
	CHECK(!applies("row-apart", "HloModule m\nENTRY e {\n  x = bf16[2,256] parameter(0)\n"
		"  w = bf16[256,256] parameter(1)\n"
		"  ROOT y = bf16[2,256]" PRODUCT "}\n"));
}

#define KEPT LOOP "  y = bf16[1,256]" PRODUCT \
	"  ROOT r = (s32[], bf16[1,256], bf16[256,256]) tuple(j, y, w)\n" END
#define LYING(type, sum) "HloModule m\nENTRY e {\n  x = " type "[1,256] parameter(0)\n" \
	"  w = " type "[256,256] parameter(1)\n" \
	"  ROOT y = " type "[1,256] dot(x, w), lhs_contracting_dims={1}, rhs_contracting_dims={" sum "}\n}\n"

static void a_second_row_is_for_bf16(void)
{
	CHECK(applies("loop-second-row", KEPT) && applies("loop-second-row-turned", KEPT));
	CHECK(!applies("second-row", KEPT));
	CHECK(applies("second-row", LYING("bf16", "1")) && !applies("second-row", LYING("bf16", "0")));
	CHECK(!applies("second-row", LYING("f32", "1")) && !applies("second-row", LYING("f16", "1")));
	CHECK(!applies("loop-second-row", LYING("bf16", "1")) && !applies("loop-second-row", LYING("bf16", "0")));
}

int main(void)
{
	RUN(weights_that_a_loop_leaves_are_left_alone);
	RUN(a_single_row_is_taken_apart);
	RUN(a_second_row_is_for_bf16);
	return test_done();
}
