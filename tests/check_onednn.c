/*
 * check_onednn.c - reads what calls of oneDNN say (hlo/library.h), in all ways in which XLA may write it; and counts
 * the calls of a region. full_onednn.c runs them.
 */
#include <string.h>
#include "graph/graph.h"
#include "hlo/library.h"
#include "space/rewrite/own.h"
#include "tests/test.h"

#define PRODUCT(settings) "HloModule m\n\nENTRY e {\n" \
	"  x = f32[2,8,4,3] parameter(0)\n  w = f32[2,4,3,5] parameter(1)\n" \
	"  ROOT y = f32[2,4,8,5] custom-call(x, w), custom_call_target=\"__onednn$matmul\",\n" \
	"    backend_config={\"onednn_matmul_config\":{" settings "}}\n}\n"
#define WINDOW(settings) "HloModule m\n\nENTRY e {\n" \
	"  x = f32[2,9,9,4] parameter(0)\n  w = f32[3,3,2,8] parameter(1)\n" \
	"  ROOT y = f32[2,5,4,8] custom-call(x, w), custom_call_target=\"__onednn$convolution\",\n" \
	"    backend_config={\"onednn_conv_config\":{" settings "}}\n}\n"
#define SIDES "\"lhs\":{\"dims\":4,\"tensor\":{\"dimensions\":[1,3,2,4]}}," \
	"\"rhs\":{\"dims\":4,\"tensor\":{\"dimensions\":[1,2,3,4]}}"

/* The entry's root after all calls were turned back; its graph is released with g. */
static const Hlo__HloInstructionProto *spelt(const char *text, struct graph *g)
{
	struct graph before = {0};
	struct buf bytes = {0}, out = {0};
	struct err err = {0};
	bool ok = CHECK(graph_parse(&before, text, strlen(text), "text", &err) == 0);

	*g = (struct graph){0};
	if (ok)
		graph_write(&before, &bytes);
	ok = ok && CHECK(library_spell_all(bytes.data, bytes.len, &out, &err) == 0) &&
		CHECK(graph_parse(g, out.data, out.len, "spelt", &err) == 0);
	if (err.text[0])
		printf("\t%s\n", err.text);
	graph_release(&before);
	buf_release(&bytes);
	buf_release(&out);
	return ok ? g->node[g->comp[g->entry].root].proto : NULL;
}

static void products_are_read(void)
{
	static const char *const texts[] = {PRODUCT(SIDES),
		PRODUCT("\"rhs\":{\"tensor\":{\"dimensions\":[\"1\",\"2\",\"3\",\"4\"]},\"dims\":\"4\"},"
			" \"lhs\":{\"tensor\": {\"dimensions\":[\"1\", \"3\", \"2\", \"4\"]}}")};

	for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
		struct graph g;
		const Hlo__HloInstructionProto *y = spelt(texts[i], &g);
		if (y && CHECK_STR(y->opcode, "dot")) {
			const Hlo__DotDimensionNumbers *d = y->dot_dimension_numbers;
			CHECK(d->n_lhs_batch_dimensions == 2 && d->lhs_batch_dimensions[0] == 0 &&
				d->lhs_batch_dimensions[1] == 2 && d->lhs_contracting_dimensions[0] == 3);
			CHECK(d->n_rhs_batch_dimensions == 2 && d->rhs_batch_dimensions[1] == 1 &&
				d->rhs_contracting_dimensions[0] == 2);
			CHECK(library_spelt(y));
		}
		graph_release(&g);
	}
}

/* Numbers that are 0 are not written by XLA. */
static void convolutions_are_read(void)
{
	struct graph g;
	const Hlo__HloInstructionProto *y = spelt(WINDOW("\"dims\":\"4\",\"feature_groups\":\"2\","
		"\"input\":{\"data\":{\"feature_dim\":\"3\",\"spatial_dims\":[\"1\",\"2\"]}},"
		"\"kernel\":{\"filter\":{\"input_feature_dim\":\"2\",\"output_feature_dim\":\"3\","
		"\"spatial_dims\":[\"0\",\"1\"]}},"
		"\"output\":{\"data\":{\"feature_dim\":\"3\",\"spatial_dims\":[\"1\",\"2\"]}},"
		"\"window\":{\"size\":[\"3\",\"3\"],\"pad_left\":[\"1\",\"0\"],\"pad_right\":[\"1\",\"0\"],"
		"\"strides\":[\"2\",\"2\"],\"window_dilations\":[\"1\",\"1\"]}"), &g);

	if (y && CHECK_STR(y->opcode, "convolution")) {
		const Hlo__ConvolutionDimensionNumbers *d = y->convolution_dimension_numbers;
		CHECK(d->input_batch_dimension == 0 && d->input_feature_dimension == 3 &&
			d->input_spatial_dimensions[1] == 2);
		CHECK(d->kernel_input_feature_dimension == 2 && d->kernel_output_feature_dimension == 3 &&
			d->kernel_spatial_dimensions[0] == 0);
		CHECK(y->feature_group_count == 2 && y->window->dimensions[0]->padding_low == 1 &&
			y->window->dimensions[1]->padding_low == 0 && y->window->dimensions[1]->stride == 2);
		CHECK(library_spelt(y));
	}
	graph_release(&g);
}

