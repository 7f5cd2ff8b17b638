/*
 * check_graph.c - from bytes to arrays and back, on modules made by hand, of which every number is known, and on real
 * ones if they are here.
 */
#include <stdlib.h>
#include "base/io.h"
#include "bench/gen_module.h"
#include "hlo/module.h"
#include "graph/work.h"
#include "tests/make_graph.h"

static void arrays(void)
{
	struct make mk = {0};
	struct graph g = {0};
	struct make_comp *sum = make_reducer(&mk, "add"), *c = make_comp(&mk, "main");
	Hlo__ShapeProto *m = make_shape(&mk, DT_F32, 2, 8, 16), *row = make_shape(&mk, DT_F32, 1, 8);
	make_instruction *x = make_param(c, m), *y = make_param(c, m);
	make_instruction *p = make_op(c, "multiply", m, 2, x, x), *zero = make_f32(c, 0);
	make_instruction *r = make_op(c, "reduce", row, 2, p, zero);
	make_dims(c, r, 1, 1);
	make_calls(r, &mk, 1, sum);
	make_tuple(c, 2, r, p);
	(void)y;
	if (make_graph(&g, make_module(&mk))) {
		check_invariants(&g);
		CHECK_STR(g.name, "made");
		CHECK_INT(g.n_comps, 2);
		CHECK_INT(g.n_nodes, 9);
		CHECK_INT(g.entry, 1);
		CHECK_INT(g.comp[0].role, ROLE_APPLIED);
		CHECK_INT(g.comp[1].role, ROLE_ENTRY);
		uint32_t v = graph_find(&g, p->name);
		CHECK_INT(g.node[v].n_operands, 2);
		CHECK_INT(g.node[node_operands(&g, v)[0]].n_users, 1); /* x, read twice by one */
		CHECK_INT(g.node[v].n_users, 2);
		CHECK_INT(g.node[v].elements, 128);
		CHECK_INT(g.node[v].bytes, 512);
		CHECK_INT(g.node[v].rank, 2);
		CHECK_INT(g.node[v].dtype, DT_F32);
		CHECK_NEAR(g.node[v].flops, 128, 0);
		v = graph_find(&g, r->name);
		CHECK_NEAR(g.node[v].flops, 128, 0); /* one addition per element read */
		CHECK_INT(g.comp[0].caller, v);
		CHECK_INT(g.comp[g.entry].root, g.n_nodes - 1);
		CHECK(g.node[g.n_nodes - 1].flags & NODE_ROOT);
		CHECK_INT(g.node[g.n_nodes - 1].bytes, 512 + 32);
		CHECK_INT(g.node[g.n_nodes - 1].dtype, DT_TUPLE);
		CHECK(g.node[graph_find(&g, zero->name)].flags & NODE_SCALAR_CONST);
		CHECK_INT(graph_find(&g, "nobody"), NONE);
	}
	graph_release(&g);
	make_release(&mk);
}

/* A module in each of the three messages, and with fields that nobody knows. */
static void wrappings(void)
{
	struct make mk = {0};
	struct make_comp *c = make_comp(&mk, "main");
	make_param(c, make_shape(&mk, DT_F32, 1, 4));
	struct buf bare = {0}, outer = {0}, again = {0};
	struct err err = {0};
	make_bytes(&mk, &bare);
	buf_adds(&bare, "\xaa\x06\x03xyz"); /* field 101 of the module */
	buf_addch(&outer, 0x0a);
	buf_varint(&outer, bare.len);
	buf_add(&outer, bare.data, bare.len);
	buf_adds(&outer, "\x12\x02\x08\x01"); /* field 2: a configuration, or buffers */
	struct graph a = {0}, b = {0};
	CHECK_INT(graph_parse(&a, bare.data, bare.len, "bare", &err), 0);
	CHECK_INT(graph_parse(&b, outer.data, outer.len, "outer", &err), 0);
	CHECK_INT(memcmp(&a.content, &b.content, sizeof(a.content)), 0);
	graph_write(&a, &again);
	CHECK_INT(again.len, bare.len);
	CHECK(memmem(again.data, again.len, "\xaa\x06\x03xyz", 6) != NULL);
	graph_release(&a);
	graph_release(&b);
	buf_release(&bare);
	buf_release(&outer);
	buf_release(&again);
	make_release(&mk);
}

