/*
 * check_addend.c - a product and the addition of a constant as one kernel: XLA:CPU takes the addend from memory, and
 * dies of a constant inside the kernel.
 */
#include "space/fusion/own.h"
#include "tests/test.h"

static const char text[] =
	"HloModule m\n\nENTRY e {\n"
	"  w = f32[40] parameter(0)\n"
	"  k = f32[] constant(1)\n"
	"  d = f32[] dot(w, w), lhs_contracting_dims={0}, rhs_contracting_dims={0}\n"
	"  ROOT r = f32[] add(d, k)\n}\n";

/* How many kernels read a product's operand? Their addend has to be a constant outside. */
static void reads_constant(const struct buf *module, uint32_t kernels)
{
	struct graph g = {0};
	struct err err = {{0}};
	uint32_t found = 0;

	if (!CHECK(graph_parse(&g, module->data, module->len, "it", &err) == 0))
		printf("\t%s\n", err.text);
	for (uint32_t v = 0; v < g.n_nodes; v++)
		if (g.node[v].opcode == OP_FUSION && g.node[v].n_operands) {
			found++;
			CHECK_STR(g.node[v].proto->fusion_kind, "kOutput");
			if (CHECK_INT(g.node[v].n_operands, 2))
				CHECK(g.node[node_operands(&g, v)[1]].opcode == OP_CONSTANT);
		}
	CHECK_INT(found, kernels);
	graph_release(&g);
}

static void the_addend_is_read(void)
{
	struct graph g = {0};
	struct err err = {{0}};
	struct regions rg = {0};
	struct buf module = {0};
	struct space *s = NULL;
	uint8_t together[1] = {1}, apart[1] = {0};

	if (!CHECK(graph_parse(&g, text, strlen(text), "text", &err) == 0) ||
		!CHECK((s = space_open("fusion", "cpu", &g, NULL, 0, &err)) != NULL))
		printf("\t%s\n", err.text);
	if (s && CHECK_INT(s->n_sites, 1) && CHECK(s->ops->apply(s, together, &module, &err) == 0)) {
		reads_constant(&module, 1);
		if (CHECK(s->ops->region(s, together, apart, &rg, &err) == 0) && CHECK_INT(rg.n, 1)) {
			reads_constant(&rg.v[0].a, 1);
			reads_constant(&rg.v[0].b, 0);
		}
	}
	regions_release(&rg);
	buf_release(&module);
	space_free(s);
	graph_release(&g);
}

int main(void)
{
	RUN(the_addend_is_read);
	return test_done();
}
