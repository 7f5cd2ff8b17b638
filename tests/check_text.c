/*
 * check_text.c - the reader of HLO text: how it reads a text that uses every part of the syntax, where it finds
 * mistakes, and that it takes no prefix of a text for a whole one. full_text_jax.py compares it with XLA's own reader,
 * field by field.
 */
#include <math.h>
#include <stdlib.h>
#include "base/io.h"
#include "graph/graph.h"
#include "graph/print.h"
#include "hlo/text/text.h"
#include "tests/make_module.h"
#include "tests/test.h"

#define TOUR "tests/text/tour.hlo"

static struct buf tour;

static void load(void)
{
	struct err err = {0};
	if (!tour.len && !CHECK_INT(io_read_file(TOUR, IO_FILE_LIMIT, &tour, &err), 0))
		printf("%s\n", err.text);
}

static const Hlo__HloInstructionProto *find(const Hlo__HloModuleProto *m, const char *name)
{
	for (size_t c = 0; c < m->n_computations; c++)
		for (size_t i = 0; i < m->computations[c]->n_instructions; i++)
			if (strcmp(m->computations[c]->instructions[i]->name, name) == 0)
				return m->computations[c]->instructions[i];
	static const Hlo__HloInstructionProto none = HLO__HLO_INSTRUCTION_PROTO__INIT;
	CHECK_STR(name, "in the module");
	return &none;
}

static void makes_a_graph(void)
{
	struct graph g;
	struct err err = {0};
	load();
	if (!CHECK_INT(graph_parse(&g, tour.data, tour.len, TOUR, &err), 0)) {
		printf("%s\n", err.text);
		return;
	}
	CHECK_STR(g.name, "tour");
	CHECK_INT(g.n_comps, 6);
	CHECK_INT(graph_find(&g, "conv") != NONE, 1);
	CHECK_NEAR(g.node[graph_find(&g, "loop")].trip_count, 3, 0);
	graph_release(&g);
}

static void says_what_the_text_says(void)
{
	struct arena mem = {0};
	struct err err = {0};
	load();
	Hlo__HloModuleProto *m = hlo_text_parse(&mem, tour.data, tour.len, TOUR, &err);
	if (!CHECK(m != NULL)) {
		printf("%s\n", err.text);
		return;
	}
	CHECK_STR(m->entry_computation_name, "main");
	CHECK_INT(m->input_output_alias->n_entries, 1);
	CHECK_INT(m->input_output_alias->entries[0]->kind, 2);
	CHECK_INT(m->buffer_donor->n_entries, 1);
	CHECK_STR(m->frontend_attributes->map[0]->value, "a \"quoted\" word");
	CHECK_STR(m->frontend_attributes->map[1]->value, "{\"k\":[1,{\"}\":2}]}");
	/* Only the frame that is used, and its caller. */
	CHECK_INT(m->stack_frame_index->n_stack_frames, 2);
	CHECK_INT(find(m, "sum")->metadata->stack_frame_id, 2);

	const Hlo__Literal *table = find(m, "table")->literal;
	CHECK_INT(table->n_f32s, 6); /* by column: the layout is {0,1} */
	CHECK_NEAR(table->f32s[0], 1, 0);
	CHECK(isnan(table->f32s[1]));
	CHECK_NEAR(table->f32s[2], -2.5, 0);
	CHECK(isinf(table->f32s[3]) && table->f32s[3] < 0);
	CHECK_NEAR(table->f32s[4], 0.03f, 0);
	CHECK(signbit(table->f32s[5]) && table->f32s[5] == 0);
	const Hlo__Literal *small = find(m, "small")->literal;
	CHECK_INT(small->n_tuple_literals, 4);
	CHECK_INT(small->tuple_literals[0]->s4s.data[0], 8);
	CHECK_INT(small->tuple_literals[1]->bf16s.data[1], 0x3f);
	CHECK_INT(small->tuple_literals[2]->n_preds, 2);
	CHECK_NEAR(small->tuple_literals[3]->c64s[1], -2, 0);
	CHECK_INT(find(m, "left_out")->literal->n_f32s, 4);

	CHECK_INT(find(m, "conv")->feature_group_count, 1);
	CHECK_INT(find(m, "conv")->window->dimensions[1]->padding_high, 1);
	CHECK_INT(find(m, "conv")->window->dimensions[1]->stride, 1);
	CHECK_INT(find(m, "product")->precision_config->operand_precision[0], 2);
	CHECK_INT(find(m, "part")->slice_dimensions[1]->stride, 2);
	CHECK_INT(find(m, "padded")->padding_config->dimensions[1]->edge_padding_high, 1);
	CHECK_INT(find(m, "loop")->n_called_computation_ids, 2);
	CHECK_STR(m->computations[find(m, "loop")->called_computation_ids[0]]->name, "body");
	CHECK_STR((char *)find(m, "twos")->opcode, "broadcast");
	CHECK_STR(find(m, "abs.anon")->opcode, "abs");
	CHECK_STR(find(m, "s.1")->opcode, "parameter"); /* "s" in a second computation */
	CHECK_INT(find(m, "call")->shape->layout->tiles[0]->dimensions[0], 128);
	CHECK(m->computations[1]->is_fusion_computation);
	arena_release(&mem);
}

