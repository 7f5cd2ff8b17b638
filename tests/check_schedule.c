/*
 * check_schedule.c - what a program on several devices takes by the schedule that a compiler writes, and the exchange
 * that makes it write one.
 */
#include "device/estimate.h"
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

/* 360 MB to all of two devices: each sends 360 MB, over 90 GB a second, and 3 us that any exchange takes. */
static void exchanges_without_a_price_are_charged(void)
{
	struct graph g = {0};
	struct buf text = {0};
	struct priced p;
	const struct spread two = {1, 2};
	double least = 3e-6 + 360e6 / 90e9;

	CHECK_INT(graph_parse(&g, program, strlen(program), "the program", NULL), 0);
	write_schedule(&g, &text);
	estimate_schedule(text.data, text.len, &g, "v5e:1x2", two, &p);
	CHECK_INT(p.outcome, OUTCOME_OK);
	CHECK_INT(p.ours, 1);
	CHECK_NEAR(p.our_seconds, least - 15 / 2e9, 1e-9);
	CHECK_NEAR(p.seconds, 20000015 / 2e9 + least - 15 / 2e9, 1e-9);
	CHECK_NEAR(p.exchanged, 720e6, 1);
	estimate_schedule(text.data, text.len, &g, "v5e:1x2", (struct spread){1, 1}, &p);
	CHECK_NEAR(p.our_seconds, 0, 0);
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
	RUN(several_devices_have_their_own_estimator);
	RUN(exchanges_are_added);
	return test_done();
}
