/*
 * check_rewrite_row.c - which products of a single row are taken apart: not those whose weights a loop leaves as they
 * are, for these are converted once before it.
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

/* Is the product y taken apart? */
static bool offered(const char *text)
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
		found |= strcmp(rules.rule[r].name, "row-apart") == 0 &&
			rule_match(&rules.rule[r], &g, graph_find(&g, "y"), &f);
	rules_release(&rules);
	graph_release(&g);
	return found;
}

static void weights_that_a_loop_leaves_are_left_alone(void)
{
	CHECK(!offered(LOOP "  y = bf16[1,256]" PRODUCT
		"  ROOT r = (s32[], bf16[1,256], bf16[256,256]) tuple(j, y, w)\n" END));
	CHECK(offered(LOOP "  y = bf16[1,256]" PRODUCT "  v = bf16[256,256] add(w, w)\n"
		"  ROOT r = (s32[], bf16[1,256], bf16[256,256]) tuple(j, y, v)\n" END));
}

static void a_single_row_is_taken_apart(void)
{
	CHECK(offered("HloModule m\nENTRY e {\n  x = bf16[1,256] parameter(0)\n  w = bf16[256,256] parameter(1)\n"
		"  ROOT y = bf16[1,256]" PRODUCT "}\n"));
	CHECK(offered("HloModule m\nENTRY e {\n  x = bf16[256] parameter(0)\n  v = bf16[256,256] parameter(1)\n"
		"  a = f32[256] convert(x)\n  w = f32[256,256] convert(v)\n  ROOT y = f32[256] dot(a, w), "
		"lhs_contracting_dims={0}, rhs_contracting_dims={0}\n}\n"));
	CHECK(!offered("HloModule m\nENTRY e {\n  x = bf16[2,256] parameter(0)\n  w = bf16[256,256] parameter(1)\n"
		"  ROOT y = bf16[2,256]" PRODUCT "}\n"));
}

int main(void)
{
	RUN(weights_that_a_loop_leaves_are_left_alone);
	RUN(a_single_row_is_taken_apart);
	return test_done();
}
