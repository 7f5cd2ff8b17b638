/*
 * check_rewrite_features.c - what a learner is told of a rewriting: both sides of a place, by what they do.
 */
#include <stdlib.h>
#include <string.h>
#include "space/rewrite/own.h"
#include "tests/test.h"

/* A product with a concatenation, twice the same; and one of other sizes, in a loop of seven turns. */
static const char program[] =
	"HloModule m\n"
	"body {\n"
	"  t = (s32[], f32[8,2], f32[8,3], f32[5,4], f32[8,4]) parameter(0)\n"
	"  i = s32[] get-tuple-element(t), index=0\n"
	"  a = f32[8,2] get-tuple-element(t), index=1\n"
	"  b = f32[8,3] get-tuple-element(t), index=2\n"
	"  w = f32[5,4] get-tuple-element(t), index=3\n"
	"  one = s32[] constant(1)\n"
	"  next = s32[] add(i, one)\n"
	"  c = f32[8,5] concatenate(a, b), dimensions={1}\n"
	"  y = f32[8,4] dot(c, w), lhs_contracting_dims={1}, rhs_contracting_dims={0}\n"
	"  ROOT r = (s32[], f32[8,2], f32[8,3], f32[5,4], f32[8,4]) tuple(next, a, b, w, y)\n"
	"}\n"
	"cond {\n"
	"  t = (s32[], f32[8,2], f32[8,3], f32[5,4], f32[8,4]) parameter(0)\n"
	"  i = s32[] get-tuple-element(t), index=0\n"
	"  n = s32[] constant(7)\n"
	"  ROOT less = pred[] compare(i, n), direction=LT\n"
	"}\n"
	"ENTRY e {\n"
	"  a = f32[16,2] parameter(0)\n"
	"  b = f32[16,3] parameter(1)\n"
	"  w = f32[5,4] parameter(2)\n"
	"  c1 = f32[16,5] concatenate(a, b), dimensions={1}\n"
	"  y1 = f32[16,4] dot(c1, w), lhs_contracting_dims={1}, rhs_contracting_dims={0}\n"
	"  d = f32[16,2] parameter(6)\n"
	"  c2 = f32[16,5] concatenate(d, b), dimensions={1}\n"
	"  y2 = f32[16,4] dot(c2, w), lhs_contracting_dims={1}, rhs_contracting_dims={0}\n"
	"  p = f32[8,2] parameter(3)\n"
	"  q = f32[8,3] parameter(4)\n"
	"  o = f32[8,4] parameter(5)\n"
	"  zero = s32[] constant(0)\n"
	"  start = (s32[], f32[8,2], f32[8,3], f32[5,4], f32[8,4]) tuple(zero, p, q, w, o)\n"
	"  loop = (s32[], f32[8,2], f32[8,3], f32[5,4], f32[8,4]) while(start), condition=cond, body=body\n"
	"  y3 = f32[8,4] get-tuple-element(loop), index=4\n"
	"  ROOT all = (f32[16,4], f32[16,4], f32[8,4]) tuple(y1, y2, y3)\n"
	"}\n";

static struct graph graph;
static struct space *space;

static void open_text(const char *text, const char *kind, uint32_t sites)
{
	struct err err = {0};

	graph = (struct graph){0};
	if (!CHECK(graph_parse(&graph, text, strlen(text), "program", &err) == 0))
		exit(1);
	space = space_open(kind, "cpu", &graph, NULL, 0, &err);
	if (!CHECK(space && space->n_sites == sites))
		exit(1);
}

static void open_program(void)
{
	open_text(program, "rewrite/without:merge-products:small-product", 4);
}

static void close_program(void)
{
	space_free(space);
	graph_release(&graph);
}

static uint32_t n_effects(void)
{
	return space->ops->kind->features->n_effect;
}

static float figure(const float *side, const char *name)
{
	uint32_t i = 0;

	while (i < n_effects() && strcmp(space->ops->kind->features->effect[i].name, name) != 0)
		i++;
	return CHECK(i < n_effects()) ? side[i] : -1;
}

static float *effect(uint8_t *config, const char *node, uint8_t choice)
{
	float *out = MEM_NEW(2 * n_effects(), float);

	space->ops->effect(space, config, space->site_of[graph_find(&graph, node)], choice, out);
	return out;
}

/* The gradient of weights in 16 bits: what is summed over is not the last of its sides. */
static void products_are_told_by_how_their_sides_lie(void)
{
	static const char text[] =
		"HloModule m\n"
		"ENTRY e {\n"
		"  a = bf16[2,64,1024] parameter(0)\n"
		"  b = bf16[2,64,128] parameter(1)\n"
		"  ROOT y = bf16[1024,128] dot(a, b), lhs_contracting_dims={0,1}, rhs_contracting_dims={0,1}\n"
		"}\n";
	const float flops = 2.0f * 128 * 1024 * 128;
	uint8_t config[2] = {0};
	float *before, *after;

	open_text(text, "rewrite", 1);
	before = effect(config, "y", 1);
	after = before + n_effects();
	for (int k = 0; k < 2; k++) {
		const float *side = k ? after : before;
		CHECK_NEAR((double)figure(side, "half product"), (double)flops, 1);
		CHECK_NEAR((double)figure(side, "several"), (double)flops, 1);
		CHECK_INT((int)figure(side, "widened"), 0);
		CHECK_INT((int)figure(side, "apart"), 0);
		CHECK_INT((int)figure(side, "deep"), 128);
	}
	CHECK_INT((int)figure(before, "left turned"), 2 * 64 * 1024);
	CHECK_INT((int)figure(before, "right turned"), 0);
	CHECK(figure(before, "turned") < figure(after, "turned"));
	mem_free(before);
	close_program();
}