struct text_case {
	const char *name, *body; /* of an entry with x = f32[4] and p = (f32[4], s32[]) */
	const char *wants;	 /* in the sentence; NULL: none */
};

static const struct text_case cases[] = {
	{"a shape may be missing", "ROOT y = add(x, x)", NULL},
	{"tuple elements by number", "ROOT y = f32[4] add(p#0, p#0)", NULL},
	{"nested tuple elements", "t = tuple(p, x)\nROOT y = negate(t#0#0)", NULL},
	{"operands in operands", "ROOT y = f32[4] add(negate(x), multiply(x, x))", NULL},
	{"async pair", "s = ((f32[4]), f32[4]) negate-start(x)\nROOT y = f32[4] negate-done(s)", NULL},
	{"accuracy", "ROOT y = f32[4] sqrt(x), result_accuracy={mode=highest}", NULL},
	{"comments", "/* a * b / c */ ROOT y = // so\n f32[4] negate(/*index=0*/x)", NULL},
	{"no such operation", "ROOT y = f32[4] negative(x)", ":5:19: there is no operation negative"},
	{"no such operand", "ROOT y = f32[4] negate(z)", ":5:26: there is no instruction z above this place"},
	{"later operand", "y = f32[4] negate(z)\nz = f32[4] abs(x)", ":5:21: there is no instruction z"},
	{"operand count", "ROOT y = f32[4] add(x)", ":5:19: add takes 2 operands, not 1"},
	{"operand shape", "ROOT y = f32[4] negate(f32[5] x)", "x does not have the shape"},
	{"unknown attribute", "ROOT y = f32[4] negate(x), speed=3", ":5:30: there is "
		"no attribute speed here; there can be: metadata"},
	{"missing attribute", "ROOT y = f32[4] reverse(x)", "attribute dimensions is missing"},
	{"attribute twice", "ROOT y = f32[4] reverse(x), dimensions={0}, dimensions={0}",
		"attribute dimensions is given twice"},
	{"bad value", "ROOT y = pred[4] compare(x, x), direction=UP", "expected EQ, NE, GE, GT, "
		"LE or LT, found \"UP\" (in attribute direction)"},
	{"bad type", "ROOT y = f33[4] negate(x)", ":5:12: there is no operation f33"},
	{"no shape", "ROOT y = broadcast(x), dimensions={0}", "the shape of broadcast must stand before it"},
	{"layout rank", "ROOT y = f32[4]{1,0} negate(x)", "this layout has 2 dimensions, but the array has 1"},
	{"layout order", "ROOT y = f32[4,4]{1,1} broadcast(x), dimensions={0}",
		"names each dimension, from 0 to 1, once"},
	{"too few elements", "ROOT y = f32[3] constant({1, 2})", "this should hold 3 elements, but holds 2"},
	{"too many elements", "ROOT y = f32[2] constant({1, 2, 3})", "there are 2 "
		"elements in this dimension, and here is one more"},
	{"element out of range", "ROOT y = u8[1] constant({256})", "this number does not fit into u8"},
	{"element of another type", "ROOT y = s32[1] constant({1.5})", "expected an integer, found \"1.5\""},
	{"float out of range", "ROOT y = f16[1] constant({70000})", "this number does not fit into f16"},
	{"absurd constant", "ROOT y = f32[1000000,1000000,1000000,1000000] constant({...})", "no memory could hold"},
	{"large constant left out", "ROOT y = f32[100000,100000] constant({...})", "more than 256 MiB"},
	{"short for its shape", "ROOT y = f32[100000,100000] constant({{1", "fewer than 10000000000 elements"},
	{"name twice", "y = f32[4] negate(x)\ny = f32[4] abs(x)", ":6:1: there is an instruction y above already"},
	{"two roots", "ROOT y = f32[4] negate(x)\nROOT z = f32[4] abs(x)", ":6:1: this computation has a ROOT already"},
	{"no such computation", "ROOT y = f32[] reduce(x, x), dimensions={0}, to_apply=sum",
		"there is no computation sum"},
	{"unknown predecessor", "ROOT y = f32[4] negate(x), control-predecessors={w}", "there is no instruction w"},
	{"element out of tuple", "ROOT y = s32[] negate(p#2)", "there is no such element of p"},
	{"string without end", "ROOT y = f32[4] negate(x), backend_config=\"abc", "this string does not end"},
	{"comment without end", "/* ROOT y = f32[4] negate(x)", "this comment does not end"},
	{"braces without end", "ROOT y = f32[4] negate(x), backend_config={\"a\":{{1", "this \"{\" has no partner"},
	{"bad escape", "ROOT y = f32[4] negate(x), backend_config=\"\\q\"", "there is no such escape"},
	{"strange character", "ROOT y = f32[4] negate(x) @", ":5:29: nothing in HLO text begins with this"},
	{"number too large", "ROOT y = f32[99999999999999999999] negate(x)", "does not fit in 64 bits"},
	{"bad window", "ROOT y = f32[4] reduce-window(x, x), window={size=2x2 pad=0_0}, to_apply=f",
		"pad= must have low_high for each of the 2"},
	{"labels", "ROOT y = f32[4] convolution(x, x), dim_labels=bb_io->bf", "stands here once"},
	{"parameter numbers", "y = f32[] parameter(7)", "parameters of this computation must be numbered 0 to 2"},
	{"sharding devices", "ROOT y = f32[4] negate(x), sharding={devices=[2,2]0,1,2}",
		"room for 4 devices, but 3 are given"},
	{"wrapped without tuple", "ROOT y = f32[4] negate-start(x)", "the shape of a start must be"},
	{"more text", "ROOT y = f32[4] negate(x)\n}\nmore", "expected \"{\", found \"}\""},
};

