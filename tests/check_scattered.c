/*
 * check_scattered.c - products that are added up by indices are rewritten only where the shapes fit together, and so
 * that a place whose index is out of range adds nothing, whatever its numbers are.
 *
 * A program from a file may claim any shape. The rule reads an index for each place of the product.
 */
#include <string.h>
#include "base/buf.h"
#include "space/space.h"
#include "tests/test.h"

struct opened {
	struct graph g;
	struct space *s;
};

/* A scatter of products, whose indices have this shape and stand along this dimension. */
static bool open_sums(struct opened *o, const char *indices, int along)
{
	struct buf text = {0};
	struct err err = {0};

	*o = (struct opened){.s = NULL};
	buf_addf(&text,
		"HloModule m\nadds {\n a = f32[] parameter(0)\n b = f32[] parameter(1)\n ROOT s = f32[] add(a, b)\n}\n"
		"ENTRY e {\n which = s32[%s] parameter(0)\n p = f32[30,8] parameter(1)\n q = f32[30,4] parameter(2)\n"
		" to = f32[5,8,4] parameter(3)\n u = f32[30,8,4] dot(p, q), lhs_batch_dims={0}, rhs_batch_dims={0}, "
		"lhs_contracting_dims={}, rhs_contracting_dims={}\n"
		" ROOT y = f32[5,8,4] scatter(to, which, u), update_window_dims={1,2}, inserted_window_dims={0}, "
		"scatter_dims_to_operand_dims={0}, index_vector_dim=%d, to_apply=adds\n}\n", indices, along);
	if (CHECK(graph_parse(&o->g, text.data, text.len, "text", &err) == 0))
		o->s = space_open("rewrite", "cpu", &o->g, NULL, 0, &err);
	buf_release(&text);
	return CHECK(o->s);
}

static void close_sums(struct opened *o)
{
	space_free(o->s);
	graph_release(&o->g);
}

/* May the scatter be rewritten? */
static bool is_offered(const char *indices, int along)
{
	struct opened o;
	bool offered = open_sums(&o, indices, along) && o.s->site_of[graph_find(&o.g, "y")] != NONE;

	close_sums(&o);
	return offered;
}

static void shapes_have_to_fit(void)
{
	CHECK(is_offered("30", 1));
	CHECK(is_offered("30,1", 1));
	CHECK(is_offered("1,30", 0));
	CHECK(!is_offered("", 0));
	CHECK(!is_offered("29", 1));
	CHECK(!is_offered("30,2", 1));
	CHECK(!is_offered("6,5", 2));
}

/* 0 times what is no number is none, so zeros on one side are not enough. */
static void places_out_of_range_are_zeros_on_both_sides(void)
{
	struct buf module = {0};
	struct graph g = {0};
	struct opened o;
	uint8_t config[4] = {0};
	uint32_t product = NONE;

	if (open_sums(&o, "30", 1) && CHECK(o.s->n_sites <= 4)) {
		config[o.s->site_of[graph_find(&o.g, "y")]] = 1;
		CHECK(o.s->ops->apply(o.s, config, &module, NULL) == 0);
		CHECK(graph_parse(&g, module.data, module.len, "rewritten", NULL) == 0);
	}
	for (uint32_t v = 0; v < g.n_nodes; v++)
		product = g.node[v].opcode == OP_DOT ? v : product;
	for (uint32_t k = 0; k < 2 && CHECK(product != NONE); k++)
		CHECK_INT(g.node[node_operands(&g, product)[k]].opcode, OP_SELECT);
	graph_release(&g);
	buf_release(&module);
	close_sums(&o);
}

int main(void)
{
	RUN(places_out_of_range_are_zeros_on_both_sides);
	RUN(shapes_have_to_fit);
	return test_done();
}
