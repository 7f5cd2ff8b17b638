/*
 * check_live.c - the temporary memory of a program by the performance model, on programs where it can be counted by
 * hand. A value has 1 KiB.
 */
#include "device/sim/live.h"
#include "tests/test.h"

#define V "f32[256]{0} "

static const struct {
	const char *what, *text;
	uint64_t kib;
} programs[] = {
	{"arguments and results are not temporary", "ENTRY e { p = " V "parameter(0) ROOT r = " V "negate(p) }", 0},
	{"a value lives to its last reader",
		"ENTRY e { p = " V "parameter(0) a = " V "negate(p) b = " V "exponential(a) c = " V "add(a, "
		"b) ROOT r = " V "negate(c) }", 3}, /* a, b and c while c is made */
	{"the order of a chain does not add up",
		"ENTRY e { p = " V "parameter(0) a = " V "negate(p) b = " V "negate(a) c = " V "negate(b) "
		"ROOT r = " V "negate(c) }", 2},
	{"names keep alive what they name",
		"ENTRY e { p = " V "parameter(0) a = " V "negate(p) t = (f32[256]{0}) tuple(a) b = " V "negate(p) "
		"c = " V "negate(b) "
		"g = " V "get-tuple-element(t), index=0 ROOT r = " V "add(g, c) }", 3}, /* a, b, c */
	{"the inside of a fusion needs nothing",
		"f { q = " V "parameter(0) x = " V "negate(q) y = " V "exponential(x) ROOT z = " V "add(x, y) }\n"
		"ENTRY e { p = " V "parameter(0) a = " V "fusion(p), kind=kLoop, calls=f ROOT r = " V "negate(a) }", 1},
	{"a loop needs what its body needs, on top of what lives then",
		"b { s = (s32[], f32[256]{0}) "
		"parameter(0) i = s32[] get-tuple-element(s), index=0 x = " V "get-tuple-element(s), index=1 "
		"o = s32[] constant(1) j = s32[] add(i, o) y = " V "negate(x) z = " V "exponential(y) w = " V "add(y, "
		"z) ROOT n = (s32[], f32[256]{0}) tuple(j, w) }\n"
		"c { s = (s32[], f32[256]{0}) parameter(0) i = s32[] "
		"get-tuple-element(s), index=0 o = s32[] constant(9) ROOT l = pred[] compare(i, o), direction=LT }\n"
		"ENTRY e { p = " V "parameter(0) k = s32[] constant(0) m = " V "exponential(p) a = " V "negate(m) "
		"t = (s32[], f32[256]{0}) tuple(k, a) v = (s32[], f32[256]{0}) while(t), condition=c, body=b "
		"g = " V "get-tuple-element(v), index=1 ROOT r = " V "add(g, m) }", 4},
		/* a and m; y and z: w is its result */
};

static void counted_by_hand(void)
{
	for (size_t i = 0; i < sizeof programs / sizeof *programs; i++) {
		struct buf text = {0};
		struct graph g = {0};
		struct err err = {0};

		/* One instruction a line, as the text of programs is read. */
		buf_addf(&text, "HloModule m\n\n%s\n", programs[i].text);
		if (!CHECK(graph_parse(&g, text.data, text.len, "m", &err) == 0) ||
			!CHECK_INT(live_bytes(&g) / 1024, programs[i].kib))
			printf("\t%s: %s\n", programs[i].what, err.text);
		graph_release(&g);
		buf_release(&text);
	}
}

int main(void)
{
	RUN(counted_by_hand);
	return test_done();
}
