/*
 * check_graph_hash.c - which values are the same value: the structural hash (graph/shash.c).
 */
#include <stdlib.h>
#include "bench/gen_module.h"
#include "tests/make_graph.h"

/* x * y + x * 2, then tanh; the same with the middle fused, with two results fused, and wrapped. */
enum fused { NOT_FUSED, ONE_FUSED, TWO_FUSED, WRAPPED };

static void fused_program(struct make *mk, enum fused how)
{
	Hlo__ShapeProto *f = make_shape(mk, DT_F32, 1, 8);
	struct make_comp *in = how != NOT_FUSED ? make_comp(mk, "fused") : NULL, *c;
	make_instruction *a, *b, *sum, *product, *t;
	if (how == WRAPPED) {
		make_op(in, "tanh", f, 1, make_param(in, f));
	} else if (in) {
		b = make_param(in, f); /* parameters in another order than in the program */
		a = make_param(in, f);
		product = make_op(in, "multiply", f, 2, a, b);
		sum = make_op(in, "add", f, 2,
			make_op(in, "multiply", f, 2, a, make_op(in, "broadcast", f, 1, make_f32(in, 2))), product);
		if (how == TWO_FUSED)
			make_tuple(in, 2, product, sum);
	}
	c = make_comp(mk, "main");
	make_instruction *x = make_param(c, f), *y = make_param(c, f);
	if (how == NOT_FUSED || how == WRAPPED) {
		product = make_op(c, "multiply", f, 2, x, y);
		sum = make_op(c, "add", f, 2, product,
			make_op(c, "multiply", f, 2, x, make_op(c, "broadcast", f, 1, make_f32(c, 2))));
	} else {
		Hlo__ShapeProto *shape = in->p->instructions[in->p->n_instructions - 1]->shape;
		sum = make_calls(make_op(c, "fusion", shape, 2, y, x), mk, 1, in);
		if (how == TWO_FUSED)
			sum = make_element(c, sum, 1);
	}
	if (how == WRAPPED)
		t = make_calls(make_op(c, "fusion", f, 1, sum), mk, 1, in);
	else
		t = make_op(c, "tanh", f, 1, sum);
	make_op(c, "negate", f, 1, t);
}

/* The hash of the root of a program that was made; releases the program. */
static uint64_t hash_of_made(struct make *mk)
{
	struct graph g = {0};
	uint64_t h = 0, hash[64];
	if (make_graph(&g, make_module(mk))) {
		graph_structural_hash(&g, hash);
		h = hash[g.comp[g.entry].root];
	}
	graph_release(&g);
	make_release(mk);
	return h;
}

static uint64_t root_hash(enum fused how)
{
	struct make mk = {0};
	fused_program(&mk, how);
	return hash_of_made(&mk);
}

static void fusion_leaves_no_trace(void)
{
	uint64_t plain = root_hash(NOT_FUSED);
	CHECK(plain != 0);
	CHECK(root_hash(ONE_FUSED) == plain);
	CHECK(root_hash(TWO_FUSED) == plain);
	CHECK(root_hash(WRAPPED) == plain);
}

/* Hash of a sort that compares OP(a) with OP(b), in one fusion or plainly. */
static uint64_t sort_hash(bool fused, const char *opcode)
{
	struct make mk = {0};
	Hlo__ShapeProto *one = make_shape(&mk, DT_F32, 0), *f = make_shape(&mk, DT_F32, 1, 8);
	struct make_comp *in = fused ? make_comp(&mk, "fused") : NULL, *less, *c;
	if (in) {
		make_instruction *b = make_param(in, one), *a = make_param(in, one);
		b = make_op(in, opcode, one, 1, b);
		make_op(in, "compare", make_shape(&mk, DT_PRED, 0), 2, make_op(in, opcode, one, 1, a), b);
	}
	less = make_comp(&mk, "less");
	make_instruction *a = make_param(less, one), *b = make_param(less, one);
	if (in) {
		make_calls(make_op(less, "fusion", make_shape(&mk, DT_PRED, 0), 2, b, a), &mk, 1, in);
	} else {
		a = make_op(less, opcode, one, 1, a);
		make_op(less, "compare", make_shape(&mk, DT_PRED, 0), 2, a, make_op(less, opcode, one, 1, b));
	}
	c = make_comp(&mk, "main");
	make_instruction *sort = make_op(c, "sort", f, 1, make_param(c, f));
	make_dims(c, sort, 1, 0);
	make_calls(sort, &mk, 1, less);
	return hash_of_made(&mk);
}

static void fusion_in_what_is_applied(void)
{
	CHECK(sort_hash(false, "abs") != 0);
	CHECK(sort_hash(true, "abs") == sort_hash(false, "abs"));
	CHECK(sort_hash(true, "negate") == sort_hash(false, "negate"));
	CHECK(sort_hash(true, "abs") != sort_hash(true, "negate"));
}

/* Hash of OP(a, b) against OP(b, a). */
static bool commutes(const char *opcode)
{
	struct make mk = {0};
	struct graph g = {0};
	uint64_t hash[16] = {0};
	struct make_comp *c = make_comp(&mk, "main");
	Hlo__ShapeProto *f = make_shape(&mk, DT_F32, 1, 8);
	make_instruction *a = make_param(c, f), *b = make_param(c, f);
	make_instruction *x = make_op(c, opcode, f, 2, a, b), *y = make_op(c, opcode, f, 2, b, a);
	make_tuple(c, 2, x, y);
	if (make_graph(&g, make_module(&mk)))
		graph_structural_hash(&g, hash);
	bool same = g.n_nodes && hash[graph_find(&g, x->name)] == hash[graph_find(&g, y->name)];
	graph_release(&g);
	make_release(&mk);
	return same;
}

