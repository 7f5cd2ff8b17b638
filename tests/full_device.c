/*
 * full_device.c - the real plugin: every graph at hand compiles, runs, and gives the modules around fusion; the module
 * after fusion, applied, is the default again.
 */
#include <glob.h>
#include <stdlib.h>
#include "base/io.h"
#include "device/host.h"
#include "graph/graph.h"
#include "tests/test.h"

static struct device *device;
static const char *path;

/*
 * Graphs of the examples and, where they lie beside the source, larger ones. Each is compiled five times, so only the
 * small ones are tried every day; LONG_TESTS=1 tries all. full_decode extracts, applies and compares real ones.
 */
static const char *const patterns[] = {
	"examples/graphs/tiny/*.pb.zst", "../shared/hlo/*.pb", "examples/graphs/held-out/*.pb.zst"};
#define EVERYDAY 1 /* patterns */

/* As graph/ writes modules to compile: without the schedule, which names instructions that passes
 * remove. */
static void without_schedule(struct buf *module)
{
	Hlo__HloModuleProto *m =
		hlo__hlo_module_proto__unpack(NULL, module->len, (uint8_t *)module->data);
	if (!CHECK(m != NULL))
		return;
	Hlo__HloScheduleProto *schedule = m->schedule;
	m->schedule = NULL;
	buf_reset(module);
	buf_reserve(module, hlo__hlo_module_proto__get_packed_size(m));
	module->len = hlo__hlo_module_proto__pack(m, (uint8_t *)module->data);
	m->schedule = schedule;
	hlo__hlo_module_proto__free_unpacked(m, NULL);
}

static uint32_t count_fusions(const struct graph *g)
{
	uint32_t n = 0;
	for (uint32_t v = 0; v < g->n_nodes; v++)
		n += g->node[v].opcode == OP_FUSION;
	return n;
}

static void extracts(const struct buf *file, struct extracted *e)
{
	struct err err = {{0}};
	struct graph before = {0}, after = {0};
	if (!CHECK(device_extract(device, "hlo", file->data, file->len, e, &err) == 0) ||
		!CHECK_INT(e->outcome, OUTCOME_OK))
		printf("%s: %s%s\n", path, err.text, e->detail);
	CHECK(graph_parse(&before, e->before.data, e->before.len, path, &err) == 0);
	CHECK(graph_parse(&after, e->after.data, e->after.len, path, &err) == 0);
	/* Fusing groups what was there: more fusions, fewer instructions outside of them. */
	CHECK(before.n_nodes > 0 && count_fusions(&after) >= count_fusions(&before));
	CHECK(before.n_nodes <= after.n_nodes || count_fusions(&after) == count_fusions(&before));
	graph_release(&before);
	graph_release(&after);
}

/* Reads the program as a module; the file may hold one in an envelope. */
static void read_program(struct buf *module)
{
	struct err err = {{0}};
	struct graph g = {0};

	CHECK(io_read_file(path, IO_FILE_LIMIT, module, &err) == 0);
	CHECK(graph_parse(&g, module->data, module->len, path, &err) == 0);
	buf_reset(module);
	graph_write(&g, module);
	graph_release(&g);
}