static void what_does_more_stays_a_call(void)
{
	static const char *const texts[] = {
		PRODUCT(SIDES ",\"fusions\":{\"ops\":[\"BIAS\"]}"), PRODUCT(SIDES ",\"transpose_a\":true"),
		PRODUCT(SIDES ",\"optimization_config\":{\"weights_prepacked\":true}"),
		PRODUCT(""), PRODUCT("\"lhs\":{\"tensor\":{\"dimensions\":[1,2]}}"), PRODUCT("\"lhs\":7"),
		WINDOW(""), WINDOW("\"window\":{\"size\":[3,3]}"),
		WINDOW("\"window\":{\"size\":[1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1]}")};

	for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
		struct graph g;
		const Hlo__HloInstructionProto *y = spelt(texts[i], &g);
		if (y && !CHECK_STR(y->opcode, "custom-call"))
			printf("\t%s\n", texts[i]);
		graph_release(&g);
	}
}

/* A region says how often a run of the program makes a call, once for each turn of a loop. */
static void calls_are_parts_of_regions(void)
{
	static const char text[] = "HloModule m\n\nbody {\n  c = (s32[], f32[8,96], f32[96,96]) parameter(0)\n"
		"  i = s32[] get-tuple-element(c), index=0\n  x = f32[8,96] get-tuple-element(c), index=1\n"
		"  w = f32[96,96] get-tuple-element(c), index=2\n  one = s32[] constant(1)\n  j = s32[] add(i, one)\n"
		"  y = f32[8,96] dot(x, w), lhs_contracting_dims={1}, rhs_contracting_dims={0}\n"
		"  ROOT r = (s32[], f32[8,96], f32[96,96]) tuple(j, y, w)\n}\n"
		"cond {\n  c = (s32[], f32[8,96], f32[96,96]) parameter(0)\n"
		"  i = s32[] get-tuple-element(c), index=0\n  n = s32[] constant(40)\n"
		"  ROOT less = pred[] compare(i, n), direction=LT\n}\n"
		"ENTRY e {\n  zero = s32[] constant(0)\n  x = f32[8,96] parameter(0)\n  w = f32[96,96] parameter(1)\n"
		"  start = (s32[], f32[8,96], f32[96,96]) tuple(zero, x, w)\n"
		"  loop = (s32[], f32[8,96], f32[96,96]) while(start), condition=cond, body=body\n"
		"  ROOT out = f32[8,96] get-tuple-element(loop), index=1\n}\n";
	struct graph g = {0};
	struct regions r = {0};
	struct err err = {0};
	struct space *s = NULL;
	uint8_t config[2][1] = {{0}, {0}};

	if (CHECK(graph_parse(&g, text, strlen(text), "text", &err) == 0))
		s = space_open("rewrite", "cpu", &g, NULL, 0, &err);
	for (uint8_t k = 1; s && CHECK_INT(s->n_sites, 1) && k < s->site[0].choices; k++) {
		bool call = rewrite_rule(s, rewrite_offer(s, 0, k))->onednn;
		config[1][0] = k;
		if (call && CHECK(s->ops->region(s, config[0], config[1], &r, &err) == 0) && CHECK_INT(r.n, 1)) {
			CHECK_INT(r.v[0].parts[0], 0);
			CHECK_INT(r.v[0].parts[1], 40);
		}
		regions_release(&r);
	}
	if (s)
		CHECK(s->ops->part_seconds > 0);
	space_free(s);
	graph_release(&g);
}

int main(void)
{
	RUN(calls_are_parts_of_regions);
	RUN(products_are_read);
	RUN(convolutions_are_read);
	RUN(what_does_more_stays_a_call);
	return test_done();
}
