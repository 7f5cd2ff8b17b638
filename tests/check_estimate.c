/*
 * check_estimate.c - hardware that is not here: how it is named, what XLA is told about it, and how the prices of its
 * compiler are added up.
 */
#include "device/backend.h"
#include "device/estimate.h"
#include "device/target.h"
#include "tests/test.h"

static void targets_are_found_by_name(void)
{
	static const struct {
		const char *device, *target, *error; /* error: a part of the sentence; NULL: fine */
	} t[] = {
		{"cuda:h100", "h100", NULL},
		{"cuda:b200", "b200", NULL},
		{"cuda", "", NULL},
		{"cuda:h1000", NULL, "known are h100, b200, a100"},
		{"cuda:", NULL, "known are h100, b200, a100"},
		{"tpu", "v5e:2x2", NULL},
		{"tpu:v5e:4x4", "v5e:4x4", NULL},
		{"tpu:v9:1x1", "v9:1x1", NULL}, /* the plugin knows best */
		{"cpu", "", NULL},
		{"cpu:zen4", NULL, "has no targets"},
	};

	for (size_t i = 0; i < sizeof t / sizeof *t; i++) {
		struct err err = {{0}};
		char target[64] = "";
		const struct backend *b = backend_find(t[i].device, &err);
		int rc = b ? backend_target(b, t[i].device, target, sizeof target, &err) : -1;

		CHECK_INT(rc, t[i].error ? -1 : 0);
		if (t[i].error)
			CHECK(strstr(err.text, t[i].error) != NULL);
		else
			CHECK_STR(target, t[i].target);
	}
	CHECK(backend_find("cudas:h100", &(struct err){{0}}) == NULL);
}

static void gpus_are_told(void)
{
	static const char *const names[] = {"h100", "b200", "a100"};
	struct buf out = {0};

	for (size_t i = 0; i < 3; i++) {
		int depth = 0;
		buf_reset(&out);
		CHECK(target_gpu(names[i], &out) && target_find("cuda", names[i]));
		for (size_t k = 0; k < out.len; k++)
			depth += (out.data[k] == '{') - (out.data[k] == '}');
		CHECK_INT(depth, 0);
		CHECK(strstr(out.data, "core_count: ") != NULL);
	}
	CHECK(strstr(out.data, "rate_infos") == NULL); /* nothing is known of A100's units, so nothing is said */
	CHECK(!target_gpu("v5e:2x2", &out));
	CHECK_INT(target_number("h100", "core_count"), 132);
	CHECK_NEAR(target_number("b200", "memory_bandwidth"), 7.67232e12, 1);
	CHECK_INT(target_number("h100", "price"), 0);
	buf_release(&out);
}

#define HEAD "HloModule m\nsum { a = f32[] parameter(0) b = f32[] parameter(1) ROOT c = f32[] add(a, b) }\n"
#define COST(list) ", backend_config={\"operation_queue_id\":\"0\",\"reification_cost\":[" list "]}"
#define ONE(us, name) "{\"end_to_end_cycles\":1,\"exec_time_us\":" us ",\"name\":\"" name "\"}"
#define NEG "neg { p = f32[1024] parameter(0) ROOT n = f32[1024] negate(p) }\n"
#define ENTRY(rest) "ENTRY main { x = f32[1024] parameter(0) " rest " }\n"
#define FUSED(name, of, calls, cost) name " = f32[1024] fusion(" of "), kind=kLoop, calls=" calls cost