static void whole_round(void)
{
	struct err err = {{0}};
	struct buf file = {0};
	struct extracted e = {0};
	struct compiled a, twice, applied, loaded;
	struct timing t;
	struct comparison c;
	struct precision p = {.max_seconds = 0.2},
			 pair = {.max_seconds = 0.2, .even_identical = true, .give_up = -1};
	read_program(&file);
	extracts(&file, &e);
	without_schedule(&e.after);
	CHECK(device_compile(device, COMPILE_DEFAULT, "hlo", file.data, file.len,
		      WANT_OPTIMISED | WANT_MEMORY | WANT_SERIALISED, &a, &err) == 0);
	CHECK(device_compile(
		      device, COMPILE_DEFAULT, "hlo", file.data, file.len, 0, &twice, &err) == 0);
	CHECK(device_compile(device, COMPILE_APPLIED, "hlo", e.after.data, e.after.len, 0, &applied,
		      &err) == 0);
	CHECK_STR(a.detail, "");
	CHECK_STR(applied.detail, "");
	CHECK(a.handle && twice.handle && applied.handle);
	CHECK(a.peak_bytes > 0 && a.seconds > 0 && a.optimised.len > 0);
	CHECK(a.hash != 0 && a.hash == twice.hash);
	CHECK(device_run(device, &a, &p, &t, &err) == 0);
	CHECK_INT(t.outcome, OUTCOME_OK);
	CHECK(t.seconds_a > 0 && t.delta_se > 0);
	CHECK(device_pair(device, &a, &applied, &pair, &t, &err) == 0);
	CHECK_INT(t.outcome, OUTCOME_OK);
	printf("%s: %.4g ms, applied default %+.1f%% +- %.1f\n", path, t.seconds_a * 1e3,
		t.ratio * 100, 196 * t.ratio_se);
	CHECK(isfinite(t.ratio) && t.ratio_se > 0);
	CHECK(device_pair(device, &a, &twice, NULL, &t, &err) == 0);
	CHECK(t.identical && t.pairs == 0 && t.ratio == 0);
	CHECK(device_compare(device, &a, &applied, NULL, &c, &err) == 0);
	CHECK_INT(c.outcome, OUTCOME_OK);
	CHECK(c.all.elements > 0 && !c.all.unlike && c.all.max_rel < 1e-3 && !c.layouts_differ);
	comparison_release(&c);
	CHECK(device_compile(device, COMPILE_DEFAULT, FORMAT_EXECUTABLE, a.serialised.data, a.serialised.len, 0,
		&loaded,
		      &err) == 0);
	CHECK_STR(loaded.detail, "");
	CHECK(loaded.handle && loaded.hash == a.hash);
	CHECK(device_compare(device, &a, &loaded, NULL, &c, &err) == 0);
	CHECK(c.outcome == OUTCOME_OK && !c.all.unlike && c.all.max_abs == 0);
	comparison_release(&c);
	device_drop(device, &a, &err);
	device_drop(device, &twice, &err);
	device_drop(device, &applied, &err);
	device_drop(device, &loaded, &err);
	compiled_release(&a);
	compiled_release(&twice);
	compiled_release(&applied);
	compiled_release(&loaded);
	extracted_release(&e);
	buf_release(&file);
}

static void refuses_nonsense(void)
{
	static const struct {
		const char *format, *text;
	} cases[] = {{"hlo", "no proto at all"}, {"hlo", ""}, {"mlir", "module { what }"},
		{"fortran", "x"}, {FORMAT_EXECUTABLE, "no program"}};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct compiled c;
		struct err err = {{0}};
		CHECK(device_compile(device, COMPILE_DEFAULT, cases[i].format, cases[i].text,
			      strlen(cases[i].text), 0, &c, &err) == 0);
		CHECK(c.outcome == OUTCOME_REFUSED || c.outcome == OUTCOME_CRASHED);
		CHECK(c.detail[0] && !c.handle);
	}
}

/* StableHLO, with every kind of number an input can be. */
static void takes_mlir(void)
{
	static const char text[] = "module @types {\n"
				   "  func.func @main(%a: tensor<8xf32>, %b: tensor<8xf16>, %c: "
				   "tensor<8xbf16>, %d: tensor<8xf64>,\n"
				   "      %e: tensor<8xi1>, %f: tensor<8xi8>, %g: tensor<8xui16>, "
				   "%h: tensor<8xi64>, %i: tensor<f32>)\n"
				   "      -> (tensor<8xf32>, tensor<8xf16>, tensor<8xbf16>, "
				   "tensor<8xf64>, tensor<8xi1>, tensor<8xi8>,\n"
				   "      tensor<8xui16>, tensor<8xi64>, tensor<f32>) {\n"
				   "    %0 = stablehlo.add %a, %a : tensor<8xf32>\n"
				   "    %1 = stablehlo.multiply %0, %0 : tensor<8xf32>\n"
				   "    return %1, %b, %c, %d, %e, %f, %g, %h, %i : tensor<8xf32>, "
				   "tensor<8xf16>, tensor<8xbf16>,\n"
				   "      tensor<8xf64>, tensor<8xi1>, tensor<8xi8>, "
				   "tensor<8xui16>, tensor<8xi64>, tensor<f32>\n"
				   "  }\n"
				   "}\n";
	struct compiled a;
	struct extracted e;
	struct comparison c;
	struct err err = {{0}};
	struct graph g = {0};
	CHECK(device_compile(device, COMPILE_DEFAULT, "mlir", text, strlen(text), WANT_OPTIMISED,
		      &a, &err) == 0);
	CHECK_STR(a.detail, "");
	CHECK(device_compare(device, &a, &a, NULL, &c, &err) == 0);
	CHECK_INT(c.outcome, OUTCOME_OK);
	CHECK_INT(c.all.elements, 8 * 8 + 1);
	CHECK(c.all.max_abs == 0 && !c.all.unlike);
	comparison_release(&c);
	CHECK(device_extract(device, "mlir", text, strlen(text), &e, &err) == 0);
	CHECK_INT(e.outcome, OUTCOME_OK);
	CHECK(graph_parse(&g, e.initial.data, e.initial.len, "mlir", &err) == 0);
	graph_release(&g);
	compiled_release(&a);
	extracted_release(&e);
	device_drop(device, &a, &err);
}

