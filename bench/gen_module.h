/*
 * gen_module.h - generates modules of any size that look like those of a framework: blocks of matrix products,
 * biases, activations and normalisations with their metadata, and sometimes a loop. The same arguments give the same
 * bytes. Benches use them, and fuzzing starts from them.
 */
#ifndef BENCH_GEN_MODULE_H
#define BENCH_GEN_MODULE_H

#include "base/rng.h"
#include "tests/make_module.h"

struct gen {
	struct make mk;
	struct rng rng;
	struct make_comp *sum, *max, *c;
	uint32_t block, made;
};

/* An instruction with metadata as JAX writes it. */
static inline make_instruction *gen_op(struct gen *g, const char *opcode, Hlo__ShapeProto *shape,
	make_instruction *a, make_instruction *b)
{
	make_instruction *operand[] = {a, b};
	make_instruction *in = make_op_v(g->c, opcode, shape, (size_t)(!!a + !!b), operand);
	Hlo__OpMetadata *m = ARENA_NEW(&g->mk.mem, 1, Hlo__OpMetadata);
	hlo__op_metadata__init(m);
	m->op_name = arena_printf(&g->mk.mem, "jit(train_step)/jit(main)/transpose(jvp(Model))/block_%u/%s",
		(unsigned)g->block, opcode);
	m->source_file = (char *)"model/layers/attention.py";
	m->source_line = (int32_t)(100 + rng_below(&g->rng, 900));
	m->stack_frame_id = (int32_t)rng_below(&g->rng, 1000);
	in->metadata = m;
	in->name = arena_printf(&g->mk.mem, "%s.%u", opcode, (unsigned)++g->made);
	return in;
}

static inline make_instruction *gen_broadcast(struct gen *g, make_instruction *x, Hlo__ShapeProto *shape,
	int along)
{
	make_instruction *in = gen_op(g, "broadcast", shape, x, NULL);
	if (along >= 0)
		make_dims(g->c, in, 1, along);
	return in;
}

static inline make_instruction *gen_reduce(struct gen *g, make_instruction *x, struct make_comp *how,
	Hlo__ShapeProto *shape)
{
	make_instruction *in = gen_op(g, "reduce", shape, x, make_f32(g->c, 0));
	make_dims(g->c, in, 1, 1);
	return make_calls(in, &g->mk, 1, how);
}

static inline make_instruction *gen_dot(struct gen *g, make_instruction *x, make_instruction *w,
	Hlo__ShapeProto *shape)
{
	make_instruction *in = gen_op(g, "dot", shape, x, w);
	Hlo__DotDimensionNumbers *d = ARENA_NEW(&g->mk.mem, 1, Hlo__DotDimensionNumbers);
	hlo__dot_dimension_numbers__init(d);
	d->n_lhs_contracting_dimensions = d->n_rhs_contracting_dimensions = 1;
	d->lhs_contracting_dimensions = ARENA_NEW(&g->mk.mem, 1, int64_t);
	d->rhs_contracting_dimensions = ARENA_NEW(&g->mk.mem, 1, int64_t);
	d->lhs_contracting_dimensions[0] = 1;
	in->dot_dimension_numbers = d;
	return in;
}

/* x W + b, an activation, a softmax over rows, and the sum with x: about 20 instructions. */
static inline make_instruction *gen_block(struct gen *g, make_instruction *x, make_instruction *w,
	make_instruction *b, int rows, int columns)
{
	static const char *const active[] = {"tanh", "exponential", "logistic", "negate", "abs", "cosine"};
	struct make *mk = &g->mk;
	Hlo__ShapeProto *all = make_shape(mk, DT_F32, 2, rows, columns);
	Hlo__ShapeProto *row = make_shape(mk, DT_F32, 1, rows);
	g->block++;
	make_instruction *y = gen_op(g, "add", all, gen_dot(g, x, w, all), gen_broadcast(g, b, all, 1));
	uint64_t n = 1 + rng_below(&g->rng, 4);
	for (uint64_t i = 0; i < n; i++)
		y = gen_op(g, active[rng_below(&g->rng, 6)], all, y, NULL);
	make_instruction *most = gen_broadcast(g, gen_reduce(g, y, g->max, row), all, 0);
	make_instruction *e = gen_op(g, "exponential", all, gen_op(g, "subtract", all, y, most), NULL);
	make_instruction *total = gen_broadcast(g, gen_reduce(g, e, g->sum, row), all, 0);
	make_instruction *scale = gen_broadcast(g, make_f32(g->c, 0.5f), all, -1);
	make_instruction *p = gen_op(g, "multiply", all, gen_op(g, "divide", all, e, total), scale);
	return gen_op(g, "add", all, x, p);
}

