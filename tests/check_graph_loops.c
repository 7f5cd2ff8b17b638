/*
 * check_graph_loops.c - how many turns loops take, as graph/loops.c finds it or XLA notes it.
 */
#include "tests/make_graph.h"

/* In which form the counter appears. */
enum hide { PLAIN, SWAPPED, BY_COPY, BY_CALL, BY_STATE, BY_SUBTRACT, WIDENED, NARROWED, GROWING_LIMIT, UNKNOWN_START };

struct loop_parts {
	struct make mk;
	Hlo__ShapeProto *i32, *pred, *state;
	enum hide hide;
};

static make_instruction *test_of(struct loop_parts *l, struct make_comp *c, const char *cmp,
	make_instruction *a, make_instruction *b)
{
	make_instruction *in = make_op(c, "compare", l->pred, 2, a, b);
	in->comparison_direction = arena_strdup(&l->mk.mem, cmp);
	return in;
}

/* i as a number of another type, and that as one of 32 bits. */
static make_instruction *through(struct loop_parts *l, struct make_comp *c, make_instruction *i, int dtype)
{
	i = make_op(c, "convert", make_shape(&l->mk, dtype, 0), 1, i);
	return make_op(c, "convert", l->i32, 1, i);
}

/* for (i = start; i CMP limit; i += step) with state (i, limit). */
static struct make_comp *loop_cond(struct loop_parts *l, const char *cmp, int limit)
{
	struct make_comp *inner = l->hide == BY_CALL ? make_comp(&l->mk, "inner") : NULL;
	if (inner) {
		make_instruction *a = make_param(inner, l->i32), *b = make_param(inner, l->i32);
		test_of(l, inner, cmp, a, b);
	}
	struct make_comp *c = make_comp(&l->mk, "cond");
	make_instruction *p = make_param(c, l->state), *i = make_element(c, p, 0);
	make_instruction *to = l->hide == BY_STATE || l->hide == GROWING_LIMIT ? make_element(c, p, 1)
									       : make_s32(c, limit);
	if (l->hide == NARROWED)
		i = through(l, c, i, DT_S8);
	if (l->hide == WIDENED)
		i = make_op(c, "convert", make_shape(&l->mk, DT_S64, 0), 1, i);
	if (inner)
		make_calls(make_op(c, "call", l->pred, 2, i, to), &l->mk, 1, inner);
	else if (l->hide == SWAPPED)
		test_of(l, c, cmp, to, i);
	else
		test_of(l, c, cmp, i, to);
	return c;
}

static struct make_comp *loop_body(struct loop_parts *l, int step)
{
	struct make_comp *c = make_comp(&l->mk, "body");
	make_instruction *p = make_param(c, l->state), *i = make_element(c, p, 0);
	make_instruction *end = make_element(c, p, 1), *by = make_s32(c, l->hide == BY_SUBTRACT ? -step : step);
	if (l->hide == BY_COPY)
		i = make_op(c, "copy", l->i32, 1, i);
	make_instruction *next = make_op(c, l->hide == BY_SUBTRACT ? "subtract" : "add", l->i32, 2, i, by);
	if (l->hide == GROWING_LIMIT)
		end = make_op(c, "add", l->i32, 2, end, by);
	make_tuple(c, 2, next, end);
	return c;
}