static void transpose_layout(Hlo__ShapeProto *s)
{
	for (size_t i = 0; s && i < s->n_tuple_shapes; i++)
		transpose_layout(s->tuple_shapes[i]);
	if (s && s->layout && s->layout->n_minor_to_major == 2) {
		s->layout->minor_to_major[0] = 0;
		s->layout->minor_to_major[1] = 1;
	}
}

/*
 * A module as it comes between passes may want its inputs column-major; the values stay what they are. There is no
 * product in it, because a library computes those, and takes row-major ones alone.
 */
static void layouts_are_honoured(void)
{
	static const char text[] =
		"module @matrix {\n"
		"  func.func @main(%a: tensor<64x100xf32>, %b: tensor<100x7xf32>) -> "
		"(tensor<64x100xf32>, tensor<100x7xf32>) {\n"
		"    %0 = stablehlo.exponential %a : tensor<64x100xf32>\n"
		"    %1 = stablehlo.exponential %b : tensor<100x7xf32>\n"
		"    return %0, %1 : tensor<64x100xf32>, tensor<100x7xf32>\n"
		"  }\n"
		"}\n";
	struct extracted e;
	struct compiled plain, turned;
	struct comparison c;
	struct err err = {{0}};
	CHECK(device_extract(device, "mlir", text, strlen(text), &e, &err) == 0 &&
		e.outcome == OUTCOME_OK);
	CHECK(device_compile(device, COMPILE_APPLIED, "hlo", e.before.data, e.before.len, 0, &plain,
		      &err) == 0);
	CHECK_STR(plain.detail, "");
	Hlo__HloModuleProto *m =
		hlo__hlo_module_proto__unpack(NULL, e.before.len, (uint8_t *)e.before.data);
	if (!CHECK(m != NULL))
		return;
	for (size_t k = 0; k < m->n_computations; k++)
		for (size_t i = 0; i < m->computations[k]->n_instructions; i++)
			transpose_layout(m->computations[k]->instructions[i]->shape);
	for (size_t k = 0; k < m->n_computations; k++) {
		transpose_layout(m->computations[k]->program_shape->result);
		for (size_t i = 0; i < m->computations[k]->program_shape->n_parameters; i++)
			transpose_layout(m->computations[k]->program_shape->parameters[i]);
	}
	transpose_layout(m->host_program_shape->result);
	for (size_t i = 0; i < m->host_program_shape->n_parameters; i++)
		transpose_layout(m->host_program_shape->parameters[i]);
	buf_reset(&e.before);
	buf_reserve(&e.before, hlo__hlo_module_proto__get_packed_size(m));
	e.before.len = hlo__hlo_module_proto__pack(m, (uint8_t *)e.before.data);
	hlo__hlo_module_proto__free_unpacked(m, NULL);
	CHECK(device_compile(device, COMPILE_APPLIED, "hlo", e.before.data, e.before.len, 0,
		      &turned, &err) == 0);
	CHECK_STR(turned.detail, "");
	CHECK(turned.hash != plain.hash);
	CHECK(device_compare(device, &plain, &turned, NULL, &c, &err) == 0);
	CHECK_STR(c.detail, "");
	CHECK_INT(c.all.elements, 64 * 100 + 100 * 7);
	CHECK(c.all.max_rel < 1e-4);
	CHECK(c.layouts_differ);
	printf("column-major: largest difference %g\n", c.all.max_abs);
	comparison_release(&c);
	extracted_release(&e);
	device_drop(device, &plain, &err);
	device_drop(device, &turned, &err);
}

static void endless_compile_or_run_ends(void)
{
	/* A loop that does not end: the deadline does. */
	static const char text[] = "module @forever {\n"
				   "  func.func @main(%a: tensor<f32>) -> tensor<f32> {\n"
				   "    %0 = stablehlo.while(%x = %a) : tensor<f32>\n"
				   "      cond { %t = stablehlo.constant dense<true> : "
				   "tensor<i1>\n stablehlo.return %t : tensor<i1> }\n"
				   "      do { %y = stablehlo.add %x, %a : tensor<f32>\n "
				   "stablehlo.return %y : tensor<f32> }\n"
				   "    return %0 : tensor<f32>\n"
				   "  }\n"
				   "}\n";
	struct err err = {{0}};
	struct compiled a;
	struct timing t;
	host_of(device)->deadline = 3;
	CHECK(device_compile(device, COMPILE_DEFAULT, "mlir", text, strlen(text), 0, &a, &err) ==
		0);
	if (a.outcome == OUTCOME_OK) {
		CHECK(device_run(device, &a, NULL, &t, &err) == 0);
		CHECK_INT(t.outcome, OUTCOME_TIMEOUT);
	} else {
		CHECK_INT(a.outcome, OUTCOME_TIMEOUT);
	}
	host_of(device)->deadline = PATIENT;
	takes_mlir();
}

