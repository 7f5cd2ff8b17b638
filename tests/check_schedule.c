/*
 * check_schedule.c - what a program on several devices takes by the schedule that a compiler writes, and the exchange
 * that makes it write one.
 */
#include "device/estimate.h"
#include "graph/collective.h"
#include "hlo/exchange.h"
#include "tests/test.h"

static const char program[] =
	"HloModule part\n"
	"add { a = f32[] parameter(0)\n  b = f32[] parameter(1)\n  ROOT c = f32[] add(a, b)\n}\n"
	"ENTRY main {\n"
	"  x = f32[90000000] parameter(0)\n"
	"  tiny = f32[90000000] all-reduce(x), replica_groups={{0,1}}, channel_id=1, use_global_device_ids=true, "
	"to_apply=add\n"
	"  ROOT fair = f32[90000000] all-reduce(tiny), replica_groups={{0,1}}, channel_id=2, "
	"use_global_device_ids=true, to_apply=add\n"
	"}\n";

/* A schedule in which the exchange `tiny` takes 15 cycles, and `fair` 2e7 cycles, that is 1e4 us. */
static void write_schedule(const struct graph *g, struct buf *out)
{
	const struct comp *c = &g->comp[g->entry];

	buf_adds(out, "hlo_module {\n  name: \"part\"\n  computations {\n    instructions {\n      id: 7\n    }\n"
		"  }\n}\n");
	buf_adds(out, "computation_schedules {\n  computation_id: 99\n  scheduler_statistics {\n"
		"    total_cycles: 5\n  }\n  cycles_per_microsecond: 1\n}\n");
	buf_addf(out, "computation_schedules {\n  computation_id: %lld\n", (long long)c->proto->id);
	for (uint32_t i = 0; i < 3; i++) {
		static const double start[] = {0, 0, 15}, end[] = {0, 15, 2e7 + 15};
		buf_addf(out, "  instructions {\n    id: %lld\n", (long long)g->node[c->first + i].proto->id);
		if (start[i] > 0)
			buf_addf(out, "    start_timestamp_cycles: %.1f\n", start[i]);
		buf_addf(out, "    end_timestamp_cycles: %.1f\n    memory_usage_after: 512\n  }\n", end[i]);
	}
	buf_addf(out, "  scheduler_statistics {\n    all_gather_wasted_cycles: 1e9\n    total_cycles: 20000015\n  }\n"
		"  cycles_per_microsecond: 2000\n}\n");
}

/* 360 MB to all of two devices: each sends 360 MB over its links, and no exchange takes less than a floor. */
static void exchanges_without_a_price_are_charged(void)
{
	struct graph g = {0};
	struct buf text = {0};
	struct priced p;
	const struct spread two = {1, 2};
	double least = estimate_exchange("v5e:1x2", ALL_REDUCE, 2, 360e6);

	CHECK_INT(graph_parse(&g, program, strlen(program), "the program", NULL), 0);
	CHECK_NEAR(least, 3e-6 + 360e6 / 46.7e9, 1e-9);
	write_schedule(&g, &text);
	estimate_schedule(text.data, text.len, &g, "v5e:1x2", two, &p);
	CHECK_INT(p.outcome, OUTCOME_OK);
	CHECK_INT(p.ours, 1);
	CHECK_NEAR(p.seconds, 0.01 + least, 1e-9); /* `fair` has its own */
	CHECK_NEAR(p.exchanged, 720e6, 1);
	estimate_schedule(text.data, text.len, &g, "v5e:1x2", (struct spread){1, 1}, &p);
	CHECK_INT(p.ours, 0);
	estimate_schedule(text.data, text.len, &g, "v99:1x2", two, &p);
	CHECK_INT(p.outcome, OUTCOME_REFUSED);
	for (size_t cut = 0; cut < text.len; cut += 7) { /* no damaged text does harm */
		struct buf damaged = {0};
		buf_add(&damaged, text.data, cut);
		estimate_schedule(damaged.data, damaged.len, &g, "v5e:1x2", two, &p);
		CHECK(p.outcome == OUTCOME_REFUSED || p.seconds > 0);
		buf_release(&damaged);
	}
	buf_release(&text);
	graph_release(&g);
}

