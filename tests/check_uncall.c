/*
 * check_uncall.c - what is called takes the place of the calls, and nothing else changes.
 *
 * Each case says what a program has to become. Programs are compared by content, so names and the order of lines do not
 * count; that names are sound is seen when the compiler takes the program (full_rewrite.sh).
 */
#include "graph/uncall.h"
#include "tests/test.h"

struct uncall_case {
	const char *about, *from, *to; /* to NULL: stays as it is */
};

#define LOOP(body, cond) \
	#body " {\n  s = (s32[], f32[8]{0}) parameter(0)\n  i = s32[] get-tuple-element(s), index=0\n" \
	"  v = f32[8]{0} get-tuple-element(s), index=1\n  one = s32[] constant(1)\n  j = s32[] add(i, one)\n" \
	"  w = f32[8]{0} multiply(v, v)\n  ROOT t = (s32[], f32[8]{0}) tuple(j, w)\n}\n" \
	#cond " {\n  s = (s32[], f32[8]{0}) parameter(0)\n  i = s32[] get-tuple-element(s), index=0\n" \
	"  n = s32[] constant(4)\n  ROOT c = pred[] compare(i, n), direction=LT\n}\n"

static const struct uncall_case cases[] = {
	{"one called twice", "HloModule m\n"
		"twice {\n  p = f32[8]{0} parameter(0)\n  ROOT r = f32[8]{0} add(p, p)\n}\n"
		"ENTRY main {\n  a = f32[8]{0} parameter(0)\n  b = f32[8]{0} call(a), to_apply=twice\n"
		"  c = f32[8]{0} negate(b)\n  ROOT d = f32[8]{0} call(c), to_apply=twice\n}\n",
		"HloModule m\n"
		"ENTRY main {\n  a = f32[8]{0} parameter(0)\n  b = f32[8]{0} add(a, a)\n"
		"  c = f32[8]{0} negate(b)\n  ROOT d = f32[8]{0} add(c, c)\n}\n"},
	{"calls within calls, and one that hands its argument back", "HloModule m\n"
		"same {\n  ROOT p = f32[8]{0} parameter(0)\n}\n"
		"inner {\n  x = f32[8]{0} parameter(0)\n  y = f32[8]{0} parameter(1)\n"
		"  ROOT r = f32[8]{0} subtract(x, y)\n}\n"
		"outer {\n  u = f32[8]{0} parameter(0)\n  w = f32[8]{0} call(u), to_apply=same\n"
		"  e = f32[8]{0} exponential(w)\n"
		"  ROOT r = f32[8]{0} call(e, u), to_apply=inner\n}\n"
		"ENTRY main {\n  a = f32[8]{0} parameter(0)\n  ROOT b = f32[8]{0} call(a), to_apply=outer\n}\n",
		"HloModule m\n"
		"ENTRY main {\n  a = f32[8]{0} parameter(0)\n  e = f32[8]{0} exponential(a)\n"
		"  ROOT r = f32[8]{0} subtract(e, a)\n}\n"},
	{"a tuple of results, one of which nobody reads", "HloModule m\n"
		"both {\n  p = f32[8]{0} parameter(0)\n  x = f32[8]{0} sine(p)\n  y = f32[8]{0} cosine(p)\n"
		"  ROOT t = (f32[8]{0}, f32[8]{0}) tuple(x, y)\n}\n"
		"ENTRY main {\n  a = f32[8]{0} parameter(0)\n  b = (f32[8]{0}, f32[8]{0}) call(a), to_apply=both\n"
		"  c = f32[8]{0} get-tuple-element(b), index=1\n  ROOT d = f32[8]{0} negate(c)\n}\n",
		"HloModule m\n"
		"ENTRY main {\n  a = f32[8]{0} parameter(0)\n  y = f32[8]{0} cosine(a)\n"
		"  ROOT d = f32[8]{0} negate(y)\n}\n"},
	{"a loop that is called twice becomes two, each with a body of its own", "HloModule m\n"
		LOOP(body, cond)
		"turn {\n  p = f32[8]{0} parameter(0)\n  zero = s32[] constant(0)\n"
		"  t = (s32[], f32[8]{0}) tuple(zero, p)\n"
		"  l = (s32[], f32[8]{0}) while(t), condition=cond, body=body\n"
		"  ROOT r = f32[8]{0} get-tuple-element(l), index=1\n}\n"
		"ENTRY main {\n  a = f32[8]{0} parameter(0)\n  b = f32[8]{0} call(a), to_apply=turn\n"
		"  ROOT c = f32[8]{0} call(b), to_apply=turn\n}\n",
		"HloModule m\n"
		LOOP(body, cond) LOOP(body2, cond2)
		"ENTRY main {\n  a = f32[8]{0} parameter(0)\n  z = s32[] constant(0)\n"
		"  t = (s32[], f32[8]{0}) tuple(z, a)\n"
		"  l = (s32[], f32[8]{0}) while(t), condition=cond, body=body\n"
		"  b = f32[8]{0} get-tuple-element(l), index=1\n  z2 = s32[] constant(0)\n"
		"  t2 = (s32[], f32[8]{0}) tuple(z2, b)\n"
		"  l2 = (s32[], f32[8]{0}) while(t2), condition=cond2, body=body2\n"
		"  ROOT c = f32[8]{0} get-tuple-element(l2), index=1\n}\n"},
	{"no call", "HloModule m\n"
		"ENTRY main {\n  a = f32[8]{0} parameter(0)\n  t = (f32[8]{0}) tuple(a)\n"
		"  ROOT b = f32[8]{0} get-tuple-element(t), index=0\n}\n", NULL},
	{"a call that says something to the compiler", "HloModule m\n"
		"one {\n  p = f32[8]{0} parameter(0)\n  ROOT r = f32[8]{0} add(p, p)\n}\n"
		"ENTRY main {\n  a = f32[8]{0} parameter(0)\n"
		"  ROOT b = f32[8]{0} call(a), to_apply=one, frontend_attributes={inlineable=\"false\"}\n}\n", NULL},
	{"a call that something waits for", "HloModule m\n"
		"one {\n  p = f32[8]{0} parameter(0)\n  ROOT r = f32[8]{0} add(p, p)\n}\n"
		"ENTRY main {\n  a = f32[8]{0} parameter(0)\n  b = f32[8]{0} call(a), to_apply=one\n"
		"  c = f32[8]{0} negate(a), control-predecessors={b}\n"
		"  ROOT d = f32[8]{0} add(b, c)\n}\n", NULL},
};