/* body and condition of: for (i = 0; i < rounds; i++) x = tanh(x); */
static inline void gen_loop_parts(struct gen *g, int rows, int columns, int rounds, struct make_comp **body,
	struct make_comp **cond)
{
	struct make *mk = &g->mk;
	Hlo__ShapeProto *i32 = make_shape(mk, DT_S32, 0), *all = make_shape(mk, DT_F32, 2, rows, columns);
	Hlo__ShapeProto *state = make_shape(mk, DT_TUPLE, 0);
	state->n_tuple_shapes = 2;
	state->tuple_shapes = ARENA_NEW(&mk->mem, 2, Hlo__ShapeProto *);
	state->tuple_shapes[0] = i32;
	state->tuple_shapes[1] = all;
	*body = make_comp(mk, "body");
	make_instruction *p = make_param(*body, state), *i = make_element(*body, p, 0);
	make_instruction *next = make_op(*body, "add", i32, 2, i, make_s32(*body, 1));
	make_tuple(*body, 2, next, make_op(*body, "tanh", all, 1, make_element(*body, p, 1)));
	*cond = make_comp(mk, "cond");
	p = make_param(*cond, state);
	make_instruction *test = make_op(*cond, "compare", make_shape(mk, DT_PRED, 0), 2,
		make_element(*cond, p, 0), make_s32(*cond, rounds));
	test->comparison_direction = (char *)"LT";
}

static inline make_instruction *gen_loop(struct gen *g, make_instruction *x, struct make_comp *body,
	struct make_comp *cond)
{
	make_instruction *init = make_tuple(g->c, 2, make_s32(g->c, 0), x);
	make_instruction *loop = gen_op(g, "while", init->shape, init, NULL);
	make_calls(loop, &g->mk, 2, body, cond);
	return make_element(g->c, loop, 1);
}

/* A module of about n instructions (at least a few dozen). */
static inline void gen_module(uint32_t n, uint64_t seed, struct buf *out)
{
	enum { ROWS = 64, COLUMNS = 128, LOOP_EVERY = 25 };
	struct gen *g = MEM_NEW(1, struct gen);
	struct make_comp *body, *cond;
	rng_seed(&g->rng, seed);
	g->sum = make_reducer(&g->mk, "add");
	g->max = make_reducer(&g->mk, "maximum");
	gen_loop_parts(g, ROWS, COLUMNS, 10, &body, &cond);
	g->c = make_comp(&g->mk, "main");
	make_instruction *x = make_param(g->c, make_shape(&g->mk, DT_F32, 2, ROWS, COLUMNS));
	make_instruction *w = make_param(g->c, make_shape(&g->mk, DT_F32, 2, COLUMNS, COLUMNS));
	make_instruction *b = make_param(g->c, make_shape(&g->mk, DT_F32, 1, COLUMNS));
	bool looped = false;
	while (g->c->p->n_instructions + 22 < n) {
		x = gen_block(g, x, w, b, ROWS, COLUMNS);
		if (g->block % LOOP_EVERY == 1 && !looped) { /* a body has one caller */
			x = gen_loop(g, x, body, cond);
			looped = true;
		}
	}
	if (!looped)
		gen_loop(g, x, body, cond);
	make_bytes(&g->mk, out);
	make_release(&g->mk);
	mem_free(g);
}

#endif