/* What is between the start and the end of an exchange, or of a copy into fast memory, runs beside it. */
#define CYCLES(n) "backend_config={\"window_config\":{\"estimated_cycles\":\"" #n "\"}}"
#define SMALL " = f32[8] fusion(x), kind=kLoop, calls=f, " CYCLES(1500000) "\n"
#define GROUP(n) "dimensions={0}, replica_groups={{0,1}}, channel_id=" #n ", use_global_device_ids=true\n"
#define GATHER " all-gather(p), " GROUP(7)
static const struct {
	const char *what, *body; /* of the entry; x is f32[8], y f32[81900000] */
	double ms;
} replayed[] = {
	{"a kernel takes the cycles beside it", "  ROOT k" SMALL, 1},
	{"a product no less than its operations need",
		"  a = bf16[8192,4096] parameter(2)\n  b = bf16[4096,4096] parameter(3)\n"
		"  ROOT k = bf16[8192,4096] dot(a, b), lhs_contracting_dims={1}, rhs_contracting_dims={0}, "
		CYCLES(9) "\n",
		1e3 * 2 * 8192.0 * 4096 * 4096 / (131072 * 1.5e9)},
	{"a reduction of a value in slow memory no less than reading it takes",
		"  zero = f32[] constant(0)\n  ROOT r = f32[] reduce(y, zero), dimensions={0}, to_apply=add\n", 0.4},
	{"... but from fast memory it may",
		"  zero = f32[] constant(0)\n  z = f32[819000]{0:S(1)} parameter(2)\n"
		"  ROOT r = f32[] reduce(z, zero), dimensions={0}, to_apply=add, " CYCLES(150) "\n", 1e-4},
	{"a part of a value costs a part", "  ROOT s = f32[40950000] slice(y), slice={[0:40950000]}\n", 0.4},
	{"a kernel is hidden behind a copy",
		"  c = (f32[81900000]{0:S(1)}, f32[81900000], u32[]) copy-start(y)\n  k" SMALL
		"  d = f32[81900000]{0:S(1)} copy-done(c)\n"
		"  ROOT t = (f32[8], f32[81900000]{0:S(1)}) tuple(k, d)\n", 1},
	{"an exchange behind three kernels",
		"  s = (f32[80], f32[160]) all-gather-start(w), " GROUP(3) "  k" SMALL "  l" SMALL "  m" SMALL
		"  d = f32[160] all-gather-done(s)\n"
		"  ROOT t = (f32[8], f32[8], f32[8], f32[160]) tuple(k, l, m, d)\n", 3},
	{"one in a chain of kernels, too, and it counts once",
		"  s = (f32[80], f32[160]) fusion(w), kind=kCustom, calls=begin\n"
		"  e = f32[80] get-tuple-element(s), index=0\n"
		"  k = f32[160] fusion(e), kind=kOutput, calls=middle, " CYCLES(1500000) "\n"
		"  ROOT d = f32[160] fusion(e), kind=kCustom, calls=end, control-predecessors={k}\n", 1},
	{"a loop turns as often as it says",
		"  zero = s32[] constant(0)\n  i = (s32[], f32[8]) tuple(zero, x)\n"
		"  ROOT w2 = (s32[], f32[8]) while(i), condition=more, body=turn, "
		"backend_config={\"known_trip_count\":{\"n\":\"5\"}}\n", 5},
};

static void programs_are_replayed(void)
{
	static const char schedule[] = "computation_schedules {\n  computation_id: 1\n  instructions {\n"
		"    id: 999999\n    end_timestamp_cycles: 5\n  }\n  cycles_per_microsecond: 1500\n}\n";

	for (size_t i = 0; i < sizeof replayed / sizeof *replayed; i++) {
		struct buf text = {0};
		struct graph g = {0};
		struct err err = {{0}};
		struct exchanges sum;
		struct priced p;
		buf_adds(&text, "HloModule m, is_scheduled=true\n"
			"add { a = f32[] parameter(0)\n  b = f32[] parameter(1)\n  ROOT c = f32[] add(a, b)\n}\n"
			"f { p = f32[8] parameter(0)\n  ROOT t = f32[8] tanh(p)\n}\n"
			"begin { p = f32[80] parameter(0)\n  g = f32[160]" GATHER
			"  ROOT c = (f32[80], f32[160]) custom-call(g), "
			"custom_call_target=\"AsyncCollectiveStart\"\n}\n"
			"middle { p = f32[80] parameter(0)\n  ROOT g = f32[160]" GATHER "}\n"
			"end { p = f32[80] parameter(0)\n  g = f32[160]" GATHER "  ROOT c = f32[160] custom-call(g), "
			"custom_call_target=\"AsyncCollectiveDone\"\n}\n"
			"turn { s = (s32[], f32[8]) parameter(0)\n  i = s32[] get-tuple-element(s), index=0\n"
			"  x = f32[8] get-tuple-element(s), index=1\n  k" SMALL
			"  ROOT t = (s32[], f32[8]) tuple(i, k)\n}\n"
			"more { s = (s32[], f32[8]) parameter(0)\n  i = s32[] get-tuple-element(s), index=0\n"
			"  five = s32[] constant(5)\n  ROOT l = pred[] compare(i, five), direction=LT\n}\n"
			"ENTRY main {\n  x = f32[8] parameter(0)\n  y = f32[81900000] parameter(1)\n");
		if (strstr(replayed[i].body, "(w)"))
			buf_adds(&text, "  w = f32[80] parameter(2)\n");
		buf_addf(&text, "%s}\n", replayed[i].body);
		CHECK_INT(graph_parse(&g, text.data, text.len, "the program", &err), 0);
		CHECK_STR(err.text, "");
		estimate_schedule(schedule, sizeof schedule - 1, &g, "v5e:1x2", (struct spread){1, 2}, &p);
		CHECK_INT(p.outcome, OUTCOME_OK);
		if (!CHECK_NEAR(1e3 * p.seconds, replayed[i].ms, 2e-3 * replayed[i].ms))
			printf("%s\n", replayed[i].what);
		collective_sum(&g, (struct spread){1, 2}, &sum);
		CHECK_NEAR(p.exchanged, sum.bytes[ALL_GATHER], 0);
		CHECK(p.exchanged == (strstr(replayed[i].body, "(w)") ? 320 : 0));
		buf_release(&text);
		graph_release(&g);
	}
}

