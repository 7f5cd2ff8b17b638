/*
 * check_rewrite_around.c - what belongs to a product's place besides it: the transposition that reads it and the
 * kernels that read that, but not what a loop computes once.
 */
#include <stdlib.h>
#include <string.h>
#include "base/buf.h"
#include "space/rewrite/own.h"
#include "tests/test.h"

static struct graph graph;

/* The gradient of a weight, turned, of which two halves are added to sums; `more` may read it, too. */
static struct space *open_gradient(const char *more, const char *root)
{
	struct buf text = {0};
	struct err err = {0};
	struct space *s;

	buf_addf(&text,
		"HloModule m\n\nENTRY e {\n"
		"  a = f32[8,384] parameter(0)\n  b = f32[8,96] parameter(1)\n  p = f32[96,192] parameter(2)\n"
		"  q = f32[96,192] parameter(3)\n"
		"  y = f32[384,96] dot(a, b), lhs_contracting_dims={0}, rhs_contracting_dims={0}\n"
		"  t = f32[96,384] transpose(y), dimensions={1,0}\n"
		"  u = f32[96,192] slice(t), slice={[0:96], [0:192]}\n"
		"  v = f32[96,192] slice(t), slice={[0:96], [192:384]}\n"
		"  pu = f32[96,192] add(p, u)\n  qv = f32[96,192] add(q, v)\n%s"
		"  ROOT r = (f32[96,192], f32[96,192]%s) tuple(pu, qv%s)\n}\n",
		more, *root ? ", f32[96,8]" : "", root);
	graph = (struct graph){0};
	if (graph_parse(&graph, text.data, text.len, "program", &err) < 0)
		printf("FAIL: program: %s\n", err.text);
	buf_release(&text);
	s = space_open("rewrite", "cpu", &graph, NULL, 0, NULL);
	if (!CHECK(s && s->site_of[graph_find(&graph, "y")] != NONE))
		exit(1);
	return s;
}

/* How many instructions of this kind does the place of `node` have on a side, if its first choice is taken? */
static uint32_t count(struct space *s, const char *node, int side, const char *opcode)
{
	uint8_t *a = MEM_NEW(2 * s->n_sites, uint8_t), *b = a + s->n_sites;
	struct regions r = {0};
	struct graph g = {0};
	struct err err = {0};
	uint32_t n = 0;

	b[s->site_of[graph_find(&graph, node)]] = 1;
	CHECK(s->ops->region(s, a, b, &r, &err) == 0 && r.n == 1);
	if (CHECK(graph_parse(&g, side ? r.v[0].b.data : r.v[0].a.data, side ? r.v[0].b.len : r.v[0].a.len, "side",
		&err) == 0))
		for (uint32_t i = 0; i < g.n_nodes; i++)
			n += strcmp(opcode_name(g.node[i].opcode), opcode) == 0;
	graph_release(&g);
	regions_release(&r);
	mem_free(a);
	return n;
}

static void close_space(struct space *s)
{
	space_free(s);
	graph_release(&graph);
}

static void what_reads_the_transposition_belongs_to_the_place(void)
{
	struct space *s = open_gradient("", "");

	for (int side = 0; side < 2; side++) {
		CHECK_INT(count(s, "y", side, "dot"), 1);
		CHECK_INT(count(s, "y", side, "slice"), 2);
		CHECK_INT(count(s, "y", side, "add"), 2);
	}
	CHECK_INT(count(s, "y", 0, "transpose"), 1);
	CHECK(count(s, "y", 1, "transpose") > 1);
	close_space(s);
}

/* Another product takes the transposition as it lies. What becomes of it is not known, and the place ends before. */
static void what_is_no_kernel_with_it_ends_the_place(void)
{
	struct space *s = open_gradient("  w = f32[384,8] parameter(4)\n  z = f32[96,8] dot(t, w), "
		"lhs_contracting_dims={1}, rhs_contracting_dims={0}\n", ", z");

	CHECK_INT(count(s, "y", 0, "transpose"), 0);
	CHECK_INT(count(s, "y", 0, "add"), 0);
	close_space(s);
}

/* Can the numbers of the place's sides be compared? */
static bool alike(struct space *s, const char *node)
{
	uint8_t *a = MEM_NEW(2 * s->n_sites, uint8_t), *b = a + s->n_sites;
	struct regions r = {0};
	bool same;

	b[s->site_of[graph_find(&graph, node)]] = 1;
	CHECK(s->ops->region(s, a, b, &r, NULL) == 0 && r.n == 1);
	same = r.v[0].alike;
	regions_release(&r);
	mem_free(a);
	return same;
}

