/*
 * full_turns.c - counts loops by running them: the count in the text is found again, and counts that are not in the
 * text are right.
 */
#include <unistd.h>
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
		g->node[v].trip_count = 0;
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
	RUN(a_real_solver);
	device_close(device);
	return test_done();
}
