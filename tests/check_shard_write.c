/*
 * check_shard_write.c - calls by which Shardy marks results are written as copies: the value keeps its number, its
 * layout and its readers, and other calls stay calls.
 */
#include <stdlib.h>
#include <string.h>
#include "space/shard/own.h"
#include "tests/test.h"

static const char step[] =
	"HloModule m\nENTRY e {\n"
	"  w = f32[16,8] parameter(0)\n"
	"  x = f32[32,16] parameter(1)\n"
	"  h = f32[32,8] dot(x, w), lhs_contracting_dims={1}, rhs_contracting_dims={0}\n"
	"  marked = f32[32,8] custom-call(h), custom_call_target=\"xla.sdy.FuncResultSharding\", "
	"custom_call_has_side_effect=true, frontend_attributes={xla.sdy.sharding=\"#sdy.sharding_per_value<[]>\"}\n"
	"  other = f32[32,8] custom-call(marked), custom_call_target=\"mine\"\n"
	"  ROOT t = (f32[32,8], f32[32,8]) tuple(marked, other)\n}\n";

static void what_shardy_marks_is_copied(void)
{
	struct graph g = {0}, after = {0};
	struct err err = {{0}};
	struct buf module = {0};
	struct space *s;
	uint8_t *config;
	uint32_t marked, other;

	CHECK_INT(graph_parse(&g, step, strlen(step), "the program", &err), 0);
	if (!CHECK(s = space_open("shard:4", "pod", &g, NULL, 0, &err)))
		exit(1);
	config = MEM_NEW(s->n_sites, uint8_t);
	CHECK_INT(s->ops->apply(s, config, &module, &err), 0);
	CHECK_INT(graph_parse(&after, module.data, module.len, "written", &err), 0);
	CHECK_STR(err.text, "");
	marked = graph_find(&after, "marked");
	other = graph_find(&after, "other");
	CHECK_INT(after.node[marked].opcode, OP_COPY);
	CHECK(after.node[marked].proto->frontend_attributes == NULL);
	CHECK_INT(after.node[marked].proto->id, g.node[graph_find(&g, "marked")].proto->id);
	CHECK_INT(node_operands(&after, marked)[0], graph_find(&after, "h"));
	CHECK_INT(after.node[other].opcode, OP_CUSTOM_CALL);
	CHECK_INT(node_operands(&after, other)[0], marked);
	graph_release(&after);
	buf_release(&module);
	mem_free(config);
	space_free(s);
	graph_release(&g);
}

int main(void)
{
	RUN(what_shardy_marks_is_copied);
	return test_done();
}