static const struct {
	const char *what, *text;
	double us; /* without what our roofline says */
	uint32_t kernels, ours;
	const char *refused;
} programs[] = {
	{"a kernel and its launch", HEAD NEG ENTRY("ROOT " FUSED("y", "x", "neg", COST(ONE("0.5", "")))), 1.5, 1, 0,
		NULL},
	{"tiles before the plain model before the scheduler's",
		HEAD NEG ENTRY(FUSED("y", "x", "neg",
		COST(ONE("900", "") "," ONE("0.25", "indexing-cost-model") "," ONE("3", "sol"))) " ROOT "
			FUSED("z", "y", "neg", COST(ONE("7", "sol") "," ONE("2", "")))), 1.25 + 3, 2, 0, NULL},
	{"a product done by a library has the scheduler's price",
		HEAD ENTRY("ROOT y = f32[1024] custom-call(x), custom_call_target=\"__cublas$lt$matmul\"" COST(ONE("4",
		"sol"))), 5, 1, 0, NULL},
	{"a copy is nobody's, so it gets our roofline", HEAD ENTRY("ROOT y = f32[1024] copy(x)"), 1, 1, 1, NULL},
	{"and so does what is said to cost nothing", HEAD NEG ENTRY("ROOT " FUSED("y", "x", "neg", COST(ONE("0", "")))),
		1, 1, 1, NULL},
	{"a loop counts as often as it turns",
		HEAD NEG "body { p = (s32[], f32[1024]) parameter(0) i = s32[] get-tuple-element(p), "
		"index=0 v = f32[1024] get-tuple-element(p), "
		"index=1 " FUSED("w", "v", "neg", COST(ONE("0.5", ""))) " ROOT t = (s32[], f32[1024]) tuple(i, w) }\n"
		"cond { p = (s32[], f32[1024]) parameter(0) ROOT yes = pred[] constant(true) }\n"
		ENTRY("zero = s32[] constant(0) s = (s32[], f32[1024]) tuple(zero, x) ROOT l = "
			"(s32[], f32[1024]) while(s), condition=cond, "
		      "body=body, backend_config={\"known_trip_count\":{\"n\":\"10\"}}"), 15, 1, 0, NULL},
	{"two reductions in one kernel",
		HEAD "two { p = f32[1024,1024] parameter(0) z = f32[] constant(0) r = "
		"f32[1024] reduce(p, z), dimensions={0}, to_apply=sum ROOT q = f32[] reduce(r, z), dimensions={0}, "
		"to_apply=sum }\n"
		"ENTRY main { x = f32[1024,1024] parameter(0) "
		"ROOT y = f32[] fusion(x), kind=kLoop, calls=two" COST(ONE("0.5", "")) " }\n",
		1.5, 1, 0, "what another one gives"},
	{"a reduction that is spread again",
		HEAD "two { p = f32[1024,64] parameter(0) z = f32[] constant(0) r = "
		"f32[64] reduce(p, z), dimensions={0}, to_apply=sum ROOT q = f32[1024,64] broadcast(r), dimensions={1} "
		"}\n"
		"ENTRY main { x = f32[1024,64] parameter(0) ROOT y = "
		"f32[1024,64] fusion(x), kind=kLoop, calls=two" COST(ONE("0.5", "")) " }\n",
		1.5, 1, 0, "again for each element"},
	{"the same of a few elements is what the thread does itself",
		HEAD "two { p = f32[8,64] parameter(0) z = f32[] constant(0) r = "
		"f32[64] reduce(p, z), dimensions={0}, to_apply=sum ROOT q = f32[8,64] broadcast(r), dimensions={1} }\n"
		"ENTRY main { x = f32[8,64] parameter(0) ROOT "
		"y = f32[8,64] fusion(x), kind=kLoop, calls=two" COST(ONE("0.5", "")) " }\n", 1.5, 1, 0, NULL},
	{"it may be spread if it is short and folded again",
		HEAD "two { p = f32[1024,8] parameter(0) z = f32[] constant(0) r = "
		"f32[1024] reduce(p, z), dimensions={1}, to_apply=sum b = f32[1024,64] broadcast(r), dimensions={0} "
		"ROOT q = f32[1024] reduce(b, z), dimensions={1}, to_apply=sum }\n"
		"ENTRY main { x = f32[1024,8] parameter(0) ROOT y = "
		"f32[1024] fusion(x), kind=kInput, calls=two" COST(ONE("0.5", "")) " }\n", 1.5, 1, 0, NULL},
	{"but not if it is a result of the kernel, too",
		HEAD "two { p = f32[1024,8] parameter(0) z = f32[] constant(0) r = "
		"f32[1024] reduce(p, z), dimensions={1}, to_apply=sum b = f32[1024,64] broadcast(r), dimensions={0} "
		"q = f32[1024] reduce(b, z), dimensions={1}, to_apply=sum "
		"ROOT t = (f32[1024], f32[1024,64]) tuple(q, b) }\n"
		"ENTRY main { x = f32[1024,8] parameter(0) ROOT y = "
		"(f32[1024], f32[1024,64]) fusion(x), kind=kInput, calls=two" COST(ONE("0.5", "")) " }\n",
		1.5, 1, 0, "again for each element"},
	{"and in tiles it is the compiler's own affair",
		HEAD "two { p = f32[1024,64] parameter(0) z = f32[] constant(0) r = "
		"f32[64] reduce(p, z), dimensions={0}, to_apply=sum ROOT q = f32[1024,64] broadcast(r), dimensions={1} "
		"}\n"
		"ENTRY main { x = f32[1024,64] parameter(0) ROOT y = "
		"f32[1024,64] fusion(x), kind=kCustom, calls=two" COST(ONE("0.5", "")) " }\n", 1.5, 1, 0, NULL},
};

