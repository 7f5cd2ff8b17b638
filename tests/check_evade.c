/*
 * check_evade.c - which instructions are restated because a compiler computes them wrongly (ready/evade.h).
 *
 * That the compiler is wrong, and what is written is right, tests/full_evade.c finds on the real one.
 */
#include "ready/evade.h"
#include "tests/test.h"

#define ENTRY "HloModule m\nENTRY e {\n"
#define OF(type, number) ENTRY " x = " type "[9] parameter(0)\n c = " type "[] constant(" number ")\n o = " type \
	"[9] broadcast(c), dimensions={}\n ROOT y = " type "[9] atan2(x, o)\n}\n"
#define LOOP "HloModule m\nbody {\n t = (s32[], f32[9]) parameter(0)\n i = s32[] get-tuple-element(t), index=0\n" \
	" x = f32[9] get-tuple-element(t), index=1\n k = s32[] constant(1)\n j = s32[] add(i, k)\n" \
	" c = f32[] constant(1)\n o = f32[9] broadcast(c), dimensions={}\n y = f32[9] atan2(x, o)\n" \
	" ROOT r = (s32[], f32[9]) tuple(j, y)\n}\ncond {\n t = (s32[], f32[9]) parameter(0)\n" \
	" i = s32[] get-tuple-element(t), index=0\n n = s32[] constant(3)\n" \
	" ROOT l = pred[] compare(i, n), direction=LT\n}\nENTRY e {\n" \
	" x = f32[9] parameter(0)\n z = s32[] constant(0)\n t = (s32[], f32[9]) tuple(z, x)\n" \
	" ROOT w = (s32[], f32[9]) while(t), condition=cond, body=body\n}\n"

static void faults_are_restated(void)
{
	static const struct {
		const char *text, *release;
		int want;
	} table[] = {{OF("f32", "1"), "0.11.2", 1},
		{OF("f64", "1"), "0.11.2", 1},
		{OF("bf16", "1"), "0.11.2", 1},
		{OF("f16", "1"), "0.11.2", 1},
		{OF("f32", "2"), "0.11.2", 0},
		{OF("f32", "nan"), "0.11.2", 0},
		{OF("f32", "1"), "0.0.1", 0},
		{OF("f32", "1"), NULL, 0},
		{ENTRY " x = f32[9] parameter(0)\n o = f32[9] parameter(1)\n ROOT y = f32[9] atan2(x, o)\n}\n",
			"0.11.2", 0},
		{ENTRY " x = f32[9] parameter(0)\n c = f32[] constant(1)\n o = f32[9] broadcast(c), dimensions={}\n"
			" ROOT y = f32[9] atan2(o, x)\n}\n", "0.11.2", 0},
		{LOOP, "0.11.2", 1}};

	for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
		struct device_info device = {.family = "cpu", .release = table[i].release};
		struct graph g = {0};
		struct buf said = {0};
		struct err err = {0};
		uint32_t was = 0;
		if (CHECK(graph_parse(&g, table[i].text, strlen(table[i].text), "text", &err) == 0))
			was = g.n_nodes;
		CHECK_INT(evade_faults(&g, "text", &device, &said, &err), table[i].want);
		CHECK_INT(g.n_nodes, was + 2 * (uint32_t)table[i].want);
		CHECK((said.len > 0) == (table[i].want > 0));
		if (table[i].want) /* what is restated is not wrong any more */
			CHECK_INT(evade_faults(&g, "text", &device, &said, &err), 0);
		if (err.text[0])
			printf("\t%s\n", err.text);
		buf_release(&said);
		graph_release(&g);
	}
}

int main(void)
{
	RUN(faults_are_restated);
	return test_done();
}
