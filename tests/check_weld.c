/*
 * check_weld.c - which kernels are welded, and that a welded program computes what it did.
 *
 * The second is told by a hash of what is computed, in which a welded call counts as what is inside.
 */
#include <glob.h>
#include <stdlib.h>
#include <string.h>
#include "base/hash.h"
#include "graph/graph.h"
#include "graph/weld.h"
#include "tests/test.h"

#define TAG "one_kernel"
#define ALL 1e30

static bool is_welded(const struct graph *g, uint32_t v)
{
	const Hlo__FrontendAttributes *all = g->node[v].proto->frontend_attributes;
	bool is = false;

	for (size_t i = 0; all && i < all->n_map; i++)
		is = is || strcmp(all->map[i]->key, TAG) == 0;
	return is;
}

static void hash_comp(const struct graph *g, uint32_t c, const uint64_t *given, uint64_t *hash);

/* The tuple of results inside a welded call; 0: it is none, or has one result. */
static uint32_t made_by_weld(const struct graph *g, uint32_t v)
{
	uint32_t root = g->node[v].opcode == OP_CALL && is_welded(g, v) ? g->comp[node_calls(g, v)[0]].root : 0;

	return root && g->node[root].opcode == OP_TUPLE ? root : 0;
}

/* A node's hash; a call of the welded kind has that of the root inside. */
static uint64_t hash_node(const struct graph *g, uint32_t v, const uint64_t *operand, uint64_t *hash)
{
	const struct node *n = &g->node[v];
	bool welded = n->opcode == OP_CALL && is_welded(g, v);
	uint64_t h = hash64(operand, n->n_operands * sizeof *operand, node_local_hash(g, v, true));

	for (uint32_t k = 0; k < n->n_called; k++) {
		uint32_t root = g->comp[node_calls(g, v)[k]].root;
		hash_comp(g, node_calls(g, v)[k], welded ? operand : NULL, hash);
		h = welded ? hash[root] : hash64(&hash[root], sizeof *hash, h);
	}
	if (n->opcode == OP_GET_TUPLE_ELEMENT && made_by_weld(g, node_operands(g, v)[0]))
		h = hash[node_operands(g, made_by_weld(g, node_operands(g, v)[0]))[n->proto->tuple_index]];
	return h;
}

static void hash_comp(const struct graph *g, uint32_t c, const uint64_t *given, uint64_t *hash)
{
	for (uint32_t v = g->comp[c].first; v < g->comp[c].first + g->comp[c].n_nodes; v++) {
		const struct node *n = &g->node[v];
		uint64_t *operand = MEM_NEW(n->n_operands, uint64_t);
		for (uint32_t k = 0; k < n->n_operands; k++)
			operand[k] = hash[node_operands(g, v)[k]];
		hash[v] = n->opcode == OP_PARAMETER && given ? given[n->proto->parameter_number]
							     : hash_node(g, v, operand, hash);
		mem_free(operand);
	}
}

static uint64_t computed(const struct graph *g)
{
	uint64_t *hash = MEM_NEW(g->n_nodes, uint64_t), all;

	hash_comp(g, g->entry, NULL, hash);
	all = hash[g->comp[g->entry].root];
	mem_free(hash);
	return all;
}

/* Welds the program, checks that it computes the same, and returns how many kernels became how many. */
static struct welded check_welded(const struct graph *g, double most)
{
	struct welding how = {TAG, most};
	struct welded w = {0};
	struct graph after = {0};
	struct buf before = {0}, out = {0};
	struct err err = {{0}};
	uint32_t calls = 0;

	graph_write(g, &before);
	CHECK_INT(weld(before.data, before.len, &how, &out, &w, &err), 0);
	CHECK((w.into > 0) == (out.len > 0));
	if (out.len && CHECK(graph_parse(&after, out.data, out.len, "the welded program", &err) == 0)) {
		for (uint32_t v = 0; v < after.n_nodes; v++)
			calls += is_welded(&after, v);
		CHECK_INT(calls, w.into);
		CHECK(computed(&after) == computed(g));
	}
	CHECK_STR(err.text, "");
	graph_release(&after);
	buf_release(&before);
	buf_release(&out);
	return w;
}

#define F "f32[8] "
#define LESS "less {\n a = f32[] parameter(0)\n b = f32[] parameter(1)\n" \
	" ROOT c = pred[] compare(a, b), direction=LT\n}\n"
#define STATE "(s32[], f32[8]) "
#define BELOW "below {\n s = " STATE "parameter(0)\n i = s32[] get-tuple-element(s), index=0\n" \
	" k = s32[] constant(5)\n ROOT c = pred[] compare(i, k), direction=LT\n}\n"
#define BODY(more) "body {\n s = " STATE "parameter(0)\n i = s32[] get-tuple-element(s), index=0\n" \
	" v = " F "get-tuple-element(s), index=1\n one = s32[] constant(1)\n j = s32[] add(i, one)\n" \
	" a = " F "negate(v)\n" more " d = " F "exponential(b)\n ROOT r = " STATE "tuple(j, d)\n}\n"
#define LOOP " z = s32[] constant(0)\n t = " STATE "tuple(z, x)\n" \
	" l = " STATE "while(t), condition=below, body=body\n y = " F "get-tuple-element(l), index=1\n"
#define SORTED(out, in) " " out " = " F "sort(" in "), dimensions={0}, to_apply=less\n"