static void commutative(void)
{
	CHECK(commutes("add"));
	CHECK(commutes("multiply"));
	CHECK(commutes("maximum"));
	CHECK(!commutes("subtract"));
	CHECK(!commutes("divide"));
	CHECK(!commutes("power"));
}

/*
 * Two loops of equal body and condition: over different values, all their nodes differ; over the
 * same value they are the same. A body that does something else makes another loop.
 */
static void loops_differ(void)
{
	struct graph g = {0};
	uint64_t hash[256] = {0};
	struct make_comp *body[4], *cond[4], *c;
	struct gen *gen = MEM_NEW(1, struct gen);
	make_instruction *loop[4], *in;
	rng_seed(&gen->rng, 1);
	for (int i = 0; i < 4; i++) {
		gen_loop_parts(gen, 4, 4, 10, &body[i], &cond[i]);
		for (size_t k = 0; k < body[i]->p->n_instructions; k++) {
			in = body[i]->p->instructions[k];
			in->name = arena_printf(&gen->mk.mem, "b%d.%zu", i, k);
			if (i == 3 && strcmp(in->opcode, "tanh") == 0)
				in->opcode = (char *)"cosine";
		}
	}
	c = gen->c = make_comp(&gen->mk, "main");
	Hlo__ShapeProto *f = make_shape(&gen->mk, DT_F32, 2, 4, 4);
	make_instruction *x = make_param(c, f), *y = make_param(c, f);
	for (int i = 0; i < 4; i++)
		loop[i] = gen_loop(gen, i == 1 ? y : x, body[i], cond[i]);
	make_tuple(c, 4, loop[0], loop[1], loop[2], loop[3]);
	if (make_graph(&g, make_module(&gen->mk)) && CHECK(g.n_nodes < 256)) {
		graph_structural_hash(&g, hash);
		uint32_t v[4];
		for (int i = 0; i < 4; i++)
			v[i] = graph_find(&g, loop[i]->name);
		CHECK(hash[v[0]] != hash[v[1]]); /* other value */
		CHECK(hash[v[0]] == hash[v[2]]); /* the same loop twice */
		CHECK(hash[v[0]] != hash[v[3]]); /* other body */
		for (size_t k = 0; k < body[0]->p->n_instructions; k++) {
			char name[3][40];
			for (int i = 0; i < 3; i++)
				snprintf(name[i], sizeof(name[i]), "b%d.%zu", i, k);
			uint32_t a = graph_find(&g, name[0]), b = graph_find(&g, name[1]), d = graph_find(&g, name[2]);
			if (g.node[a].opcode != OP_CONSTANT) {
				CHECK(hash[a] != hash[b]);
			}
			CHECK(hash[a] == hash[d]);
		}
	}
	graph_release(&g);
	make_release(&gen->mk);
	mem_free(gen);
}

/*
 * A computation that is called twice, one that is never called, and an applied one that applies another are all hashed,
 * in time that stays proportional to the program.
 */
static void shared_and_dead(void)
{
	struct make mk = {0};
	struct graph g = {0};
	Hlo__ShapeProto *f = make_shape(&mk, DT_F32, 0);
	struct make_comp *inner = make_comp(&mk, "inner"), *c;
	make_op(inner, "negate", f, 1, make_param(inner, f));
	for (int i = 0; i < 200; i++) { /* each calls the one before twice: 2^200 walks, if walked anew */
		c = make_comp(&mk, "outer");
		make_instruction *p = make_param(c, f);
		p = make_calls(make_op(c, "call", f, 1, p), &mk, 1, inner);
		make_calls(make_op(c, "call", f, 1, p), &mk, 1, inner);
		inner = c;
	}
	struct make_comp *map = make_comp(&mk, "mapped"), *lone = make_comp(&mk, "lone");
	make_op(map, "negate", f, 1, make_param(map, f));
	make_op(lone, "abs", f, 1, make_param(lone, f))->name = (char *)"unused";
	for (int i = 0; i < 200; i++) {
		c = make_comp(&mk, "mapper");
		make_instruction *p = make_param(c, f);
		p = make_calls(make_op(c, "map", f, 1, p), &mk, 1, map);
		make_calls(make_op(c, "map", f, 1, p), &mk, 1, map);
		map = c;
	}
	c = make_comp(&mk, "main");
	make_instruction *x = make_calls(make_op(c, "call", f, 1, make_param(c, f)), &mk, 1, inner);
	make_calls(make_op(c, "map", f, 1, x), &mk, 1, map);
	if (make_graph(&g, make_module(&mk))) {
		uint64_t *hash = MEM_NEW(g.n_nodes, uint64_t);
		graph_structural_hash(&g, hash);
		uint32_t dead = graph_find(&g, "unused");
		for (uint32_t v = 0; v < g.n_nodes; v++)
			CHECK_INT(hash[v] == 0, g.node[v].comp == g.node[dead].comp);
		mem_free(hash);
	}
	graph_release(&g);
	make_release(&mk);
}

int main(void)
{
	RUN(fusion_leaves_no_trace);
	RUN(fusion_in_what_is_applied);
	RUN(commutative);
	RUN(loops_differ);
	RUN(shared_and_dead);
	return test_done();
}
