/*
 * check_sim.c - the performance model follows its rules, worked out by hand; its description files; and the device
 * around it. The programs are written instruction by instruction.
 */
#include <stdarg.h>
#include <stdlib.h>
#include <unistd.h>
#include "base/io.h"
#include "device/device.h"
#include "device/roofline.h"
#include "space/space.h"
#include "space/toy/toy.h"
#include "tests/test.h"

/* A small program: lines of (opcode, shape, operands by line number from 0, -1 ends). */
struct line {
	const char *opcode;
	int64_t dims[2];
	int operands[3];
};

static Hlo__ShapeProto *shape(struct arena *mem, const int64_t *dims)
{
	Hlo__ShapeProto *s = arena_alloc(mem, sizeof *s);
	hlo__shape_proto__init(s);
	s->element_type = DT_F32;
	s->n_dimensions = dims[0] == 0 ? 0 : dims[1] == 0 ? 1 : 2;
	s->dimensions = arena_dup(mem, dims, 2 * sizeof *dims);
	return s;
}

static Hlo__HloComputationProto *computation(struct arena *mem, int64_t id, const struct line *l, size_t n)
{
	Hlo__HloComputationProto *c = arena_alloc(mem, sizeof *c);
	int64_t parameters = 0;
	hlo__hlo_computation_proto__init(c);
	c->name = arena_printf(mem, "c%d", (int)id);
	c->id = id;
	c->root_id = (int64_t)(id << 32) + (int64_t)n;
	c->instructions = ARENA_NEW(mem, n, Hlo__HloInstructionProto *);
	for (size_t i = 0; i < n; i++) {
		Hlo__HloInstructionProto *in = c->instructions[c->n_instructions++] = arena_alloc(mem, sizeof *in);
		hlo__hlo_instruction_proto__init(in);
		in->opcode = (char *)l[i].opcode;
		in->name = arena_printf(mem, "%s.%d.%zu", l[i].opcode, (int)id, i);
		in->shape = shape(mem, l[i].dims);
		in->id = (int64_t)(id << 32) + (int64_t)i + 1;
		in->operand_ids = ARENA_NEW(mem, 3, int64_t);
		for (int k = 0; k < 3 && l[i].operands[k] >= 0; k++)
			in->operand_ids[in->n_operand_ids++] = (int64_t)(id << 32) + l[i].operands[k] + 1;
		if (strcmp(l[i].opcode, "parameter") == 0)
			in->parameter_number = parameters++;
		/* of one dimension: the first */
		if (strcmp(l[i].opcode, "broadcast") == 0 && l[l[i].operands[0]].dims[0]) {
			in->n_dimensions = 1;
			in->dimensions = ARENA_NEW(mem, 1, int64_t);
		}
	}
	return c;
}

/* Returns the price of an entry. With n_fused > 0 its instruction `fusion` calls a computation of the other lines. */
static double seconds(const struct roofline *m, const struct line *entry, size_t n,
	const struct line *fused, size_t n_fused, const char *kind)
{
	struct arena mem = {0};
	Hlo__HloModuleProto module;
	Hlo__HloComputationProto *comps[2];
	struct buf b = {0};
	struct graph g = {0};
	struct roofline_scratch scratch = {0};
	struct err err = {0};
	double s = NAN;

	hlo__hlo_module_proto__init(&module);
	module.name = (char *)"written";
	module.entry_computation_name = (char *)"c2";
	module.entry_computation_id = 2;
	if (n_fused)
		comps[module.n_computations++] = computation(&mem, 1, fused, n_fused);
	comps[module.n_computations++] = computation(&mem, 2, entry, n);
	module.computations = comps;
	for (size_t i = 0; i < n && n_fused; i++) {
		Hlo__HloInstructionProto *in = comps[1]->instructions[i];
		if (strcmp(in->opcode, kind) != 0)
			continue;
		in->n_called_computation_ids = 1;
		in->called_computation_ids = ARENA_NEW(&mem, 1, int64_t);
		in->called_computation_ids[0] = 1;
		in->fusion_kind = (char *)(strcmp(kind, "fusion") == 0 ? "kLoop" : "");
	}
	b.len = hlo__hlo_module_proto__get_packed_size(&module);
	buf_reserve(&b, b.len + 1);
	b.len = hlo__hlo_module_proto__pack(&module, (uint8_t *)b.data);
	if (graph_parse(&g, b.data, b.len, "written", &err) == 0)
		s = roofline_seconds(m, &g, &scratch);
	else
		printf("\t%s\n", err.text);
	roofline_scratch_release(&scratch);
	graph_release(&g);
	buf_release(&b);
	arena_release(&mem);
	return s;
}
#define LINES(a) (a), sizeof(a) / sizeof *(a)