/*
 * 4 MiB of f32 are gathered by two devices: as bfloat16 on a TPU, if only a product reads them; as they are on a GPU.
 */
static void what_goes_to_products_is_narrowed(void)
{
	static const struct {
		const char *name, *reader;
		double bytes;
	} t[] = {{"v5e", "r = f32[1024,8] dot(m, x), lhs_contracting_dims={1}, rhs_contracting_dims={0}", 0x1p20},
		{"a100", "r = f32[1024,8] dot(m, x), lhs_contracting_dims={1}, rhs_contracting_dims={0}", 0x1p21},
		{"v5e", "r = f32[1024,1024] tanh(m)", 0x1p21}};

	for (size_t i = 0; i < sizeof t / sizeof *t; i++) {
		struct graph g = {0};
		struct buf text = {0};
		struct priced p;
		double sum = 0;
		buf_addf(&text, "HloModule m\nENTRY e {\n"
			"  w = f32[512,1024] parameter(0)\n  x = f32[1024,8] parameter(1)\n"
			"  a = f32[1024,1024] all-gather(w), " GROUP(1)
			"  m = f32[1024,1024] transpose(a), dimensions={1,0}\n  ROOT %s\n}\n", t[i].reader);
		CHECK_INT(graph_parse(&g, text.data, text.len, "the program", NULL), 0);
		estimate_mesh(&g, t[i].name, (struct spread){1, 2}, &p);
		CHECK_NEAR(p.exchanged, t[i].bytes, 0);
		for (int k = 0; k < ESTIMATE_PARTS; k++)
			sum += p.part[k];
		CHECK_NEAR(sum, p.seconds, 1e-15);
		CHECK(p.part[PART_EXCHANGES] > 0 && p.part[PART_MEMORY] > 0 && p.part[PART_STARTS] > 0);
		buf_release(&text);
		graph_release(&g);
	}
}

static void several_devices_have_their_own_estimator(void)
{
	CHECK(estimator_find("tpu", (struct spread){1, 4})->schedule != NULL);
	CHECK(estimator_find("tpu", (struct spread){1, 1})->schedule == NULL);
	CHECK(estimator_find("pod", (struct spread){1, 4})->read == estimate_mesh);
	CHECK(estimator_find("cpu", (struct spread){1, 4}) == NULL);
}

/* The exchange becomes the last part of the result, whether that was a tuple or not. */
static void exchanges_are_added(void)
{
	static const struct {
		const char *text;
		uint32_t parts, nodes;
	} t[] = {{"HloModule m\nENTRY e {\n  x = f32[8] parameter(0)\n  ROOT y = f32[8] tanh(x)\n}\n", 2, 6},
		{"HloModule m\nENTRY e {\n  x = f32[8] parameter(0)\n  y = f32[8] tanh(x)\n"
		 "  ROOT t = (f32[8], f32[8]) tuple(x, y)\n}\n", 3, 6}};

	for (size_t i = 0; i < sizeof t / sizeof *t; i++) {
		struct graph g = {0}, after = {0};
		struct buf module = {0}, out = {0};
		struct err err = {{0}};
		CHECK_INT(graph_parse(&g, t[i].text, strlen(t[i].text), "the program", &err), 0);
		graph_write(&g, &module);
		CHECK_INT(exchange_add(module.data, module.len, "the program", 4, &out, &err), 0);
		CHECK_INT(graph_parse(&after, out.data, out.len, "the program after it", &err), 0);
		CHECK_STR(err.text, "");
		CHECK_INT(after.n_nodes, t[i].nodes);
		const uint32_t root = after.comp[after.entry].root;
		CHECK_INT(after.node[root].n_operands, t[i].parts);
		const struct node *last = &after.node[node_operands(&after, root)[t[i].parts - 1]];
		CHECK_STR(last->proto->custom_call_target, "Sharding");
		CHECK_INT(last->proto->sharding->tile_assignment_devices[3], 0);
		CHECK_INT(last->elements, 2048);
		CHECK(last->proto->sharding->n_tile_assignment_devices == 4);
		buf_release(&module);
		buf_release(&out);
		graph_release(&g);
		graph_release(&after);
	}
}

int main(void)
{
	RUN(exchanges_without_a_price_are_charged);
	RUN(programs_are_replayed);
	RUN(what_goes_to_products_is_narrowed);
	RUN(several_devices_have_their_own_estimator);
	RUN(exchanges_are_added);
	return test_done();
}
