/*
 * check_cost_graph.c - reading TensorFlow's CostGraphDef: what becomes of nodes, sizes and edges, and what is refused.
 */
#include "graph/graph.h"
#include "hlo/module.h"
#include "hlo/text/cost_graph.h"
#include "space/order/program.h"
#include "tests/test.h"

static const char text[] = "# two chains and their sum\n"
	"node {\n  name: \"_SOURCE\"\n}\n"
	"node {\n  name: \"sum\"\n  id: 5\n  input_info {\n    preceding_node: 3\n  }\n"
	"  input_info { preceding_node: 4 preceding_port: 1 }\n"
	"  output_info { size: 10 alias_input_port: -1 }\n  is_final: true\n}\n"
	"node { name: 'a/big one' device: \"/cpu:0\" id: 1; control_input: 0\n"
	" output_info < size: 70 shape { dim { size: 3 } } > compute_cost: 58 }\n"
	"node { name: \"b\" id: 2 output_info { size: 52 } control_input: [0, 1]\n"
	" compute_cost: 47, temporary_memory_size: 4 }\n"
	"node { name: \"c\" id: 3 input_info { preceding_node: 1 } output_info { size: 8 dtype: DT_FLOAT } }\n"
	"node { name: \"d\" id: 4 input_info { preceding_node: 2 } output_info { size: 7 } output_info { size: 9 }\n"
	" [some.extension/x] { y: -1.5e3 z: \"a\" 'b' } }\n"
	"cost { cost: 3 }\n";

/* The node of a name in the user's program. */
static const struct node *named(const struct graph *g, const char *name, uint32_t *at)
{
	for (uint32_t v = 0; v < g->n_nodes; v++)
		if (g->node[v].opcode == OP_CUSTOM_CALL && g->node[v].proto->metadata &&
			strcmp(g->node[v].proto->metadata->op_name, name) == 0) {
			*at = v;
			return &g->node[v];
		}
	return NULL;
}

static void nodes_become_calls(void)
{
	struct graph g;
	struct err err = {0};
	uint32_t a, b, d, sum;

	CHECK(hlo_sniff(text, sizeof text - 1) == HLO_COST_GRAPH);
	if (!CHECK(graph_parse(&g, text, sizeof text - 1, "x.pbtxt", &err) == 0)) {
		printf("\t%s\n", err.text);
		return;
	}
	if (CHECK(named(&g, "a/big_one", &a) && named(&g, "b", &b) && named(&g, "d", &d) && named(&g, "sum", &sum))) {
		CHECK_INT(g.node[a].proto->shape->dimensions[0], 70 * COST_GRAPH_UNIT);
		CHECK_INT(g.node[d].proto->shape->n_tuple_shapes, 2);
		CHECK_INT(g.node[sum].n_operands, 2);
		CHECK_INT(g.node[b].proto->n_control_predecessor_ids, 2);
		CHECK(a < b && b < d && d < sum);
	}
	graph_release(&g);
}

/* a (70) lives until c (8) is made of it, likewise b (52) and d (7 and 9). */
static void memory_is_that_of_the_file(void)
{
	struct graph g;
	struct program p;
	struct err err = {0};

	if (!CHECK(graph_parse(&g, text, sizeof text - 1, "x.pbtxt", &err) == 0))
		return;
	program_open(&p, &g);
	/* Our own order is a, c, b, d, sum: at c both a and c are there, later never as much. */
	CHECK_INT(program_settle(&p), (70 + 8) * COST_GRAPH_UNIT);
	program_release(&p);
	graph_release(&g);
}

/* Large sizes are bytes. */
static void large_sizes_are_bytes(void)
{
	static const char large[] = "node { id: 7 name: \"x\" output_info { size: 5000 } }";
	struct buf out = {0};
	struct err err = {0};

	CHECK(cost_graph_read(large, sizeof large - 1, "x", &out, &err) == 0);
	CHECK(strstr(out.data, "u8[5000]"));
	buf_release(&out);
}

static const struct {
	const char *text, *said;
} bad[] = {
	{"node { id: 1 } node { id: 1 }", "two nodes have the same id"},
	{"node { id: 1 control_input: 9 }", "a node that is not there"},
	{"node { id: 1 output_info { size: 3 } } node { id: 2 input_info { preceding_node: 1 preceding_port: 1 } }",
		"an output that is not there"},
	{"node { id: 1 control_input: 2 }\nnode { id: 2 control_input: 1 }", "in a circle"},
	{"node { id: 1 output_info { size: -3 } }", "no output has that size"},
	{"node { id: x }", "a whole number is missing"},
	{"node { id: 1 \n\n name: \"a\n }", "line 3: a string has no end"},
	{"node { id: 1 ", "a field is missing"},
	{"node { id: 1 } edge", "a value is missing"},
	{"cost { cost: 1 }", "there is no node"},
};

static void the_rest_is_refused(void)
{
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
		struct buf out = {0};
		struct err err = {0};
		if (!CHECK(cost_graph_read(bad[i].text, strlen(bad[i].text), "x", &out, &err) < 0 &&
			strstr(err.text, bad[i].said) && strstr(err.text, "x, line ")))
			printf("\t%s: %s\n", bad[i].text, err.text);
		buf_release(&out);
	}
}

/* A file that ends anywhere, or has any other character anywhere, is read or refused. */
static void damage_is_survived(void)
{
	char copy[sizeof text];

	for (size_t i = 0; i < sizeof text - 1; i++)
		for (int k = 0; k < 4; k++) {
			struct graph g;
			struct err err = {0};
			memcpy(copy, text, sizeof text);
			copy[i] = "{}:\""[k];
			if (graph_parse(&g, copy, k ? sizeof text - 1 : i + 1, "x", &err) == 0)
				graph_release(&g);
			else
				CHECK(err.text[0]);
		}
}

int main(void)
{
	RUN(nodes_become_calls);
	RUN(memory_is_that_of_the_file);
	RUN(large_sizes_are_bytes);
	RUN(the_rest_is_refused);
	RUN(damage_is_survived);
	return test_done();
}
