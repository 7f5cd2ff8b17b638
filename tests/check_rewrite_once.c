/*
 * check_rewrite_once.c - where a chain of operations on bf16 ends: it is not looked through before what jumps, so tests
 * see the rounded numbers that they saw.
 */
#include <string.h>
#include "space/rewrite/rule.h"
#include "tests/test.h"

#define PROGRAM(lines) "HloModule m\nENTRY e {\n  a = bf16[128,128] parameter(0)\n  b = bf16[128,128] parameter(1)\n" \
	"  l = bf16[] parameter(2)\n  p = pred[] parameter(3)\n" lines "}\n"

/* How many operations does the rule look through that ends at y? -1: it does not apply there. */
static int looked_through(const char *text)
{
	struct graph g;
	struct err err = {0};
	struct rules rules = {.n = 0};
	struct found f;
	int inside = -1;

	if (!CHECK(graph_parse(&g, text, strlen(text), "text", &err) == 0) || !CHECK(rules_load(&rules, &err) == 0)) {
		printf("%s\n", err.text);
		return -2;
	}
	for (size_t r = 0; r < rules.n; r++)
		if (strcmp(rules.rule[r].name, "round-once") == 0 &&
			rule_match(&rules.rule[r], &g, graph_find(&g, "y"), &f))
			inside = (int)f.n_inside;
	rules_release(&rules);
	graph_release(&g);
	return inside;
}

static void chains_end_before_what_jumps(void)
{
	CHECK_INT(looked_through(PROGRAM("  t = bf16[128,128] multiply(a, b)\n"
		"  ROOT y = pred[128,128] compare(t, b), direction=GT\n")), 0);
	CHECK_INT(looked_through(PROGRAM("  t = bf16[128,128] multiply(a, b)\n"
		"  ROOT y = bf16[128,128] sign(t)\n")), 0);
	CHECK_INT(looked_through(PROGRAM("  t = bf16[128,128] multiply(a, b)\n"
		"  ROOT y = s32[128,128] convert(t)\n")), 0);
	CHECK_INT(looked_through(PROGRAM("  t = bf16[128,128] multiply(a, b)\n"
		"  q = pred[128,128] compare(t, b), direction=GT\n"
		"  ROOT y = bf16[128,128] select(q, a, b)\n")), 1);
	CHECK_INT(looked_through(PROGRAM("  t = bf16[128,128] multiply(a, b)\n"
		"  ROOT y = bf16[128,128] maximum(t, b)\n")), 1);
	CHECK_INT(looked_through(PROGRAM("  t = bf16[128,128] multiply(a, b)\n"
		"  ROOT y = bf16[128,128] clamp(l, t, l)\n")), 1);
}

/* In f16 the compiler is fast, but for exponentials and logarithms. */
static void slow_functions_of_f16_are_done_in_f32(void)
{
#define HALF(lines) "HloModule m\nENTRY e {\n  a = f16[128,128] parameter(0)\n  b = f16[128,128] parameter(1)\n" \
	lines "}\n"
	CHECK_INT(looked_through(HALF("  ROOT y = f16[128,128] exponential(a)\n")), 0);
	CHECK_INT(looked_through(HALF("  t = f16[128,128] subtract(a, b)\n  l = f16[128,128] log(t)\n"
		"  ROOT y = f16[128,128] multiply(l, b)\n")), 2);
	CHECK_INT(looked_through(HALF("  t = f16[128,128] subtract(a, b)\n"
		"  ROOT y = f16[128,128] maximum(t, b)\n")), -1);
#undef HALF
}

static void what_is_not_slow_is_left(void)
{
	CHECK_INT(looked_through(PROGRAM("  ROOT y = bf16[128,128] multiply(a, b)\n")), -1);
	CHECK_INT(looked_through(PROGRAM("  ROOT y = bf16[128,128] floor(a)\n")), -1);
	CHECK_INT(looked_through(PROGRAM("  ROOT y = bf16[] maximum(l, l)\n")), -1);
	CHECK_INT(looked_through("HloModule m\nENTRY e {\n  a = f32[128,128] parameter(0)\n"
		"  ROOT y = f32[128,128] maximum(a, a)\n}\n"), -1);
}

/* A file may choose whole arrays by one truth. */
static void shapes_that_do_not_agree_are_left(void)
{
	CHECK_INT(looked_through(PROGRAM("  t = bf16[128,128] exponential(a)\n"
		"  ROOT y = bf16[128,128] select(p, t, b)\n")), -1);
}

int main(void)
{
	RUN(chains_end_before_what_jumps);
	RUN(slow_functions_of_f16_are_done_in_f32);
	RUN(what_is_not_slow_is_left);
	RUN(shapes_that_do_not_agree_are_left);
	return test_done();
}