static void sees_mistakes(void)
{
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct arena mem = {0};
		struct err err = {0};
		struct buf b = {0};
		buf_addf(&b, "HloModule t\nENTRY e {\n x = f32[4]{0} "
			"parameter(0)\n p = (f32[4], s32[]) parameter(1)\n%s%s\n}\n",
			cases[i].wants && (cases[i].wants[0] == ':' && cases[i].wants[1] == '5') ? "  " : "",
			cases[i].body);
		Hlo__HloModuleProto *m = hlo_text_parse(&mem, b.data, b.len, "t.hlo", &err);
		struct graph g = {0};
		if (!cases[i].wants && !(CHECK(m != NULL) && CHECK_INT(graph_parse(&g, b.data, b.len, "t.hlo", &err),
			0)))
			printf("%s: %s\n", cases[i].name, err.text);
		graph_release(&g);
		if (cases[i].wants && !(CHECK(m == NULL) && CHECK(strstr(err.text, cases[i].wants) != NULL)))
			printf("%s: %s\n", cases[i].name, m ? "taken" : err.text);
		if (!m && !CHECK(strstr(err.text, "\n  ") && strchr(err.text, '^')))
			printf("%s: no caret: %s\n", cases[i].name, err.text);
		arena_release(&mem);
		buf_release(&b);
	}
}

static void the_caret_points_at_it(void)
{
	static const char text[] = "HloModule t\n\nENTRY e {\n  ROOT x = f32[2] constant({1, two})\n}\n";
	struct arena mem = {0};
	struct err err = {0};
	CHECK(hlo_text_parse(&mem, text, sizeof(text) - 1, "t.hlo", &err) == NULL);
	CHECK_STR(err.text, "t.hlo:4:32: expected a number, found \"two\"\n"
			    "    ROOT x = f32[2] constant({1, two})\n"
			    "                                 ^");
	arena_release(&mem);
}

/* Sizes that grow with each line, and nesting, must not take memory or stack without end. */
static void takes_no_more_than_it_should(void)
{
	static const char *const parts[] = {"(", "{", "[", "negate(", "f32[", "constant(", "/*", "sharding={{", "{{{{",
		"'"};
	struct err err;
	for (size_t i = 0; i < sizeof(parts) / sizeof(*parts); i++) {
		struct arena mem = {0};
		struct buf b = {0};
		buf_adds(&b, "HloModule t\nENTRY e {\n ROOT y = ");
		for (int k = 0; k < 100000; k++)
			buf_adds(&b, parts[i]);
		CHECK(hlo_text_parse(&mem, b.data, b.len, "t", &err) == NULL);
		arena_release(&mem);
		buf_release(&b);
	}
	struct arena mem = {0};
	struct buf b = {0};
	buf_adds(&b, "HloModule t\nENTRY e {\n t0 = s32[] constant(1)\n");
	for (int k = 0; k < 60; k++)
		buf_addf(&b, "t%d = tuple(t%d, t%d)\n", k + 1, k, k);
	buf_adds(&b, "}\n");
	CHECK(hlo_text_parse(&mem, b.data, b.len, "t", &err) == NULL);
	CHECK(strstr(err.text, "parts; no program needs that") != NULL);
	CHECK(mem.used < 10 << 20);
	arena_release(&mem);
	buf_release(&b);
}