static void formats(void)
{
	static const struct {
		const char *bytes;
		enum hlo_format want;
	} table[] = {
		{"HloModule jit_f, entry_computation_layout={()->f32[]}\n", HLO_TEXT},
		{"// a comment\n\n  HloModule jit_f\n", HLO_TEXT},
		{"module @jit_f attributes {} {\n", HLO_MLIR},
		{"#loc = loc(unknown)\nmodule {}", HLO_MLIR},
		{"ML\xefRStableHLO", HLO_MLIR},
		{"#\x01\x80noise", HLO_UNKNOWN},
		{"!\x7f text\x02", HLO_UNKNOWN},
		{"\n\x05jit_f\x12\x04main", HLO_PROTO},
		{"\n\x0d\n\x05jit_f\x12\x04main", HLO_PROTO},
		{"\n\x09module @x\x12\x04main", HLO_PROTO}, /* a module of that name */
		{"\x7f" "ELF", HLO_UNKNOWN},
		{"", HLO_UNKNOWN},
		{"// only a comment", HLO_UNKNOWN},
		{"/* a comment\nof two lines */ HloModule f\n", HLO_TEXT},
		{"/* without end HloModule f\n", HLO_UNKNOWN},
		{"f {\n  ROOT a = f32[] parameter(0)\n}\n", HLO_TEXT}, /* no header */
		{"%f.1 (a: f32[]) -> f32[] {\n", HLO_TEXT},
		{"hello, world\n", HLO_UNKNOWN},
		{"{ }", HLO_UNKNOWN},
	};
	for (size_t i = 0; i < sizeof(table) / sizeof(*table); i++)
		if (!CHECK_INT(hlo_sniff(table[i].bytes, strlen(table[i].bytes)), table[i].want))
			printf("of %s\n", table[i].bytes);
	CHECK_INT(hlo_sniff(NULL, 0), HLO_UNKNOWN);
}

static void names(void)
{
	for (uint16_t op = 0; op < OP_COUNT; op++)
		CHECK_INT(opcode_of(opcode_name(op)), op);
	CHECK_INT(opcode_of("frobnicate"), OP_COUNT);
	CHECK_INT(opcode_of(""), OP_COUNT);
	CHECK_STR(opcode_name(OP_COUNT), "unknown");
	CHECK_STR(opcode_name(9999), "unknown");
	CHECK_STR(dtype_name(DT_BF16), "bf16");
	CHECK_STR(dtype_name(99), "unknown");
	CHECK_INT(dtype_bits(DT_C128), 128);
	CHECK_INT(dtype_bits(DT_TUPLE), 0);
}

/* How often computations run and what they are for, two loops deep; and which instructions have side effects. */
static void roles(void)
{
	struct make mk = {0};
	struct graph g = {0};
	struct make_comp *sum = make_reducer(&mk, "add"), *body, *cond, *fused, *c;
	Hlo__ShapeProto *f = make_shape(&mk, DT_F32, 1, 8), *one = make_shape(&mk, DT_F32, 0);
	fused = make_comp(&mk, "fused");
	make_instruction *x = make_param(fused, f);
	make_calls(make_op(fused, "reduce", one, 2, x, make_f32(fused, 0)), &mk, 1, sum);
	body = make_comp(&mk, "body");
	x = make_param(body, f);
	make_instruction *s = make_calls(make_op(body, "fusion", one, 1, x), &mk, 1, fused);
	make_instruction *seed = make_op(body, "rng", f, 2, s, s);
	make_op(body, "add", f, 2, seed, x);
	cond = make_comp(&mk, "cond");
	make_param(cond, f);
	make_op(cond, "constant", make_shape(&mk, DT_PRED, 0), 0);
	struct make_comp *dead = make_comp(&mk, "dead");
	make_param(dead, f);
	c = make_comp(&mk, "main");
	x = make_param(c, f);
	make_instruction *loop = make_calls(make_op(c, "while", f, 1, x), &mk, 2, body, cond);
	static const char known[] = "{\"known_trip_count\":{\"n\":\"3\"}}";
	loop->backend_config = (ProtobufCBinaryData){strlen(known), (uint8_t *)(uintptr_t)known};
	if (make_graph(&g, make_module(&mk))) {
		static const struct {
			const char *name;
			enum comp_role role;
			double trips;
		} want[] = {{"add", ROLE_APPLIED, 3}, {"fused", ROLE_FUSED, 3}, {"body", ROLE_CONTROL, 3},
			{"cond", ROLE_CONTROL, 4}, {"main", ROLE_ENTRY, 1}, {"dead", ROLE_DEAD, 1}};
		check_invariants(&g);
		for (uint32_t i = 0; i < g.n_comps; i++)
			for (size_t k = 0; k < sizeof(want) / sizeof(*want); k++)
				if (strcmp(g.comp[i].proto->name, want[k].name) == 0) {
					CHECK_INT(g.comp[i].role, want[k].role);
					CHECK_NEAR(g.comp[i].trips, want[k].trips, 0);
				}
		uint32_t v = graph_find(&g, loop->name);
		CHECK(g.node[v].flags & NODE_SIDE_EFFECT); /* it draws random numbers */
		/* per round: 8 additions of the reducer, 8 x 8 of rng, 8 additions; the test is a constant */
		CHECK_NEAR(g.node[v].flops, 3 * (8 + 64 + 8), 0);
		CHECK_NEAR(graph_operations(&g), 3 * (8 + 64 + 8), 0);
		CHECK_STR(g.comp[g.n_comps - 1].proto->name, "dead");
	}
	graph_release(&g);
	make_release(&mk);
}

