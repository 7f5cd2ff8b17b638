/*
 * check_widen.c - programs that compute in 64 bits: they can be read, take and give what the programs did, and are wide
 * inside.
 */
#include <glob.h>
#include "graph/graph.h"
#include "hlo/widen.h"
#include "tests/test.h"

static bool narrow(uint8_t dtype)
{
	return dtype == DT_F32 || dtype == DT_F16 || dtype == DT_BF16 || dtype == DT_C64 || dtype == DT_F8E4M3FN;
}

/* May a narrow value stand here: at the door, or beside an operation that keeps its types, or among its results? */
static bool excused(const struct graph *g, uint32_t v)
{
	static const uint16_t keeps[] = {OP_BITCAST_CONVERT, OP_STOCHASTIC_CONVERT, OP_CUSTOM_CALL, OP_RNG};
	const struct node *n = &g->node[v];
	bool any = n->comp == g->entry && (n->opcode == OP_PARAMETER || (n->flags & NODE_ROOT));

	for (size_t i = 0; i < sizeof keeps / sizeof *keeps; i++) {
		any |= n->opcode == keeps[i];
		any |= n->opcode == OP_GET_TUPLE_ELEMENT && g->node[node_operands(g, v)[0]].opcode == keeps[i];
		for (uint32_t k = 0; k < n->n_users; k++)
			any |= g->node[node_users(g, v)[k]].opcode == keeps[i];
	}
	for (uint32_t k = 0; k < n->n_users && n->opcode == OP_CONVERT; k++)
		any |= g->node[node_users(g, v)[k]].comp == g->entry &&
		       (g->node[node_users(g, v)[k]].flags & NODE_ROOT) != 0;
	return any;
}

static bool same_door(const struct graph *a, const struct graph *b)
{
	const Hlo__ProgramShapeProto *x = a->module->host_program_shape, *y = b->module->host_program_shape;
	bool same = x->n_parameters == y->n_parameters &&
		    a->node[a->comp[a->entry].root].bytes == b->node[b->comp[b->entry].root].bytes;

	for (size_t i = 0; i < x->n_parameters && same; i++)
		same = x->parameters[i]->element_type == y->parameters[i]->element_type;
	return same;
}

static void widen(const char *path)
{
	struct graph g = {0}, w = {0};
	struct buf bytes = {0}, wide = {0};
	struct err err = {0};
	uint32_t left = 0;

	if (CHECK(graph_read(&g, path, &err) == 0)) {
		graph_write(&g, &bytes);
		if (CHECK(hlo_widen(bytes.data, bytes.len, path, &wide, &err) == 0) &&
			CHECK(graph_parse(&w, wide.data, wide.len, path, &err) == 0)) {
			for (uint32_t v = 0; v < w.n_nodes; v++)
				left += narrow(w.node[v].dtype) && !excused(&w, v);
			CHECK_INT(left, 0);
			CHECK(same_door(&g, &w));
			CHECK(w.n_nodes >= g.n_nodes);
		}
	}
	if (err.text[0])
		printf("\t%s\n", err.text);
	graph_release(&g);
	graph_release(&w);
	buf_release(&bytes);
	buf_release(&wide);
}

static void whole_programs(void)
{
	static const char *const all[] = {"examples/graphs/tiny/*.pb.zst", "examples/graphs/loops/*.pb.zst",
		"examples/graphs/train/*.pb.zst", "examples/graphs/strangers/*.pb.zst"};

	for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
		glob_t files;
		if (!CHECK(glob(all[i], 0, NULL, &files) == 0))
			continue;
		for (size_t k = 0; k < files.gl_pathc; k++)
			widen(files.gl_pathv[k]);
		globfree(&files);
	}
}

/* Widens a program, and returns an instruction of it, or NONE. */
static uint32_t widened(const char *text, const char *name, struct graph *w)
{
	struct graph g = {0};
	struct buf bytes = {0}, wide = {0};
	struct err err = {0};
	bool ok = CHECK(graph_parse(&g, text, strlen(text), "text", &err) == 0);

	*w = (struct graph){0};
	if (ok)
		graph_write(&g, &bytes);
	ok = ok && CHECK(hlo_widen(bytes.data, bytes.len, "it", &wide, &err) == 0) &&
	     CHECK(graph_parse(w, wide.data, wide.len, "it", &err) == 0);
	if (!ok)
		printf("\t%s\n", err.text);
	graph_release(&g);
	buf_release(&bytes);
	buf_release(&wide);
	return ok ? graph_find(w, name) : NONE;
}