/* Rates of one, so that seconds are counts. */
static struct roofline plain(void)
{
	struct roofline m = roofline_default;
	m.start = 1000;
	m.launch = 100;
	m.work = m.heavy = 1;
	m.loads = m.near_rate = m.mid_rate = m.far_rate = m.memory_rate = 1e30;
	return m;
}

static void single_instructions_are_kernels(void)
{
	const struct line l[] = {{"parameter", {10}, {-1}}, {"add", {10}, {0, 0, -1}}, {"tanh", {10}, {1, -1}}};
	struct roofline m = plain();
	CHECK_NEAR(seconds(&m, LINES(l), NULL, 0, ""), 1000 + 2 * 100 + 10 + 120, 1e-6);
	m = plain();
	m.work = 1e30;
	m.loads = 1; /* x once or twice: add asks for 2 * 10, tanh for 10 */
	CHECK_NEAR(seconds(&m, LINES(l), NULL, 0, ""), 1000 + 2 * 100 + 30, 1e-6);
}

static void traffic_chooses_its_cache(void)
{
	const struct line l[] = {{"parameter", {100}, {-1}}, {"negate", {100}, {0, -1}}};
	struct roofline m = plain();
	static const struct {
		double near, mid, far, want;
	} table[] = {{800, 1e9, 1e9, 800}, {799, 800, 1e9, 400}, {799, 799, 800, 200}, {1, 2, 3, 100}};
	m.work = 1e30;
	m.near_rate = 1;
	m.mid_rate = 2;
	m.far_rate = 4;
	m.memory_rate = 8;
	for (size_t i = 0; i < 4; i++) {
		m.near_bytes = table[i].near;
		m.mid_bytes = table[i].mid;
		m.far_bytes = table[i].far;
		CHECK_NEAR(seconds(&m, LINES(l), NULL, 0, ""), 1100 + table[i].want, 1e-6);
	}
}

static void fusing_saves_a_launch(void)
{
	const struct line entry[] = {{"parameter", {10}, {-1}}, {"fusion", {10}, {0, -1}}};
	const struct line fused[] = {{"parameter", {10}, {-1}}, {"add", {10}, {0, 0, -1}}, {"tanh", {10}, {1, -1}}};
	struct roofline m = plain();
	CHECK_NEAR(seconds(&m, LINES(entry), LINES(fused), "fusion"), 1000 + 100 + 10 + 120, 1e-6);
}

/* tanh of 10 values, then spread over 10 * 50: fused it is computed 500 times. */
static void broadcasts_recompute(void)
{
	const struct line bare[] = {{"parameter", {10}, {-1}}, {"tanh", {10}, {0, -1}},
		{"broadcast", {10, 50}, {1, -1}}};
	const struct line entry[] = {{"parameter", {10}, {-1}}, {"fusion", {10, 50}, {0, -1}}};
	struct roofline m = plain();
	CHECK_NEAR(seconds(&m, LINES(bare), NULL, 0, ""), 1000 + 200 + 120, 1e-6);
	CHECK_NEAR(seconds(&m, LINES(entry), LINES(bare), "fusion"), 1000 + 100 + 12 * 500, 1e-6);
}

