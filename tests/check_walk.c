/*
 * check_walk.c - the strides with which a loop reads a value, through every kind of instruction that only rearranges
 * it; compared with strides that were worked out by hand.
 */
#include "graph/walk.h"
#include "tests/test.h"

static const char text[] =
	"HloModule walks\n"
	"add { a = f32[] parameter(0) b = f32[] parameter(1) ROOT s = f32[] add(a, b) }\n"
	"ENTRY main {\n"
	"  p = f32[6,8,10]{2,1,0} parameter(0)\n"
	"  v = f32[8]{0} parameter(1)\n"
	"  z = f32[] constant(0)\n"
	"  elementwise = f32[6,8,10]{2,1,0} negate(p)\n"
	"  copied = f32[6,8,10]{0,1,2} copy(p)\n"
	"  turned = f32[10,8,6]{2,1,0} transpose(p), dimensions={2,1,0}\n"
	"  swapped = f32[8,6,10]{2,1,0} transpose(p), dimensions={1,0,2}\n"
	"  flat = f32[480]{0} reshape(p)\n"
	"  folded = f32[48,10]{1,0} reshape(p)\n"
	"  same = f32[10,8,6]{0,1,2} bitcast(p)\n"
	"  spread = f32[8,10]{1,0} broadcast(v), dimensions={0}\n"
	"  along = f32[10,8]{1,0} broadcast(v), dimensions={1}\n"
	"  every_third = f32[6,8,4]{2,1,0} slice(p), slice={[0:6], [0:8], [0:10:3]}\n"
	"  rows = f32[6,10]{1,0} reduce(p, z), dimensions={1}, to_apply=add\n"
	"  sums = f32[6,8]{1,0} reduce(p, z), dimensions={2}, to_apply=add\n"
	"  thin = f32[6,8,1]{2,1,0} slice(p), slice={[0:6], [0:8], [3:4]}\n"
	"  ROOT all = (f32[6,8,10], f32[6,8,10], f32[10,8,6], f32[8,6,10], f32[480], "
	"f32[48,10], f32[10,8,6], f32[8,10], f32[10,8], f32[6,8,4], f32[6,10], f32[6,8], f32[6,8,1]) "
	"tuple(elementwise, copied, turned, swapped, flat, folded, same, spread, along,"
	" every_third, rows, sums, thin)\n"
	"}\n";

static uint32_t named(const struct graph *g, const char *name)
{
	for (uint32_t v = 0; v < g->n_nodes; v++)
		if (strcmp(g->node[v].proto->name, name) == 0)
			return v;
	return NONE;
}

static void strides_of_one_look(const struct graph *g)
{
	static const struct {
		const char *name;
		double stride;
	} want[] = {
		{"elementwise", 1}, {"copied", 80}, {"turned", 80}, {"swapped", 1}, {"flat", 1}, {"folded", 1},
		{"same", 1},
		{"spread", 0}, {"along", 1}, {"every_third", 3}, {"rows", 10}, {"sums", 1}, {"thin", 10},
	};

	for (size_t i = 0; i < sizeof want / sizeof *want; i++) {
		uint32_t v = named(g, want[i].name);
		double got;
		if (!CHECK(v != NONE))
			continue;
		got = walk_stride(&g->node[node_operands(g, v)[0]], walk_operand(g, v, 0, walk_of(&g->node[v])));
		if (!CHECK(got == want[i].stride))
			printf("%s: %g, wanted %g\n", want[i].name, got, want[i].stride);
	}
}

/* A copy that absorbed a transpose reads the transpose's operand, in the order of the copy. */
static void looks_through_looks(const struct graph *g)
{
	uint32_t turned = named(g, "turned"), p = named(g, "p"), spread = named(g, "spread"), v = named(g, "v");
	struct walk outer = {0, 1}, inner = walk_operand(g, turned, 0, outer);

	CHECK(walk_stride(&g->node[turned], outer) == 48);
	CHECK(walk_stride(&g->node[p], inner) == 1);
	CHECK(walk_stride(&g->node[p], walk_operand(g, turned, 0, (struct walk){1, 2})) == 20);
	CHECK(walk_stride(&g->node[v], walk_operand(g, spread, 0, (struct walk){0, 1})) == 1);
	CHECK(walk_stride(&g->node[p], walk_operand(g, turned, 0, (struct walk){WALK_UNKNOWN, 0})) == WALK_ANYWHERE);
	CHECK(walk_stride(&g->node[p], (struct walk){WALK_NONE, 0}) == 0);
}

static struct graph g;

static void strides(void)
{
	strides_of_one_look(&g);
}

static void compositions(void)
{
	looks_through_looks(&g);
}

int main(void)
{
	struct err err = {0};

	if (graph_parse(&g, text, sizeof text - 1, "walks", &err) < 0) {
		printf("FAIL: reads: %s\n", err.text);
		return 1;
	}
	RUN(strides);
	RUN(compositions);
	graph_release(&g);
	return test_done();
}