static bool parse(struct graph *g, const void *p, size_t n, const char *about)
{
	struct err err = {{0}};

	if (graph_parse(g, p, n, about, &err) == 0)
		return true;
	printf("\t%s: %s\n", about, err.text);
	return false;
}

static void becomes(const struct uncall_case *c)
{
	struct graph from = {0}, to = {0}, wanted = {0};
	struct buf out = {0};

	if (CHECK(parse(&from, c->from, strlen(c->from), c->about))) {
		uncall(&from, &out);
		if (!CHECK((out.len > 0) == (c->to != NULL)))
			printf("\t%s\n", c->about);
	}
	if (c->to && out.len && CHECK(parse(&to, out.data, out.len, c->about)) &&
		CHECK(parse(&wanted, c->to, strlen(c->to), c->about)) &&
		!CHECK(memcmp(&to.content, &wanted.content, sizeof to.content) == 0))
		printf("\t%s: %u instructions, wanted %u\n", c->about, to.n_nodes, wanted.n_nodes);
	buf_release(&out);
	graph_release(&from);
	graph_release(&to);
	graph_release(&wanted);
}

static void calls_go(void)
{
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
		becomes(&cases[i]);
}

/* Each of `levels` helpers calls the one before it twice: 2^levels instructions, if all were written out. */
static void text_of_doubling(int levels, struct buf *out)
{
	buf_adds(out, "HloModule m\nh0 {\n  p = f32[8]{0} parameter(0)\n  ROOT r = f32[8]{0} negate(p)\n}\n");
	for (int i = 1; i < levels; i++)
		buf_addf(out, "h%d {\n  p = f32[8]{0} parameter(0)\n  q = f32[8]{0} call(p), to_apply=h%d\n"
			"  ROOT r = f32[8]{0} call(q), to_apply=h%d\n}\n", i, i - 1, i - 1);
	buf_addf(out, "ENTRY main {\n  a = f32[8]{0} parameter(0)\n  ROOT b = f32[8]{0} call(a), to_apply=h%d\n}\n",
		levels - 1);
}

static void growth_is_bounded(void)
{
	static const struct {
		int levels;
		bool goes;
	} depths[] = {{3, true}, {40, false}};

	for (size_t i = 0; i < sizeof depths / sizeof *depths; i++) {
		struct buf text = {0}, out = {0};
		struct graph g = {0};
		text_of_doubling(depths[i].levels, &text);
		if (CHECK(parse(&g, text.data, text.len, "doubling")))
			uncall(&g, &out);
		CHECK((out.len > 0) == depths[i].goes);
		graph_release(&g);
		buf_release(&text);
		buf_release(&out);
	}
}

int main(void)
{
	RUN(calls_go);
	RUN(growth_is_bounded);
	return test_done();
}