/* Sixteen rows of two and three numbers, put together and multiplied; then two products and a sum. */
static void both_sides_are_told_by_what_they_do(void)
{
	uint8_t config[4] = {0};
	float *before, *after;

	open_program();
	before = effect(config, "y1", 1);
	after = before + n_effects();
	CHECK_INT((int)figure(before, "moved"), 16 * 5);
	CHECK_INT((int)figure(before, "product"), 2 * 16 * 5 * 4);
	CHECK_INT((int)figure(before, "deep"), 5);
	CHECK_INT((int)figure(before, "narrow"), 4);
	CHECK_INT((int)figure(before, "broad"), 16);
	CHECK_INT((int)figure(before, "plain"), 0);
	CHECK_INT((int)figure(before, "promise"), 0);
	CHECK_INT((int)figure(after, "product"), 2 * 16 * 5 * 4);
	CHECK_INT((int)figure(after, "deep"), 3); /* of the larger */
	CHECK_INT((int)figure(after, "plain"), 16 * 4);
	CHECK(figure(after, "operations") > figure(before, "operations"));
	CHECK(figure(after, "promise") > 0);
	mem_free(before);
	close_program();
}

/* The way back shows the same two sides, the other way round. */
static void the_way_back_is_the_same_reversed(void)
{
	uint8_t config[4] = {0};
	float *there, *back;
	size_t half;

	open_program();
	half = n_effects() * sizeof(float);
	there = effect(config, "y1", 1);
	config[space->site_of[graph_find(&graph, "y1")]] = 1;
	back = effect(config, "y1", 0);
	CHECK(memcmp(there, back + n_effects(), half) == 0 && memcmp(there + n_effects(), back, half) == 0);
	mem_free(back);
	back = effect(config, "y1", 1); /* no flip */
	CHECK_INT((int)figure(back, "product"), 0);
	mem_free(back);
	mem_free(there);
	close_program();
}

/* A place in a loop is told for one turn; the learner multiplies by the turns. */
static void copies_are_told_alike_and_a_turn_alone(void)
{
	uint8_t config[4] = {0};
	float *first, *second, *third;

	open_program();
	first = effect(config, "y1", 1);
	second = effect(config, "y2", 1);
	third = effect(config, "y", 1);
	CHECK(memcmp(first, second, 2 * n_effects() * sizeof(float)) == 0);
	CHECK_INT((int)figure(third, "product"), 2 * 8 * 5 * 4);
	mem_free(first);
	mem_free(second);
	mem_free(third);
	close_program();
}

/* Of a node: is it rewritten, and how many are like it? */
static void a_node_says_whether_it_is_rewritten(void)
{
	uint8_t config[4] = {0};
	uint32_t nodes[2];
	float out[4];

	open_program();
	CHECK_INT(space->ops->kind->features->n_context, 2);
	nodes[0] = graph_find(&graph, "y1");
	nodes[1] = graph_find(&graph, "c1");
	config[space->site_of[nodes[0]]] = 1;
	space->ops->context(space, config, nodes, 2, out);
	CHECK(out[0] == 1 && out[1] == 2 && out[2] == 0 && out[3] == 0);
	close_program();
}

/* The gradient of a filter over pictures, as a call of a library. */
static double promised_by_library(const char *type, int columns)
{
	double promise = -1;
	char text[400];

	snprintf(text, sizeof text,
		"HloModule m\n\nENTRY e {\n  x = %s[2,8,%d,32] parameter(0)\n  g = %s[2,8,%d,32] parameter(1)\n"
		"  ROOT y = %s[3,3,32,32] convolution(x, g), window={size=8x%d pad=1_1x1_1}, "
		"dim_labels=f01b_i01o->01bf\n}\n",
		type, columns, type, columns, type, columns);
	open_text(text, "rewrite", 1);
	for (uint8_t k = 1; k < space->site[0].choices; k++) {
		struct buf words = {0};
		space->ops->words(space, 0, k, &words);
		if (strncmp(words.data, "convolution-by-library", 22) == 0)
			promise = space->ops->promise(space, 0, k);
		buf_release(&words);
	}
	close_program();
	return promise;
}

static void what_a_library_gets_wrong_promises_nothing(void)
{
	CHECK(promised_by_library("bf16", 31) > 0);
	CHECK(promised_by_library("bf16", 32) <= 0);
	CHECK(promised_by_library("f32", 32) > 0);
}

int main(void)
{
	RUN(products_are_told_by_how_their_sides_lie);
	RUN(both_sides_are_told_by_what_they_do);
	RUN(the_way_back_is_the_same_reversed);
	RUN(copies_are_told_alike_and_a_turn_alone);
	RUN(a_node_says_whether_it_is_rewritten);
	RUN(what_a_library_gets_wrong_promises_nothing);
	return test_done();
}