/* Elementwise readers at the same place share a value; readers elsewhere do not. */
static void elementwise_readers_share(void)
{
	const struct line entry[] = {{"parameter", {10}, {-1}}, {"fusion", {10}, {0, -1}}};
	const struct line diamond[] = {{"parameter", {10}, {-1}}, {"tanh", {10}, {0, -1}}, {"negate", {10}, {1, -1}},
		{"abs", {10}, {1, -1}}, {"add", {10}, {2, 3, -1}}};
	const struct line turned[] = {{"parameter", {10}, {-1}}, {"tanh", {10}, {0, -1}}, {"negate", {10}, {1, -1}},
		{"reverse", {10}, {1, -1}}, {"add", {10}, {2, 3, -1}}};
	struct roofline m = plain();
	CHECK_NEAR(seconds(&m, LINES(entry), LINES(diamond), "fusion"), 1100 + 120 + 30, 1e-6);
	CHECK_NEAR(seconds(&m, LINES(entry), LINES(turned), "fusion"), 1100 + 240 + 20, 1e-6);
}

static void calls_run_their_computation(void)
{
	const struct line entry[] = {{"parameter", {10}, {-1}}, {"call", {10}, {0, -1}}};
	const struct line called[] = {{"parameter", {10}, {-1}}, {"add", {10}, {0, 0, -1}}};
	struct roofline m = plain();
	m.turn = 7;
	CHECK_NEAR(seconds(&m, LINES(entry), LINES(called), "call"), 1000 + 7 + 100 + 10, 1e-6);
}

static void descriptions_are_read(void)
{
	static const struct {
		const char *text, *fault;
	} table[] = {{"", NULL}, {"# nothing\n\n", NULL}, {"work = 5", NULL}, {" near.bytes=1e6 # big\r\nwork= 2\n",
		NULL},
		{"work", "key = number"}, {"work = ", "positive"}, {"work = x", "positive"}, {"work = 1 2", "positive"},
		{"work = -1", "positive"}, {"work = 0", "positive"}, {"work = inf", "positive"},
		{"work = nan", "positive"},
		{"lunch = 1", "launch"}, {"= 1", "knows no"}, {"a\nwork = 0", "line 1"}, {"\n\nwork = 0", "line 3"}};
	for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
		struct roofline m = roofline_default;
		struct err err = {0};
		int rc = roofline_parse(&m, table[i].text, "file", &err);
		if (!CHECK_INT(rc, table[i].fault ? -1 : 0) || !CHECK(!table[i].fault ||
			strstr(err.text, table[i].fault)))
			printf("\t\"%s\": %s\n", table[i].text, err.text);
	}
	struct roofline m = roofline_default;
	CHECK(roofline_parse(&m, "near.bytes = 5\nfar.rate = 7", "x", NULL) == 0);
	CHECK(m.near_bytes == 5 && m.far_rate == 7 && m.work == roofline_default.work);
}

static struct device *open_sim(const char *model, struct err *err)
{
	struct device_options o = {.backend = "sim", .model = model};
	return device_open(&o, err);
}

static void description_file_names_the_device(void)
{
	char path[] = "/tmp/check_sim.XXXXXX";
	struct err err = {0};
	struct device *d = open_sim(NULL, &err), *e;
	int fd = mkstemp(path);
	CHECK(fd >= 0 && write(fd, "work = 1e9\n", 11) == 11);
	e = open_sim(path, &err);
	CHECK(d && e && strcmp(device_info(d)->version, device_info(e)->version) != 0);
	CHECK(device_info(d)->kind == COST_MODELLED);
	device_close(e);
	CHECK(write(fd, "nonsense\n", 9) == 9);
	CHECK(open_sim(path, &err) == NULL && strstr(err.text, "line 2"));
	close(fd);
	unlink(path);
	CHECK(open_sim(path, &err) == NULL);
	device_close(d);
}