/* Compiles the text for the device, or says why not. */
static void compiles(struct device *d, const char *text, struct compiled *c)
{
	struct graph g = {0};
	struct buf module = {0};
	struct err err = {{0}};

	if (!CHECK(graph_parse(&g, text, strlen(text), "test", &err) == 0))
		printf("%s\n", err.text);
	graph_write(&g, &module);
	CHECK(device_compile(d, COMPILE_DEFAULT, "hlo", module.data, module.len, 0, c, &err) == 0);
	CHECK_STR(c->detail, "");
	buf_release(&module);
	graph_release(&g);
}

/* A sum over replicas is as many times the value as there are replicas; all have the same inputs. */
static void replicas_exchange(void)
{
	static const char sum[] = "HloModule sum\n"
		"add { a = f32[] parameter(0) b = f32[] parameter(1) ROOT c = f32[] add(a, b) }\n"
		"ENTRY main { x = f32[64] parameter(0) ROOT y = f32[64] "
		"all-reduce(x), replica_groups={}, to_apply=add }\n";
	static const char twice[] = "HloModule twice\nENTRY main { x = "
		"f32[64] parameter(0) ROOT y = f32[64] add(x, x) }\n";
	static const struct {
		uint32_t replicas;
		bool equal;
	} t[] = {{1, false}, {2, true}, {3, false}};
	struct precision p = {.max_seconds = 0.01};

	for (size_t i = 0; i < sizeof t / sizeof *t; i++) {
		struct device_options o = {.wait = true, .deadline = PATIENT, .spread = {.replicas = t[i].replicas}};
		struct compiled c[2];
		struct comparison far;
		struct timing time;
		struct err err = {{0}};
		struct device *d = device_open(&o, &err);
		if (!CHECK(d != NULL))
			return;
		compiles(d, sum, &c[0]);
		compiles(d, twice, &c[1]);
		CHECK(device_compare(d, &c[0], &c[1], NULL, &far, &err) == 0);
		CHECK_INT(far.outcome, OUTCOME_OK);
		CHECK_INT(far.all.max_abs == 0, t[i].equal);
		CHECK(device_run(d, &c[0], &p, &time, &err) == 0);
		CHECK_INT(time.outcome, OUTCOME_OK);
		comparison_release(&far);
		timing_release(&time);
		compiled_release(&c[0]);
		compiled_release(&c[1]);
		device_close(d);
	}
}

/* A result of 48 MB is mapped anew in each run of a whole program, and stays mapped while parts are timed. */
static void parts_find_memory_mapped(void)
{
	static const char negation[] = "HloModule m\nENTRY main { x = f32[12,1048576] parameter(0) "
		"ROOT y = f32[12,1048576] negate(x) }\n";
	const double pages = 48 << 8; /* of 4 KiB; where they are larger, fewer */
	struct precision whole = {.max_seconds = 0.05}, part = whole;
	struct compiled c;
	struct timing t;
	struct err err = {{0}};

	part.part = true;
	compiles(device, negation, &c);
	for (int i = 0; i < 4; i++) {
		CHECK(device_run(device, &c, i % 2 ? &part : &whole, &t, &err) == 0);
		CHECK_INT(t.outcome, OUTCOME_OK);
		CHECK(i % 2 ? t.faults_a < pages / 100 : t.faults_a > 2);
		timing_release(&t);
	}
	CHECK(device_drop(device, &c, &err) == 0);
}

int main(void)
{
	struct err err = {{0}};
	struct device_options o = {.wait = true, .deadline = PATIENT};
	device = device_open(&o, &err);
	if (!device) {
		printf("%s: device: %s\n", strstr(err.text, "make deps") ? "skip" : "FAIL",
			err.text);
		return !strstr(err.text, "make deps");
	}
	for (size_t i = 0; i < (getenv("LONG_TESTS") ? sizeof patterns / sizeof *patterns : EVERYDAY); i++) {
		glob_t g;
		if (glob(patterns[i], 0, NULL, &g) != 0)
			continue;
		for (size_t k = 0; k < g.gl_pathc; k++) {
			path = g.gl_pathv[k];
			test_run(strrchr(path, '/') + 1, whole_round);
		}
		globfree(&g);
	}
	RUN(refuses_nonsense);
	RUN(takes_mlir);
	RUN(layouts_are_honoured);
	RUN(parts_find_memory_mapped);
	RUN(endless_compile_or_run_ends);
	device_close(device);
	RUN(replicas_exchange);
	return test_done();
}