static double rounds_of(enum hide hide, const char *cmp, int start, int limit, int step, const char *config)
{
	struct loop_parts l = {.hide = hide};
	struct graph g = {0};
	double rounds = 0;
	l.i32 = make_shape(&l.mk, DT_S32, 0);
	l.pred = make_shape(&l.mk, DT_PRED, 0);
	l.state = make_shape(&l.mk, DT_TUPLE, 0);
	l.state->n_tuple_shapes = 2;
	l.state->tuple_shapes = ARENA_NEW(&l.mk.mem, 2, Hlo__ShapeProto *);
	l.state->tuple_shapes[0] = l.state->tuple_shapes[1] = l.i32;
	struct make_comp *cond = loop_cond(&l, cmp, limit), *body = loop_body(&l, step);
	struct make_comp *c = make_comp(&l.mk, "main");
	make_instruction *from = hide == UNKNOWN_START ? make_param(c, l.i32) : make_s32(c, start);
	make_instruction *init = make_tuple(c, 2, from, make_s32(c, limit));
	make_instruction *loop = make_op(c, "while", l.state, 1, init);
	make_calls(loop, &l.mk, 2, body, cond);
	loop->backend_config = (ProtobufCBinaryData){strlen(config), (uint8_t *)(uintptr_t)config};
	if (make_graph(&g, make_module(&l.mk))) {
		uint32_t v = graph_find(&g, loop->name), in = node_calls(&g, v)[0];
		check_invariants(&g);
		rounds = g.node[v].trip_count;
		CHECK_NEAR(g.comp[in].trips, rounds >= 0 ? rounds : 1, 0);
		CHECK_INT(g.comp[in].trips_known, rounds >= 0);
		CHECK_INT(g.comp[in].role, ROLE_CONTROL);
	}
	graph_release(&g);
	make_release(&l.mk);
	return rounds;
}

#define UNKNOWN (-1)

static void loops(void)
{
	static const struct {
		enum hide hide;
		const char *cmp;
		int start, limit, step;
		const char *config;
		double want;
	} table[] = {
		{PLAIN, "LT", 0, 10, 1, "", 10},
		{PLAIN, "LT", 3, 10, 2, "", 4},
		{PLAIN, "LE", 0, 10, 1, "", 11},
		{PLAIN, "GT", 10, 0, -3, "", 4},
		{PLAIN, "GE", 10, 0, -1, "", 11},
		{PLAIN, "NE", 0, 12, 3, "", 4},
		{PLAIN, "NE", 0, 10, 3, "", UNKNOWN},
		{PLAIN, "EQ", 0, 10, 1, "", UNKNOWN},
		{PLAIN, "LT", 0, 10, -1, "", UNKNOWN},
		{PLAIN, "LT", 0, 10, 0, "", UNKNOWN},
		{PLAIN, "LT", 10, 0, 1, "", 0},
		{PLAIN, "NE", 7, 7, 1, "", 0},
		{PLAIN, "GE", 3, 3, -4, "", 1},
		{PLAIN, "LT", -2000000000, 2000000000, 1, "", 4e9},
		{PLAIN, "LT", 0, 2147483647, 1, "", 2147483647},
		{PLAIN, "LE", 0, 2147483647, 1, "", UNKNOWN}, /* it never ends */
		{PLAIN, "LT", 0, 2000000000, 1500000000, "", UNKNOWN}, /* the second step wraps */
		{PLAIN, "GT", 0, -2000000000, -1500000000, "", UNKNOWN},
		{SWAPPED, "GT", 0, 10, 1, "", 10},
		{SWAPPED, "LT", 0, 10, 1, "", 0},
		{BY_COPY, "LT", 0, 7, 1, "", 7},
		{BY_CALL, "LT", 0, 7, 1, "", 7},
		{BY_STATE, "LT", 0, 7, 1, "", 7},
		{BY_SUBTRACT, "GT", 7, 0, -1, "", 7},
		{WIDENED, "LT", 0, 7, 1, "", 7},
		{NARROWED, "LT", 0, 120, 100, "", UNKNOWN}, /* 100, -56, 44, ... */
		{GROWING_LIMIT, "LT", 0, 7, 1, "", UNKNOWN},
		{UNKNOWN_START, "LT", 0, 7, 1, "", UNKNOWN},
		{UNKNOWN_START, "LT", 0, 7, 1, "{\"known_trip_count\":{\"n\":\"5\"}}", 5},
		{PLAIN, "LT", 0, 7, 1, "{\"known_trip_count\":{\"n\":\"", 7},
		{PLAIN, "LT", 0, 7, 1, "{\"known_trip_count\":{\"n\":\"x", 7},
	};
	for (size_t i = 0; i < sizeof(table) / sizeof(*table); i++) {
		double got = rounds_of(table[i].hide, table[i].cmp, table[i].start, table[i].limit,
			table[i].step, table[i].config);
		if (!CHECK_NEAR(got, table[i].want, 0))
			printf("row %zu\n", i);
	}
}

int main(void)
{
	RUN(loops);
	return test_done();
}