static void handles_come_and_go(void)
{
	struct device *d = open_sim(NULL, NULL);
	struct compiled c[3] = {{0}};
	struct buf module[3] = {{0}};
	struct timing t;
	for (uint32_t i = 0; i < 3; i++) {
		struct toy_spec spec = {20 + i, 2, 1};
		toy_graph(&spec, &module[i]);
		CHECK(device_compile(d, COMPILE_APPLIED, "hlo", module[i].data, module[i].len,
			WANT_OPTIMISED | WANT_MEMORY, &c[i], NULL) == 0);
		CHECK(c[i].outcome == OUTCOME_OK && c[i].optimised.len && c[i].optimal_seconds > 0);
	}
	CHECK(device_pair(d, &c[0], &c[2], NULL, &t, NULL) == 0 && t.outcome == OUTCOME_OK);
	CHECK(t.delta == c[2].optimal_seconds - c[0].optimal_seconds && t.delta_se == 0 && t.ratio_se == 0);
	CHECK_NEAR(t.ratio, log(t.seconds_b / t.seconds_a), 1e-15);
	CHECK(t.kind == COST_MODELLED);
	CHECK(device_run(d, &c[1], NULL, &t, NULL) == 0 && t.seconds_a == c[1].optimal_seconds);
	CHECK(device_drop(d, &c[1], NULL) == 0 && c[1].handle == 0);
	CHECK(device_pair(d, &c[0], &c[1], NULL, &t, NULL) == 0 && t.outcome == OUTCOME_CRASHED);
	uint32_t old = c[2].handle;
	device_drop(d, &c[2], NULL);
	compiled_release(&c[2]);
	CHECK(device_compile(d, COMPILE_DEFAULT, "hlo", module[0].data, module[0].len, 0, &c[2], NULL) == 0);
	CHECK_INT(c[2].handle, old);
	CHECK(device_pair(d, &c[0], &c[2], NULL, &t, NULL) == 0 && t.identical && t.delta == 0);
	for (int i = 0; i < 3; i++) {
		compiled_release(&c[i]);
		buf_release(&module[i]);
	}
	device_close(d);
}

static void unreadable_programs_are_refused(void)
{
	struct device *d = open_sim(NULL, NULL);
	struct compiled c;
	struct extracted e;
	struct buf module = {0};
	struct toy_spec spec = {20, 2, 1};
	toy_graph(&spec, &module);
	static const char *const format[] = {"hlo", "hlo", "mlir"};
	size_t size[] = {0, module.len / 2, module.len};
	for (int i = 0; i < 3; i++) {
		CHECK(device_compile(d, COMPILE_APPLIED, format[i], module.data, size[i], 0, &c, NULL) == 0);
		CHECK(c.outcome == OUTCOME_REFUSED && c.detail[0] && c.handle == 0);
		compiled_release(&c);
		CHECK(device_extract(d, format[i], module.data, size[i], &e, NULL) == 0);
		CHECK(e.outcome == OUTCOME_REFUSED && e.detail[0]);
		extracted_release(&e);
	}
	CHECK(device_extract(d, "hlo", module.data, module.len, &e, NULL) == 0);
	CHECK(e.before.len && e.after.len == 0);
	extracted_release(&e);
	buf_release(&module);
	device_close(d);
}

int main(void)
{
	RUN(single_instructions_are_kernels);
	RUN(traffic_chooses_its_cache);
	RUN(fusing_saves_a_launch);
	RUN(broadcasts_recompute);
	RUN(elementwise_readers_share);
	RUN(calls_run_their_computation);
	RUN(descriptions_are_read);
	RUN(description_file_names_the_device);
	RUN(handles_come_and_go);
	RUN(unreadable_programs_are_refused);
	return test_done();
}