static void prices_add_up(void)
{
	for (size_t i = 0; i < sizeof programs / sizeof *programs; i++) {
		struct graph g = {0};
		struct priced p;
		struct err err = {{0}};

		if (!CHECK(graph_parse(&g, programs[i].text, strlen(programs[i].text), programs[i].what, &err) == 0)) {
			printf("%s: %s\n", programs[i].what, err.text);
			continue;
		}
		estimate_reified(&g, "h100", (struct spread){0}, &p);
		if (!CHECK_NEAR(1e6 * (p.seconds - p.our_seconds), programs[i].us, 1e-9))
			printf("that was: %s\n", programs[i].what);
		CHECK_INT(p.kernels, programs[i].kernels);
		CHECK_INT(p.ours, programs[i].ours);
		CHECK((p.our_seconds > 0) == (programs[i].ours > 0));
		CHECK_INT(p.outcome, programs[i].refused ? OUTCOME_REFUSED : OUTCOME_OK);
		CHECK(!programs[i].refused || strstr(p.detail, programs[i].refused));
		graph_release(&g);
	}
}

#define CYCLES(n) \
	", backend_config={\"window_config\":{\"kernel_window_bounds\":[],\"estimated_cycles\":\"" n "\"}}"
#define ON_TPU(name, of, calls, cycles) name " = f32[1024] fusion(" of "), kind=kLoop, calls=" calls CYCLES(cycles)

static const struct {
	const char *what, *text;
	double us; /* without what our roofline says */
	uint32_t kernels, ours;
} on_tpu[] = {
	{"1,500 cycles are a microsecond", HEAD NEG ENTRY("ROOT " ON_TPU("y", "x", "neg", "3000")), 2, 1, 0},
	{"an instruction that is compiled by itself", HEAD ENTRY("ROOT y = f32[1024] abs(x)" CYCLES("1500")), 1, 1, 0},
	{"a sort has no cycles, so it gets our roofline",
		HEAD "less { a = f32[] parameter(0) b = f32[] parameter(1) "
		"ROOT l = pred[] compare(a, b), direction=LT }\n"
		ENTRY("ROOT y = f32[1024] sort(x), dimensions={0}, to_apply=less"), 0, 1, 1},
	{"a product has our roofline whatever is written",
		HEAD "ENTRY main { x = f32[64,64] parameter(0) "
		"ROOT y = f32[64,64] dot(x, x), lhs_contracting_dims={1}, "
		"rhs_contracting_dims={0}" CYCLES("3000") " }\n", 0, 1, 1},
	{"a program of numbers takes a cycle", HEAD "ENTRY main { x = f32[] parameter(0) ROOT y = f32[] abs(x) }\n",
		1 / 1500.0, 0, 0},
	{"so has a reduction over a window",
		HEAD ENTRY("z = f32[] constant(0) ROOT y = f32[512] reduce-window(x, z), window={size=2 stride=2}, "
		      "to_apply=sum" CYCLES("3000")), 0, 1, 1},
	{"a loop counts as often as it turns, and its numbers take nothing",
		HEAD NEG "body { p = (s32[], f32[1024]) parameter(0) i = s32[] get-tuple-element(p), index=0 "
		"one = s32[] constant(1) j = s32[] add(i, one) v = f32[1024] get-tuple-element(p), "
		"index=1 " ON_TPU("w", "v", "neg", "1500") " ROOT t = (s32[], f32[1024]) tuple(j, w) }\n"
		"cond { p = (s32[], f32[1024]) parameter(0) ROOT yes = pred[] constant(true) }\n"
		ENTRY("zero = s32[] constant(0) s = (s32[], f32[1024]) tuple(zero, x) ROOT l = "
			"(s32[], f32[1024]) while(s), condition=cond, "
		      "body=body, backend_config={\"known_trip_count\":{\"n\":\"10\"}}"), 10, 1, 0},
};