static const struct {
	const char *what, *before, *body;
	double most;
	uint32_t kernels, into;
} programs[] = {
	{"one is no row", "", " ROOT a = " F "negate(x)\n", ALL, 0, 0},
	{"a row", "", " a = " F "negate(x)\n ROOT b = " F "exponential(a)\n", ALL, 2, 1},
	{"of what moves too much by itself", "", " a = " F "negate(x)\n ROOT b = " F "exponential(a)\n", 63, 0, 0},
	{"that ends where it would move too much", "", " a = " F "negate(x)\n b = " F "exponential(a)\n"
		" c = " F "abs(b)\n ROOT d = " F "sine(c)\n", 128, 4, 2},
	{"with two results", "", " a = " F "negate(x)\n b = " F "exponential(a)\n"
		" ROOT r = (f32[8], f32[8]) tuple(b, a)\n", ALL, 2, 1},
	{"around what cannot be welded", LESS, " a = " F "negate(x)\n" SORTED("b", "a") " c = " F "exponential(a)\n"
		" d = " F "abs(b)\n ROOT e = " F "add(c, d)\n", ALL, 4, 2},
	{"of what is ready before it", LESS, SORTED("a", "x") " b = " F "negate(x)\n" SORTED("c", "b")
		" d = " F "exponential(b)\n e = " F "add(a, c)\n ROOT f = " F "add(d, e)\n", ALL, 4, 2},
	{"a loop", BODY(" b = " F "abs(a)\n") BELOW, LOOP " ROOT q = " F "negate(y)\n", ALL, 6, 1},
	{"a loop with a sort: rows inside", LESS BODY(" e = " F "abs(a)\n" SORTED("b", "e")) BELOW,
		LOOP " ROOT q = " F "negate(y)\n", ALL, 3, 1},
	{"a loop that is too large: rows inside", BODY(" b = " F "abs(a)\n") BELOW,
		LOOP " ROOT q = " F "negate(y)\n", 150, 3, 1},
	{"a control dependency binds", "", " a = " F "negate(x)\n"
		" b = " F "abs(x), control-predecessors={a}\n"
		" c = " F "sine(x)\n ROOT d = " F "add(b, c)\n", ALL, 2, 1},
	{"... also what does nothing: not inside a row", "", " p = " F "sine(x)\n a = " F "negate(p)\n"
		" t = " F "bitcast(a), control-predecessors={p}\n b = " F "abs(t)\n ROOT c = " F "tan(b)\n", ALL, 2, 1},
	{"... nor when another waits for it", "", " a = " F "negate(x)\n t = " F "bitcast(a)\n b = " F "abs(t)\n"
		" z = " F "sine(x), control-predecessors={t}\n ROOT r = (f32[8], f32[8]) tuple(b, z)\n", ALL, 0, 0},
	{"no product in a type that the generator does not multiply", "", " h = bf16[8] convert(x)\n"
		" a = bf16[2,4] reshape(h)\n b = bf16[2,2] dot(a, a), lhs_contracting_dims={1}, "
		"rhs_contracting_dims={1}\n ROOT c = bf16[2,2] negate(b)\n", ALL, 2, 1},
	{"a small product", "", " a = f32[2,4] reshape(x)\n b = f32[2,2] dot(a, a), lhs_contracting_dims={1}, "
		"rhs_contracting_dims={1}\n ROOT c = f32[2,2] negate(b)\n", ALL, 3, 1},
	{"a library's kernel is none", "fused {\n p = " F "parameter(0)\n ROOT n = " F "negate(p)\n}\n",
		" a = " F "fusion(x), kind=kCustom, calls=fused\n ROOT b = " F "fusion(a), kind=kLoop, calls=fused\n",
		ALL, 0, 0},
	{"nor is what has an effect", "", " a = " F "custom-call(x), custom_call_target=\"there\"\n"
		" ROOT b = " F "negate(a)\n", ALL, 0, 0},
};

static void what_is_welded(void)
{
	for (size_t i = 0; i < sizeof programs / sizeof *programs; i++) {
		struct buf text = {0};
		struct graph g = {0};
		struct err err = {{0}};
		struct welded w = {0};

		buf_addf(&text, "HloModule m\n%sENTRY main {\n x = " F "parameter(0)\n%s}\n", programs[i].before,
			programs[i].body);
		if (CHECK(graph_parse(&g, text.data, text.len, "made", &err) == 0))
			w = check_welded(&g, programs[i].most);
		CHECK_STR(err.text, "");
		if (!CHECK(w.kernels == programs[i].kernels) || !CHECK(w.into == programs[i].into))
			printf("%s: %u kernels became %u\n", programs[i].what, w.kernels, w.into);
		CHECK_NEAR(w.starts, (w.kernels - w.into) * (strstr(programs[i].what, "rows inside") ? 5 : 1), 1e-9);
		graph_release(&g);
		buf_release(&text);
	}
}

static void real_programs_stay_what_they_are(void)
{
	static const double sizes[] = {1 << 16, ALL};
	uint32_t welded = 0;
	glob_t found;

	CHECK_INT(glob("examples/graphs/[th][ie]*/*.pb.zst", 0, NULL, &found), 0);
	for (size_t i = 0; i < found.gl_pathc; i++) {
		struct graph g = {0};
		struct err err = {{0}};
		if (CHECK(graph_read(&g, found.gl_pathv[i], &err) == 0))
			for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++)
				welded += check_welded(&g, sizes[k]).kernels;
		graph_release(&g);
	}
	CHECK(welded > 1000);
	globfree(&found);
}

static void what_cannot_be_read_is_refused(void)
{
	struct welding how = {TAG, ALL};
	struct welded w;
	struct buf out = {0};
	struct err err = {{0}};

	CHECK_INT(weld("no program", 10, &how, &out, &w, &err), -1);
	CHECK(err.text[0] && !out.len && !w.into);
}

int main(void)
{
	RUN(what_is_welded);
	RUN(real_programs_stay_what_they_are);
	RUN(what_cannot_be_read_is_refused);
	return test_done();
}
