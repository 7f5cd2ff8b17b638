/*
 * check_rewrite_hoist.c - weights that are prepared once: the two programs into which a program is cut compute together
 * what it computes.
 */
#include "graph/ring.h"
#include "space/space.h"
#include "space/rewrite/own.h"
#include "tests/test.h"

#define DOT ", lhs_contracting_dims={1}, rhs_contracting_dims={0}\n"

/* Two products of x with weights that are turned around first, one of them scaled; their sum. */
static const char program[] =
	"HloModule m\n\nENTRY e {\n  a = f32[6,4] parameter(0)\n"
	"  x = f32[3,4] parameter(1)\n  b = f32[6,4] parameter(2)\n  s = f32[4] parameter(3)\n"
	"  r = f32[6,4] broadcast(s), dimensions={1}\n  n = f32[6,4] multiply(a, r)\n"
	"  ta = f32[4,6] transpose(n), dimensions={1,0}\n  tb = f32[4,6] transpose(b), dimensions={1,0}\n"
	"  ya = f32[3,6] dot(x, ta)" DOT "  yb = f32[3,6] dot(x, tb)" DOT
	"  q = f32[3,6] reshape(yb)\n  ROOT y = f32[3,6] add(ya, q)\n}\n";

static struct space *open_program(struct graph *g, const char *kind, struct err *err)
{
	CHECK(graph_parse(g, program, sizeof program - 1, "program", err) == 0);
	return space_open(kind, "cpu", g, NULL, 0, err);
}

static uint32_t count(const struct graph *g, uint16_t opcode)
{
	uint32_t n = 0;

	for (uint32_t v = 0; v < g->n_nodes; v++)
		n += g->node[v].opcode == opcode;
	return n;
}

static struct tensor numbers(struct arena *mem, const struct graph *g, uint32_t v, uint64_t seed)
{
	struct tensor t = ring_tensor(mem, g->node[v].proto->shape);

	for (size_t k = 0; k < t.n; k++)
		t.v[k] = (k + 3 * seed + 1) * 7919 % 1009;
	return t;
}

/* Returns the one value that the program `first` computes from these parameters. */
static struct tensor prepare(struct arena *mem, const struct buf *first, const struct tensor *given)
{
	struct graph whole, g = {.n_nodes = 0};
	struct buf b = {0};
	struct tensor out = {.n = 0}, param[8];
	struct err err = {0};

	CHECK(graph_parse(&whole, first->data, first->len, "first", &err) == 0);
	uint32_t root = whole.comp[whole.entry].root;
	CHECK_INT(whole.node[root].n_operands, 1);
	Hlo__HloInstructionProto *value = whole.node[node_operands(&whole, root)[0]].proto;
	whole.comp[whole.entry].proto->root_id = value->id;
	whole.comp[whole.entry].proto->n_instructions--; /* the tuple, which is written last */
	whole.comp[whole.entry].proto->program_shape->result = whole.module->host_program_shape->result = value->shape;
	graph_write(&whole, &b);
	memcpy(param, given, 3 * sizeof *param);
	if (graph_parse(&g, b.data, b.len, "first without its tuple", &err) == 0)
		CHECK(ring_run(&g, RING_FIELD, param, mem, &out, &err) == 0);
	CHECK_STR(err.text, "");
	graph_release(&g);
	graph_release(&whole);
	buf_release(&b);
	return out;
}

static void two_programs_compute_the_same(void)
{
	struct graph g, rest;
	struct err err = {0};
	struct space *s = open_program(&g, "rewrite/without:small-product/hoist:0:2-", &err);
	struct buf main = {0}, first = {0};
	struct arena mem = {0};
	struct tensor param[4], given[3], takes[2], want, got;
	uint8_t config[1] = {1};

	if (!CHECK(s && s->n_sites == 1) || !CHECK(s->ops->apply(s, config, &main, &err) == 0))
		return;
	s->ops->answer(s, config, &first);
	for (uint32_t v = 0; v < g.n_nodes; v++)
		if (g.node[v].opcode == OP_PARAMETER)
			param[g.node[v].proto->parameter_number] =
				numbers(&mem, &g, v, (uint64_t)g.node[v].proto->parameter_number);
	CHECK(ring_run(&g, RING_FIELD, param, &mem, &want, &err) == 0);
	given[0] = param[0];
	given[1] = param[2];
	given[2] = param[3];
	takes[0] = param[1];
	takes[1] = prepare(&mem, &first, given);
	if (CHECK(graph_parse(&rest, main.data, main.len, "rest", &err) == 0)) {
		CHECK_INT(count(&rest, OP_PARAMETER), 2);
		CHECK_INT(count(&rest, OP_TRANSPOSE) + count(&rest, OP_CONCATENATE) + count(&rest, OP_BROADCAST), 0);
		CHECK_INT(count(&rest, OP_DOT), 1);
		CHECK(ring_run(&rest, RING_FIELD, takes, &mem, &got, &err) == 0);
		CHECK(got.n == want.n && memcmp(got.v, want.v, got.n * sizeof *got.v) == 0);
	}
	graph_release(&rest);
	arena_release(&mem);
	buf_release(&main);
	buf_release(&first);
	space_free(s);
	graph_release(&g);
}