static void cycles_add_up(void)
{
	struct graph g = {0};
	struct priced p;
	struct err err = {{0}};

	for (size_t i = 0; i < sizeof on_tpu / sizeof *on_tpu; i++) {
		if (!CHECK(graph_parse(&g, on_tpu[i].text, strlen(on_tpu[i].text), on_tpu[i].what, &err) == 0)) {
			printf("%s: %s\n", on_tpu[i].what, err.text);
			continue;
		}
		estimate_cycles(&g, "v5e:2x2", (struct spread){0}, &p);
		if (!CHECK_NEAR(1e6 * (p.seconds - p.our_seconds), on_tpu[i].us, 1e-9))
			printf("that was: %s\n", on_tpu[i].what);
		CHECK_INT(p.kernels, on_tpu[i].kernels);
		CHECK_INT(p.ours, on_tpu[i].ours);
		CHECK((p.our_seconds > 0) == (on_tpu[i].ours > 0));
		CHECK_INT(p.outcome, OUTCOME_OK);
		estimate_cycles(&g, "v99:2x2", (struct spread){0}, &p);
		CHECK_INT(p.outcome, OUTCOME_REFUSED);
		CHECK(strstr(p.detail, "v99") != NULL);
		graph_release(&g);
	}
}

#define DOT(x) "dot(" x ", " x "), lhs_contracting_dims={1}, rhs_contracting_dims={0}"
#define TIMES_ITSELF HEAD "ENTRY main { x = f32[4096,4096] parameter(0) ROOT y = f32[4096,4096] " DOT("x") " }\n"

/* A product costs the same by itself and wrapped into a kernel: 2 * 4096^3 operations, 131,072 in a cycle. */
static void a_product_costs_the_same_in_a_kernel(void)
{
	static const char *const texts[] = {TIMES_ITSELF,
		HEAD "f { p = f32[4096,4096] parameter(0) ROOT d = f32[4096,4096] " DOT("p") " }\n"
		"ENTRY main { x = f32[4096,4096] parameter(0) "
		"ROOT y = f32[4096,4096] fusion(x), kind=kOutput, calls=f }\n"};

	for (int i = 0; i < 2; i++) {
		struct graph g = {0};
		struct priced p;
		struct err err = {{0}};
		if (!CHECK(graph_parse(&g, texts[i], strlen(texts[i]), "product", &err) == 0))
			return;
		estimate_cycles(&g, "v5e:2x2", (struct spread){0}, &p);
		CHECK_NEAR(p.seconds, (2.0 * 4096 * 4096 * 4096 / 131072 + 1800) / 1.5e9, 1e-9);
		graph_release(&g);
	}
}

/* A copy of 4 KiB each way over 3.35 TB/s. */
static void our_roofline_is_the_target_s(void)
{
	struct graph g = {0};
	struct priced h100, a100;

	CHECK(graph_parse(&g, programs[3].text, strlen(programs[3].text), "a copy", NULL) == 0);
	estimate_reified(&g, "h100", (struct spread){0}, &h100);
	estimate_reified(&g, "a100", (struct spread){0}, &a100);
	CHECK_NEAR(h100.our_seconds, 8192 / 3.35232e12, 1e-15);
	CHECK_NEAR(a100.our_seconds, 8192 / 2.03904e12, 1e-15);
	graph_release(&g);
}

int main(int argc, char **argv)
{
	(void)argc;
	(void)argv;
	RUN(targets_are_found_by_name);
	RUN(gpus_are_told);
	RUN(prices_add_up);
	RUN(cycles_add_up);
	RUN(a_product_costs_the_same_in_a_kernel);
	RUN(our_roofline_is_the_target_s);
	return test_done();
}
