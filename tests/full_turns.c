/*
 * full_turns.c - counts loops and branches by running them: the count in the text is found again, and counts that are
 * not in the text are right.
 */
#include <unistd.h>
#include "graph/turns.h"
#include "ready/subject.h"
#include "ready/turns.h"
#include "tests/test.h"
#include "tests/turns_text.h"

static struct device *device;

static uint32_t forget(struct graph *g, double *turns)
{
	uint32_t n = 0;
	for (uint32_t v = 0; v < g->n_nodes; v++) {
		turns[v] = g->node[v].trip_count;
		n += turns[v] > 0;
		g->node[v].trip_count = -1;
	}
	return n;
}

static void what_is_known_is_found(void)
{
	static const char *const paths[] = {"examples/graphs/tiny/loop.pb.zst", "examples/graphs/tiny/scan.pb.zst"};
	for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
		struct subject s;
		struct err err = {{0}};
		bool noted;
		if (!CHECK(subject_open(&s, paths[i], "fusion", device, &err) == 0))
			continue;
		double *turns = MEM_NEW(s.graph.n_nodes, double);
		CHECK(forget(&s.graph, turns) > 0);
		CHECK(count_turns(device, &s.graph, &noted, &err) == 0 && noted);
		for (uint32_t v = 0; v < s.graph.n_nodes; v++)
			if (s.graph.node[v].opcode == OP_WHILE)
				CHECK_NEAR(s.graph.node[v].trip_count, turns[v], 1e-9 * turns[v]);
		mem_free(turns);
		subject_release(&s);
	}
}

static void what_is_not_known_is_right(void)
{
	struct graph g;
	struct err err = {{0}};
	double want[2] = {TURNS_OUTER, TURNS_INNER};
	int k = 0;
	bool noted;
	if (!CHECK(graph_parse(&g, turns_text, sizeof turns_text - 1, "text", &err) == 0) ||
		!CHECK(count_turns(device, &g, &noted, &err) == 0 && noted))
		return;
	for (uint32_t v = g.n_nodes; v-- > 0;)
		if (g.node[v].opcode == OP_WHILE)
			CHECK_NEAR(g.node[v].trip_count, want[k++], 0);
	CHECK_INT(k, 2);
	graph_release(&g);
}

/* One program counts loops that stand side by side, one of which needs the other. */
static void all_are_counted_at_once(void)
{
	static const char text[] =
		"HloModule m\n"
		"more {\n"
		"  p = (f32[]) parameter(0)\n"
		"  x = f32[] get-tuple-element(p), index=0\n"
		"  two = f32[] constant(2)\n"
		"  y = f32[] add(x, two)\n"
		"  ROOT t = (f32[]) tuple(y)\n"
		"}\n"
		"below_nine {\n"
		"  p = (f32[]) parameter(0)\n"
		"  x = f32[] get-tuple-element(p), index=0\n"
		"  nine = f32[] constant(9)\n"
		"  ROOT c = pred[] compare(x, nine), direction=LT\n"
		"}\n"
		"twice {\n"
		"  p = (f32[]) parameter(0)\n"
		"  x = f32[] get-tuple-element(p), index=0\n"
		"  y = f32[] add(x, x)\n"
		"  ROOT t = (f32[]) tuple(y)\n"
		"}\n"
		"below_eighty {\n"
		"  p = (f32[]) parameter(0)\n"
		"  x = f32[] get-tuple-element(p), index=0\n"
		"  eighty = f32[] constant(80)\n"
		"  ROOT c = pred[] compare(x, eighty), direction=LT\n"
		"}\n"
		"ENTRY main {\n"
		"  a = f32[4] parameter(0)\n"
		"  zero = f32[] constant(0)\n"
		"  t = (f32[]) tuple(zero)\n"
		"  w = (f32[]) while(t), condition=below_nine, body=more\n" /* 0, 2, ... 10: 5 */
		"  ROOT w2 = (f32[]) while(w), condition=below_eighty, body=twice\n" /* 10, 20, 40, 80: 3 */
		"}\n";
	struct graph g;
	struct err err = {{0}};
	bool noted;
	double want[2] = {3, 5};
	int k = 0;

	if (!CHECK(graph_parse(&g, text, sizeof text - 1, "text", &err) == 0) ||
		!CHECK(count_turns(device, &g, &noted, &err) == 0 && noted))
		return;
	for (uint32_t v = g.n_nodes; v-- > 0;)
		if (g.node[v].opcode == OP_WHILE)
			CHECK_NEAR(g.node[v].trip_count, want[k++], 0);
	CHECK_INT(k, 2);
	graph_release(&g);
}

/* Branches in a loop, branches in branches, and branches that are never taken. */
static void branches_are_right(void)
{
	static const struct {
		uint32_t called;
		double entered, runs[3];
	} want[] = {{3, 1, {0, 1, 0}}, {2, 4, {0.5, 0.5}}, {2, 2, {0.5, 0.5}}};
	struct graph g, again;
	struct buf bytes = {0};
	struct err err = {{0}};
	bool noted;
	uint32_t seen = 0;

	if (!CHECK(graph_parse(&g, branches_text, sizeof branches_text - 1, "text", &err) == 0) ||
		!CHECK(count_turns(device, &g, &noted, &err) == 0 && noted))
		return;
	graph_write(&g, &bytes);
	if (!CHECK(graph_parse(&again, bytes.data, bytes.len, "again", &err) == 0))
		return;
	for (uint32_t v = again.n_nodes; v-- > 0;) {
		const struct node *n = &again.node[v];
		double entered = again.comp[n->comp].trips;
		if (n->opcode == OP_WHILE && n->comp == again.entry)
			CHECK_NEAR(n->trip_count, BRANCHES_TURNS, 0);
		if (n->opcode != OP_CONDITIONAL)
			continue;
		seen++;
		for (size_t i = 0; i < sizeof want / sizeof *want; i++)
			for (uint32_t k = 0; k < n->n_called; k++)
				if (want[i].called == n->n_called && want[i].entered == entered)
					CHECK_NEAR(turns_noted(n->proto, k), want[i].runs[k], 0);
	}
	CHECK_INT(seen, 3);
	graph_release(&g);
	graph_release(&again);
	buf_release(&bytes);
}

/* A solver's steps: how many there are depends on numbers. */
static void a_real_solver(void)
{
	const char *path = "../shared/hlo/diffrax.b380012920.pb";
	struct subject s;
	struct err err = {{0}};
	if (access(path, R_OK) != 0)
		SKIP("no ../shared/hlo/ here");
	if (!CHECK(subject_open(&s, path, "fusion", device, &err) == 0))
		return;
	for (uint32_t v = 0; v < s.graph.n_nodes; v++)
		CHECK(s.graph.node[v].opcode != OP_WHILE || s.graph.node[v].trip_count > 0);
	subject_release(&s);
}

int main(void)
{
	struct err err = {{0}};
	struct device_options o = {.wait = true, .deadline = PATIENT};
	device = device_open(&o, &err);
	if (!device) {
		printf("skip: turns: %s\n", err.text);
		return 0;
	}
	RUN(what_is_known_is_found);
	RUN(what_is_not_known_is_right);
	RUN(all_are_counted_at_once);
	RUN(branches_are_right);
	RUN(a_real_solver);
	device_close(device);
	return test_done();
}
