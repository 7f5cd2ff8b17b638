/*
 * check_culprit.c - the beginning of a program is a program, and by running beginnings the instruction in which a run
 * dies is found.
 */
#include "graph/beginning.h"
#include "ready/culprit.h"
#include "tests/device_fixture.h"

/* The fake plugin aborts the run of every program that contains the script. */
static const char program[] =
	"HloModule m\n\n"
	"add { a = f32[] parameter(0)  b = f32[] parameter(1)  ROOT c = f32[] add(a, b) }\n\n"
	"ENTRY e {\n"
	"  x = f32[8] parameter(0)\n"
	"  one = f32[8] negate(x)\n"
	"  two = f32[8] exponential(one)\n"
	"  zero = f32[] constant(0)\n"
	"  three = f32[] reduce(two, zero), dimensions={0}, to_apply=add\n"
	"  y = f32[8] parameter(1)\n"
	"  four = f32[8] multiply(two, y)%s\n"
	"  five = (f32[8], f32[]) tuple(four, three)\n"
	"  six = f32[8] get-tuple-element(five), index=0\n"
	"  ROOT seven = f32[8] add(six, four)\n"
	"}\n";

static bool parse(struct graph *g, const char *mark)
{
	char text[1024];
	struct err err = {{0}};

	snprintf(text, sizeof text, program, mark);
	if (CHECK(graph_parse(g, text, strlen(text), "text", &err) == 0))
		return true;
	printf("\t%s\n", err.text);
	return false;
}

/* A beginning has all parameters and the first instructions; each instruction that no other reads is a result. */
static void beginnings_are_programs(void)
{
	struct graph g, part;
	struct err err = {{0}};

	if (!parse(&g, ""))
		return;
	for (uint32_t n = 0; n <= g.comp[g.entry].n_nodes; n++) {
		struct buf out = {0};
		uint32_t more = 0, computed = 0, parameters = 0, results;
		for (uint32_t i = 0; i < g.comp[g.entry].n_nodes; i++) {
			bool parameter = g.node[g.comp[g.entry].first + i].opcode == OP_PARAMETER;
			more += parameter && i >= n;
			computed += !parameter && i < n;
			parameters += parameter;
		}
		if (!CHECK_INT(beginning_program(&g, n, &out), computed > 0) || computed == 0)
			continue;
		if (!CHECK(graph_parse(&part, out.data, out.len, "beginning", &err) == 0)) {
			printf("\t%u: %s\n", n, err.text);
			continue;
		}
		if (n < g.comp[g.entry].n_nodes) {
			const struct node *root = &part.node[part.comp[part.entry].root];
			CHECK_INT(part.comp[part.entry].n_nodes, n + more + 1);
			CHECK_INT(part.module->host_program_shape->n_parameters, parameters);
			results = root->n_operands;
			CHECK(root->opcode == OP_TUPLE && results > 0);
			CHECK_INT(part.module->host_program_shape->result->n_tuple_shapes, results);
			for (uint32_t v = part.comp[part.entry].first; v < part.comp[part.entry].root; v++)
				CHECK(part.node[v].n_users > 0 || part.node[v].opcode == OP_PARAMETER);
		}
		graph_release(&part);
		buf_release(&out);
	}
	graph_release(&g);
}

static void tell(const char *mark, struct err *err)
{
	struct device *d = fixture_open();
	struct graph g;
	struct buf module = {0};

	if (!d || !parse(&g, mark))
		return;
	graph_write(&g, &module);
	graph_release(&g);
	err_set(err, "it dies");
	culprit_tell(d, &module, 3600, err);
	buf_release(&module);
	device_close(d);
	CHECK(fixture_no_children());
}

static void the_culprit_is_named(void)
{
	struct err err = {{0}};

	setenv("FAKE_PLUGIN", "fake:any=1", 1);
	tell(", metadata={op_name=\"fake:run=abort\"}", &err);
	if (!CHECK(strstr(err.text, "it dies; ") == err.text && strstr(err.text, "ends with four (multiply)")))
		printf("  %s\n", err.text);
	tell(", metadata={op_name=\"fake:run=refuse\"}", &err);
	CHECK(strstr(err.text, "ends with four (multiply)") != NULL);
	tell("", &err); /* every beginning runs: nothing is said */
	CHECK_STR(err.text, "it dies");
	unsetenv("FAKE_PLUGIN");
}

int main(void)
{
	RUN(beginnings_are_programs);
	if (fixture_begin())
		RUN(the_culprit_is_named);
	else
		printf("skip: the_culprit_is_named: no fake plugin without the plugin's header\n");
	fixture_end();
	return test_done();
}