static void takes_no_prefix_for_the_whole(void)
{
	struct err err;
	size_t end;
	load();
	end = tour.len;
	while (end && tour.data[end - 1] != '}')
		end--;
	for (size_t n = 0; n < end; n += 11 - (size_t)test_cases(10)) {
		struct graph g;
		/* A copy of exactly that size, so that a sanitizer sees any step beyond. */
		char *cut = malloc(n + 1);
		memcpy(cut, tour.data, n);
		cut[n] = '@';
		int rc = graph_parse(&g, cut, n, "cut", &err);
		if (!CHECK_INT(rc, -1))
			printf("taken: the first %zu bytes\n", n);
		graph_release(&g);
		free(cut);
	}
}

static void the_end_may_lack_a_newline(void)
{
	static const char text[] = "ENTRY e {\n  ROOT x = f32[] parameter(0)}";
	struct arena mem = {0};
	struct err err = {0};
	Hlo__HloModuleProto *m = hlo_text_parse(&mem, text, sizeof(text) - 1, "t", &err);
	if (CHECK(m != NULL))
		CHECK_STR(m->name, "module_e");
	arena_release(&mem);
}

/* XLA writes numbers without a fraction as whole ones, -0 as well. */
static void whole_numbers_may_be_real_ones(void)
{
	static const struct {
		const char *text;
		float value;
	} table[] = {{"0", 0}, {"-0", -0.0F}, {"-0.0", -0.0F}, {"7", 7}, {"-7", -7},
		{"18446744073709551615", 0x1p64F}, {"-100000000000000000000", -1e20F}};

	for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
		struct arena mem = {0};
		struct err err = {0};
		char text[100];
		int n = snprintf(text, sizeof text, "ENTRY e {\n  ROOT x = f32[] constant(%s)\n}\n", table[i].text);
		Hlo__HloModuleProto *m = hlo_text_parse(&mem, text, (size_t)n, "t", &err);
		const float *v = m ? find(m, "x")->literal->f32s : NULL;
		if (!CHECK(v && *v == table[i].value && signbit(*v) == signbit(table[i].value)))
			printf("  of %s: %s\n", table[i].text, err.text);
		arena_release(&mem);
	}
}

/* Writes a sum over eight numbers as text. The ids of instructions contain that of their computation, or not. */
static void text_of_sum(bool with_computation, struct buf *text)
{
	struct make mk = {0};
	struct graph g;
	struct buf bytes = {0};
	struct err err = {0};
	int64_t mask = with_computation ? INT64_MAX : UINT32_MAX;
	struct make_comp *sum = make_reducer(&mk, "add"), *c = make_comp(&mk, "main");
	make_instruction *x = make_param(c, make_shape(&mk, DT_F32, 1, 8));
	make_instruction *r = make_op(c, "reduce", make_shape(&mk, DT_F32, 0), 2, x, make_f32(c, 0));
	make_dims(c, r, 1, 0);
	make_calls(r, &mk, 1, sum);
	for (size_t k = 0; k < mk.n; k++)
		for (size_t i = 0; i < mk.comp[k]->p->n_instructions; i++) {
			make_instruction *in = mk.comp[k]->p->instructions[i];
			in->id &= mask;
			for (size_t o = 0; o < in->n_operand_ids; o++)
				in->operand_ids[o] &= mask;
		}
	make_bytes(&mk, &bytes);
	if (CHECK_INT(graph_parse(&g, bytes.data, bytes.len, "made", &err), 0))
		hlo_print(&g, text);
	buf_release(&bytes);
	graph_release(&g);
	make_release(&mk);
}

/* Older files number the instructions of each computation from 1. They are told apart when they are printed. */
static void ids_of_their_own(void)
{
	struct buf apart = {0}, alike = {0};
	text_of_sum(true, &apart);
	text_of_sum(false, &alike);
	CHECK_STR(alike.data, apart.data);
	buf_release(&apart);
	buf_release(&alike);
}

int main(void)
{
	RUN(makes_a_graph);
	RUN(says_what_the_text_says);
	RUN(sees_mistakes);
	RUN(the_caret_points_at_it);
	RUN(takes_no_more_than_it_should);
	RUN(takes_no_prefix_for_the_whole);
	RUN(the_end_may_lack_a_newline);
	RUN(whole_numbers_may_be_real_ones);
	buf_release(&tour);
	RUN(ids_of_their_own);
	return test_done();
}