/* The program that is left when these parameters are given; false with a sentence if there is none. */
static bool left_without(struct graph *rest, const char *text, const char *kind)
{
	struct graph g;
	struct err err = {0};
	struct buf main = {0};
	struct space *s = NULL;
	uint8_t config[1] = {0};
	bool left;

	if (CHECK(graph_parse(&g, text, strlen(text), "text", &err) == 0))
		s = space_open(kind, "cpu", &g, NULL, 0, &err);
	left = s && s->n_sites <= sizeof config && s->ops->apply(s, config, &main, &err) == 0 &&
	       graph_parse(rest, main.data, main.len, "rest", &err) == 0;
	CHECK_STR(err.text, "");
	buf_release(&main);
	space_free(s);
	graph_release(&g);
	return left;
}

/* A value is not handed over if it is larger than what it is computed from, or costs nothing to compute. */
static void large_values_are_made_where_they_are_read(void)
{
	static const char text[] = "HloModule m\n\nENTRY e {\n"
		"  s = f32[4] parameter(0)\n  x = f32[6,4] parameter(1)\n  w = f32[24] parameter(2)\n"
		"  n = f32[4] negate(s)\n  b = f32[6,4] broadcast(n), dimensions={1}\n  r = f32[6,4] reshape(w)\n"
		"  y = f32[6,4] add(x, b)\n  ROOT z = f32[6,4] add(y, r)\n}\n";
	struct graph rest;

	if (!CHECK(left_without(&rest, text, "rewrite/without:small-product/hoist:s:w")))
		return;
	CHECK_INT(count(&rest, OP_NEGATE), 0);
	CHECK_INT(count(&rest, OP_BROADCAST), 1);
	CHECK_INT(count(&rest, OP_RESHAPE), 1);
	CHECK_INT(count(&rest, OP_PARAMETER), 3);
	graph_release(&rest);
}

/* A given parameter that is the result has no reader, but is wanted. */
static void a_parameter_that_is_the_result_stays(void)
{
	static const char text[] = "HloModule m\n\nENTRY e {\n  x = f32[4] parameter(1)\n"
		"  ROOT w = f32[4] parameter(0)\n}\n";
	struct graph rest;

	if (!CHECK(left_without(&rest, text, "rewrite/hoist:w")))
		return;
	CHECK_INT(count(&rest, OP_PARAMETER), 2);
	CHECK_STR(rest.node[rest.comp[rest.entry].root].proto->name, "w");
	graph_release(&rest);
}

/* Joining weights costs more than it saves if few rows are multiplied by them, but nothing if it is done once. */
static void what_is_prepared_promises_more(void)
{
	static const struct {
		const char *kind;
		bool more;
	} table[] = {{"rewrite/without:small-product", false}, {"rewrite/without:small-product/hoist:a", false},
		{"rewrite/without:small-product/hoist:a:b:s", true}};

	for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
		struct graph g;
		struct err err = {0};
		struct space *s = open_program(&g, table[i].kind, &err);
		uint8_t config[4] = {0};
		if (CHECK(s && s->n_sites == 1) && !CHECK((s->ops->promise(s, 0, 1) > 0) == table[i].more))
			printf("\t%s promises %g\n", table[i].kind, s->ops->promise(s, 0, 1));
		if (s)
			space_start_find(s, "promised")->fill(s, config);
		CHECK_INT(config[0], table[i].more);
		space_free(s);
		graph_release(&g);
	}
}

static void lists_are_read(void)
{
	static const struct {
		const char *kind, *says; /* NULL: it opens */
	} table[] = {{"rewrite/hoist:0", NULL}, {"rewrite/hoist:a:b", NULL},
		{"rewrite/without:merge-products/hoist:2-3:a", NULL}, {"rewrite/hoist:4", "numbered from 0"},
		{"rewrite/hoist:3-2", "numbered from 0"}, {"rewrite/hoist:ya", "no parameter ya"},
		{"rewrite/hoist:0-", "names all 4"}, {"rewrite/hoist:", "not of the form"},
		{"rewrite/hoist:1x", "no parameter 1x"}};

	for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
		struct graph g;
		struct err err = {0};
		struct space *s = open_program(&g, table[i].kind, &err);
		if (!CHECK(table[i].says ? !s && strstr(err.text, table[i].says) : s != NULL))
			printf("\t%s: %s\n", table[i].kind, err.text);
		space_free(s);
		graph_release(&g);
	}
}

int main(void)
{
	RUN(two_programs_compute_the_same);
	RUN(large_values_are_made_where_they_are_read);
	RUN(a_parameter_that_is_the_result_stays);
	RUN(what_is_prepared_promises_more);
	RUN(lists_are_read);
	return test_done();
}