/* Work of the operations that have formulas. */
static void work(void)
{
	struct make mk = {0};
	struct graph g = {0};
	struct make_comp *sum = make_reducer(&mk, "add"), *c = make_comp(&mk, "main");
	make_instruction *a = make_param(c, make_shape(&mk, DT_F32, 3, 5, 8, 16));
	make_instruction *b = make_param(c, make_shape(&mk, DT_F32, 3, 5, 16, 4));
	make_instruction *dot = make_op(c, "dot", make_shape(&mk, DT_F32, 3, 5, 8, 4), 2, a, b);
	int64_t two = 2;
	dot->dot_dimension_numbers = ARENA_NEW(&mk.mem, 1, Hlo__DotDimensionNumbers);
	hlo__dot_dimension_numbers__init(dot->dot_dimension_numbers);
	dot->dot_dimension_numbers->n_lhs_contracting_dimensions = 1;
	dot->dot_dimension_numbers->lhs_contracting_dimensions = &two;
	make_instruction *image = make_param(c, make_shape(&mk, DT_F32, 4, 1, 28, 28, 3));
	make_instruction *kernel = make_param(c, make_shape(&mk, DT_F32, 4, 5, 5, 3, 7));
	make_instruction *conv = make_op(c, "convolution", make_shape(&mk, DT_F32, 4, 1, 24, 24, 7), 2, image, kernel);
	int64_t first_two[] = {0, 1}, inner_two[] = {1, 2};
	Hlo__ConvolutionDimensionNumbers *numbers = ARENA_NEW(&mk.mem, 1, Hlo__ConvolutionDimensionNumbers);
	hlo__convolution_dimension_numbers__init(numbers);
	numbers->kernel_input_feature_dimension = 2;
	numbers->kernel_output_feature_dimension = 3;
	numbers->input_feature_dimension = numbers->output_feature_dimension = 3;
	numbers->n_kernel_spatial_dimensions = numbers->n_input_spatial_dimensions = 2;
	numbers->n_output_spatial_dimensions = 2;
	numbers->kernel_spatial_dimensions = first_two;
	numbers->input_spatial_dimensions = numbers->output_spatial_dimensions = inner_two;
	conv->convolution_dimension_numbers = numbers;
	make_instruction *v8 = make_param(c, make_shape(&mk, DT_F32, 1, 8)), *zero = make_f32(c, 0);
	make_instruction *pool = make_op(c, "reduce-window", make_shape(&mk, DT_F32, 1, 6), 2, v8, zero);
	make_calls(pool, &mk, 1, sum);
	Hlo__WindowDimension *w = ARENA_NEW(&mk.mem, 1, Hlo__WindowDimension);
	hlo__window_dimension__init(w);
	w->size = 3;
	pool->window = ARENA_NEW(&mk.mem, 1, Hlo__Window);
	hlo__window__init(pool->window);
	pool->window->n_dimensions = 1;
	pool->window->dimensions = &w;
	make_instruction *fft = make_op(c, "fft", make_shape(&mk, DT_C64, 1, 8), 1, v8);
	int64_t length = 8;
	fft->n_fft_length = 1;
	fft->fft_length = &length;
	make_instruction *tanh = make_op(c, "tanh", v8->shape, 1, v8);
	make_instruction *move = make_op(c, "transpose", v8->shape, 1, v8);
	make_dims(c, move, 1, 0);
	if (make_graph(&g, make_module(&mk))) {
		const struct {
			const make_instruction *in;
			double want;
		} table[] = {{dot, 2 * 5 * 8 * 4 * 16}, {conv, 2.0 * 24 * 24 * 7 * 5 * 5 * 3}, {pool, 6 * 3},
			{fft, 5 * 8 * 3}, {tanh, 12 * 8}, {move, 0}};
		for (size_t i = 0; i < sizeof(table) / sizeof(*table); i++)
			if (!CHECK_NEAR(g.node[graph_find(&g, table[i].in->name)].flops, table[i].want, 0))
				printf("of %s\n", table[i].in->name);
	}
	graph_release(&g);
	make_release(&mk);
}