/* A product in bfloat16 that is converted to f32 behind it must not be judged as one of f32. */
static void converted_numbers_are_not_compared(void)
{
	struct space *s = open_gradient("  k = bf16[96,384] convert(t)\n", "");

	CHECK(!alike(s, "y"));
	close_space(s);
	s = open_gradient("", "");
	CHECK(alike(s, "y"));
	close_space(s);
}

/* Programs as they come may compute what nothing reads; its place has a result all the same. */
static void what_nothing_reads_is_a_result(void)
{
	struct space *s = open_gradient(
		"  d = f32[384,96] dot(a, b), lhs_contracting_dims={0}, rhs_contracting_dims={0}\n"
		"  dt = f32[96,384] transpose(d), dimensions={1,0}\n  unread = f32[96,384] negate(dt)\n", "");

	if (CHECK(s->site_of[graph_find(&graph, "d")] != NONE))
		CHECK_INT(count(s, "d", 0, "negate"), 1);
	close_space(s);
}

/* Two products of one operand in a loop, with weights that stay or that the loop carries on. */
static struct space *open_loop(bool stay)
{
	struct buf text = {0};
	struct space *s;

	buf_addf(&text,
		"HloModule m\n\nbody {\n  c = (s32[], f32[8,96], f32[96,96], f32[96,96]) parameter(0)\n"
		"  i = s32[] get-tuple-element(c), index=0\n  x = f32[8,96] get-tuple-element(c), index=1\n"
		"  v = f32[96,96] get-tuple-element(c), index=2\n  w = f32[96,96] get-tuple-element(c), index=3\n"
		"  one = s32[] constant(1)\n  j = s32[] add(i, one)\n"
		"  y = f32[8,96] dot(x, v), lhs_contracting_dims={1}, rhs_contracting_dims={0}\n"
		"  z = f32[8,96] dot(x, w), lhs_contracting_dims={1}, rhs_contracting_dims={0}\n"
		"  sum = f32[8,96] add(y, z)\n%s"
		"  ROOT r = (s32[], f32[8,96], f32[96,96], f32[96,96]) tuple(j, sum, %s)\n}\n"
		"cond {\n  c = (s32[], f32[8,96], f32[96,96], f32[96,96]) parameter(0)\n"
		"  i = s32[] get-tuple-element(c), index=0\n  n = s32[] constant(40)\n"
		"  ROOT less = pred[] compare(i, n), direction=LT\n}\n"
		"ENTRY e {\n  zero = s32[] constant(0)\n  x = f32[8,96] parameter(0)\n"
		"  v = f32[96,96] parameter(1)\n  w = f32[96,96] parameter(2)\n"
		"  start = (s32[], f32[8,96], f32[96,96], f32[96,96]) tuple(zero, x, v, w)\n"
		"  loop = (s32[], f32[8,96], f32[96,96], f32[96,96]) while(start), condition=cond, body=body\n"
		"  ROOT out = f32[8,96] get-tuple-element(loop), index=1\n}\n",
		stay ? "" : "  v2 = f32[96,96] add(v, v)\n  w2 = f32[96,96] add(w, w)\n", stay ? "v, w" : "v2, w2");
	graph = (struct graph){0};
	CHECK(graph_parse(&graph, text.data, text.len, "program", NULL) == 0);
	buf_release(&text);
	s = space_open("rewrite", "cpu", &graph, NULL, 0, NULL);
	if (!CHECK(s && s->n_sites > 0))
		exit(1);
	return s;
}

/* Weights are put together before the loop that leaves them as they are, and in each turn of one that does not. */
static void what_is_computed_before_the_loop_does_not_count(void)
{
	for (int stay = 0; stay < 2; stay++) {
		struct space *s = open_loop(stay);
		CHECK_INT(count(s, "z", 1, "concatenate"), stay ? 0 : 1);
		CHECK_INT(count(s, "z", 1, "dot"), 1);
		CHECK_INT(count(s, "z", 0, "dot"), 2);
		close_space(s);
	}
}

int main(void)
{
	RUN(what_reads_the_transposition_belongs_to_the_place);
	RUN(what_is_no_kernel_with_it_ends_the_place);
	RUN(converted_numbers_are_not_compared);
	RUN(what_nothing_reads_is_a_result);
	RUN(what_is_computed_before_the_loop_does_not_count);
	return test_done();
}
