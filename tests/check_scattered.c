/*
 * check_scattered.c - products that are added up by indices are rewritten only where the shapes fit together.
 *
 * A program from a file may claim any shape. The rule reads an index for each place of the product.
 */
#include <string.h>
#include "base/buf.h"
#include "space/space.h"
#include "tests/test.h"

/* May the scatter be rewritten, if its indices have this shape, and stand along this dimension? */
static bool is_offered(const char *indices, int along)
{
	struct buf text = {0};
	struct err err = {0};
	struct graph g = {0};
	struct space *s = NULL;
	bool offered;

	buf_addf(&text,
		"HloModule m\nadds {\n a = f32[] parameter(0)\n b = f32[] parameter(1)\n ROOT s = f32[] add(a, b)\n}\n"
		"ENTRY e {\n which = s32[%s] parameter(0)\n p = f32[30,8] parameter(1)\n q = f32[30,4] parameter(2)\n"
		" to = f32[5,8,4] parameter(3)\n u = f32[30,8,4] dot(p, q), lhs_batch_dims={0}, rhs_batch_dims={0}, "
		"lhs_contracting_dims={}, rhs_contracting_dims={}\n"
		" ROOT y = f32[5,8,4] scatter(to, which, u), update_window_dims={1,2}, inserted_window_dims={0}, "
		"scatter_dims_to_operand_dims={0}, index_vector_dim=%d, to_apply=adds\n}\n", indices, along);
	if (CHECK(graph_parse(&g, text.data, text.len, "text", &err) == 0))
		s = space_open("rewrite", "cpu", &g, NULL, 0, &err);
	offered = CHECK(s) && s->site_of[graph_find(&g, "y")] != NONE;
	space_free(s);
	graph_release(&g);
	buf_release(&text);
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

int main(void)
{
	RUN(shapes_have_to_fit);
	return test_done();
}