/* A file may list users before operands, and callers before callees: the graph is sorted, and written sorted. */
static void unsorted_file(void)
{
	struct make mk = {0};
	struct graph g = {0}, again = {0};
	struct err err = {0};
	struct buf b = {0};
	struct make_comp *sum = make_reducer(&mk, "add"), *c = make_comp(&mk, "main");
	make_instruction *x = make_param(c, make_shape(&mk, DT_F32, 1, 4));
	make_instruction *y = make_op(c, "negate", x->shape, 1, x);
	c->root = make_calls(make_op(c, "reduce", make_shape(&mk, DT_F32, 0), 2, y, make_f32(c, 0)), &mk, 1, sum);
	Hlo__HloModuleProto *m = make_module(&mk);
	size_t n = c->p->n_instructions;
	for (size_t i = 0; i < n / 2; i++) {
		make_instruction *swap = c->p->instructions[i];
		c->p->instructions[i] = c->p->instructions[n - 1 - i];
		c->p->instructions[n - 1 - i] = swap;
	}
	m->computations[0] = c->p;
	m->computations[1] = sum->p;
	make_pack(m, &b);
	if (CHECK_INT(graph_parse(&g, b.data, b.len, "backwards", &err), 0)) {
		check_invariants(&g);
		CHECK_STR(g.module->computations[1]->name, "main");
		CHECK_STR(g.module->computations[1]->instructions[0]->opcode, "parameter");
		buf_reset(&b);
		graph_write(&g, &b);
		CHECK_INT(graph_parse(&again, b.data, b.len, "again", &err), 0);
		CHECK_INT(memcmp(&g.content, &again.content, sizeof(g.content)), 0);
	}
	graph_release(&g);
	graph_release(&again);
	buf_release(&b);
	make_release(&mk);
}

/* 200,000 instructions that each need the one before: nothing recurses over them. */
static void long_chain(void)
{
	int n = test_cases(200000);
	struct make mk = {0};
	struct graph g = {0};
	struct make_comp *c = make_comp(&mk, "main");
	make_instruction *x = make_param(c, make_shape(&mk, DT_F32, 0));
	for (int i = 0; i < n; i++) {
		x = make_op(c, "negate", x->shape, 1, x);
		x->name = (char *)"n";
	}
	if (make_graph(&g, make_module(&mk))) {
		uint64_t *hash = MEM_NEW(g.n_nodes, uint64_t);
		CHECK_INT(g.n_nodes, n + 1);
		graph_structural_hash(&g, hash);
		CHECK(hash[g.n_nodes - 1] != hash[g.n_nodes - 2]);
		mem_free(hash);
	}
	graph_release(&g);
	make_release(&mk);
}

static void generated(void)
{
	struct buf b = {0};
	struct graph g = {0};
	struct err err = {0};
	gen_module(3000, 7, &b);
	if (CHECK_INT(graph_parse(&g, b.data, b.len, "generated", &err), 0)) {
		check_invariants(&g);
		CHECK(g.n_nodes > 2950 && g.n_nodes < 3050);
		CHECK(g.mem.used < 12 * b.len);
	}
	graph_release(&g);
	buf_release(&b);
}

static const char *const real[] = {"../shared/hlo/bench_mass_matrix_35.pb",
	"../shared/hlo/diffrax.b380012920.pb", "../shared/hlo/dlrm_keras_jax_f32_train_step.pb",
	"../shared/hlo/resnet50_keras_jax_f32.pb"};
static const uint32_t real_size[] = {999, 639, 1386, 1755};

static void real_graphs_round_trip(void)
{
	for (size_t i = 0; i < sizeof(real) / sizeof(*real); i++) {
		struct graph g = {0}, again = {0};
		struct buf b = {0}, file = {0};
		struct err err = {0};
		if (!io_exists(real[i]))
			SKIP("no ../shared/hlo");
		if (!CHECK(graph_read(&g, real[i], &err) == 0))
			printf("%s\n", err.text);
		check_invariants(&g);
		CHECK_INT(g.n_nodes, real_size[i]);
		graph_write(&g, &b);
		CHECK_INT(io_read_file(real[i], IO_FILE_LIMIT, &file, &err), 0);
		CHECK_INT(b.len, file.len); /* nothing lost, nothing added */
		CHECK(graph_parse(&again, b.data, b.len, "again", &err) == 0);
		CHECK(memcmp(&g.content, &again.content, sizeof(g.content)) == 0);
		graph_release(&g);
		graph_release(&again);
		buf_release(&b);
		buf_release(&file);
	}
}

int main(void)
{
	RUN(arrays);
	RUN(wrappings);
	RUN(formats);
	RUN(names);
	RUN(roles);
	RUN(work);
	RUN(unsorted_file);
	RUN(long_chain);
	RUN(generated);
	RUN(real_graphs_round_trip);
	return test_done();
}