static void constants(void)
{
	static const char text[] =
		"HloModule m\n\nENTRY e {\n"
		"  a = f32[3] constant({0.5, -2, 1e-30})\n"
		"  b = bf16[2] constant({1.5, -3})\n"
		"  c = c64[1] constant({(0.25, -1)})\n"
		"  i = s32[2] constant({7, 8})\n"
		"  ROOT t = (f32[3], bf16[2], c64[1], s32[2]) tuple(a, b, c, i)\n}\n";
	struct graph g;
	uint32_t a = widened(text, "a", &g), b, c, i;

	if (a == NONE)
		return;
	b = graph_find(&g, "b");
	c = graph_find(&g, "c");
	i = graph_find(&g, "i");
	if (CHECK(b != NONE && c != NONE && i != NONE)) {
		const Hlo__Literal *x = g.node[a].proto->literal, *y = g.node[b].proto->literal;
		const Hlo__Literal *z = g.node[c].proto->literal, *w = g.node[i].proto->literal;
		CHECK(x->n_f64s == 3 && x->f64s[0] == 0.5 && x->f64s[1] == -2 && x->f64s[2] == (double)1e-30f);
		CHECK(y->n_f64s == 2 && y->f64s[0] == 1.5 && y->f64s[1] == -3);
		CHECK(z->n_c128s == 2 && z->c128s[0] == 0.25 && z->c128s[1] == -1);
		CHECK(w->n_s32s == 2 && w->s32s[1] == 8);
		CHECK_INT(x->n_f32s, 0);
	}
	graph_release(&g);
}

/* Bits stay the bits of the type they were written for; what a library takes and gives keeps its types. */
static void kept_types(void)
{
	static const char text[] =
		"HloModule m\n\nENTRY e {\n"
		"  p = f32[4] parameter(0)\n"
		"  n = f32[4] negate(p)\n"
		"  bits = u32[4] bitcast-convert(n)\n"
		"  one = u32[] constant(1)\n"
		"  ones = u32[4] broadcast(one), dimensions={}\n"
		"  or = u32[4] or(bits, ones)\n"
		"  back = f32[4] bitcast-convert(or)\n"
		"  call = (f32[4], s32[4]) custom-call(back), custom_call_target=\"somewhere\"\n"
		"  first = f32[4] get-tuple-element(call), index=0\n"
		"  ROOT sum = f32[4] add(first, n)\n}\n";
	struct graph g;
	uint32_t bits = widened(text, "bits", &g);

	if (bits == NONE)
		return;
	CHECK_INT(g.node[node_operands(&g, bits)[0]].dtype, DT_F32);
	CHECK_INT(g.node[graph_find(&g, "n")].dtype, DT_F64);
	CHECK_INT(g.node[graph_find(&g, "back")].dtype, DT_F32);
	CHECK_INT(g.node[graph_find(&g, "first")].dtype, DT_F64);
	CHECK_INT(g.node[graph_find(&g, "sum")].dtype, DT_F64);
	CHECK_INT(g.node[g.comp[g.entry].root].dtype, DT_F32);
	graph_release(&g);
}

/* Asked for by name, rounding remains, but not of what had no more digits before it was converted. */
static void rounding_that_changes_nothing(void)
{
	static const char text[] =
		"HloModule m\n\nENTRY e {\n"
		"  p = bf16[4] parameter(0)\n"
		"  n = bf16[4] negate(p)\n"
		"  w = f32[4] convert(n)\n"
		"  k = f32[4] opt-barrier(w)\n"
		"  r = f32[4] reduce-precision(k), exponent_bits=8, mantissa_bits=7\n"
		"  s = f32[4] reduce-precision(w), exponent_bits=8, mantissa_bits=6\n"
		"  ROOT sum = f32[4] add(r, s)\n}\n";
	struct graph g;
	uint32_t sum = widened(text, "sum", &g);

	if (sum == NONE)
		return;
	CHECK_INT(g.node[node_operands(&g, sum)[0]].opcode, OP_OPTIMIZATION_BARRIER);
	CHECK_INT(g.node[node_operands(&g, sum)[1]].opcode, OP_REDUCE_PRECISION);
	graph_release(&g);
}

static void refused(void)
{
	static const char text[] =
		"HloModule m\n\nENTRY e {\n"
		"  t = token[] after-all()\n"
		"  i = (f32[4], token[]) infeed(t)\n"
		"  ROOT x = f32[4] get-tuple-element(i), index=0\n}\n";
	struct graph g = {0};
	struct buf bytes = {0}, wide = {0};
	struct err err = {0};

	if (CHECK(graph_parse(&g, text, strlen(text), "text", &err) == 0)) {
		graph_write(&g, &bytes);
		CHECK(hlo_widen(bytes.data, bytes.len, "it", &wide, &err) < 0);
		CHECK_STR(err.text, "it exchanges values with somebody who knows their types");
	}
	graph_release(&g);
	buf_release(&bytes);
	buf_release(&wide);
}

int main(void)
{
	RUN(whole_programs);
	RUN(constants);
	RUN(kept_types);
	RUN(rounding_that_changes_nothing);
	RUN(refused);
	return test_done();
}
