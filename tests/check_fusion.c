/*
 * check_fusion.c - the fusion space on programs small enough to check by eye, and properties on all.
 */
#include <stdlib.h>
#include "base/io.h"
#include "space/fusion/own.h"
#include "tests/opcodes.h"
#include "tests/test.h"

static const char *const programs[] = {"examples/graphs/tiny/chain.pb.zst", "examples/graphs/tiny/reduction.pb.zst",
	"examples/graphs/tiny/loop.pb.zst", "examples/graphs/tiny/branch.pb.zst",
	"examples/graphs/tiny/scatter.pb.zst", "examples/graphs/tiny/attention.pb.zst",
	"examples/graphs/tiny/convolution.pb.zst", "examples/graphs/tiny/update.pb.zst",
	"examples/graphs/tiny/scan.pb.zst", "examples/graphs/tiny/sort.pb.zst",
	"examples/graphs/held-out/graph-network.pb.zst"};
#define N_PROGRAMS (sizeof programs / sizeof *programs)

struct subject {
	struct graph g;
	struct space *s;
	uint8_t *a, *b;
};

static bool open_subject(struct subject *t, const char *path, const char *kind)
{
	struct err err = {0};

	*t = (struct subject){0};
	if (graph_read(&t->g, path, &err) < 0 || !(t->s = space_open(kind, "cpu", &t->g, NULL, 0, &err))) {
		printf("%s\n", err.text);
		return CHECK(false && "opened");
	}
	t->a = mem_zalloc(t->s->n_sites + 1, 1);
	t->b = mem_zalloc(t->s->n_sites + 1, 1);
	return true;
}

static void close_subject(struct subject *t)
{
	mem_free(t->a);
	mem_free(t->b);
	space_free(t->s);
	graph_release(&t->g);
}

/* The module of a configuration, read again. */
static bool applied(struct subject *t, const uint8_t *config, struct graph *out)
{
	struct buf b = {0};
	struct err err = {0};
	bool ok = t->s->ops->apply(t->s, config, &b, &err) == 0 && graph_parse(out, b.data, b.len, "applied",
		&err) == 0;

	if (!CHECK(ok))
		printf("%s\n", err.text);
	buf_release(&b);
	return ok;
}

static void applied_programs_hold_the_groups_asked(void)
{
	struct rng r;

	rng_seed(&r, 1);
	for (size_t i = 0; i < N_PROGRAMS; i++)
		for (int d = 10 - test_cases(10); d < 10; d++) {
			struct subject t;
			struct check_result c;
			struct buf b = {0};
			struct err err = {0};
			if (!open_subject(&t, programs[i], d % 2 ? "fusion" : "fusion/binary"))
				return;
			space_random(t.s, d / 9.0, &r, t.a);
			CHECK(t.s->ops->apply(t.s, t.a, &b, &err) == 0);
			CHECK(t.s->ops->check(t.s, t.a, b.data, b.len, &c, &err) == 0);
			CHECK_INT(c.equal, c.asked);
			CHECK_INT(c.found, c.asked);
			buf_release(&b);
			close_subject(&t);
		}
}

/* A value of the program has the same structural hash, whatever is fused. */
static void applying_changes_no_value(void)
{
	struct rng r;

	rng_seed(&r, 2);
	for (size_t i = 0; i < N_PROGRAMS; i++) {
		struct subject t;
		struct graph h;
		if (!open_subject(&t, programs[i], "fusion"))
			return;
		for (int d = 5 - test_cases(5); d < 5; d++) {
			uint64_t *before, *after;
			space_random(t.s, d / 4.0, &r, t.a);
			if (!applied(&t, t.a, &h))
				break;
			before = MEM_NEW(t.g.n_nodes, uint64_t);
			after = MEM_NEW(h.n_nodes, uint64_t);
			graph_structural_hash(&t.g, before);
			graph_structural_hash(&h, after);
			CHECK(before[t.g.comp[t.g.entry].root] == after[h.comp[h.entry].root]);
			mem_free(before);
			mem_free(after);
			graph_release(&h);
		}
		close_subject(&t);
	}
}

/*
 * This holds for twins as well: their readers tell them apart. These programs have many, because common subexpressions
 * were not eliminated yet.
 */
static void decoding_what_was_applied_gives_it_back(void)
{
	struct rng r;

	rng_seed(&r, 3);
	for (size_t i = 0; i < N_PROGRAMS; i++) {
		struct subject t;
		struct graph h;
		struct buf none = {0};
		if (!open_subject(&t, programs[i], "fusion"))
			return;
		for (int d = 5 - test_cases(5); d < 5; d++) {
			struct fusion_report report;
			space_random(t.s, d / 4.0, &r, t.a);
			if (!applied(&t, t.a, &h))
				break;
			fusion_decode(t.s, &h, &report);
			CHECK_INT(report.matched, t.s->n_sites);
			CHECK_INT(t.s->account.equal, t.s->account.parts);
			for (uint32_t k = 0; k < t.s->n_sites; k++)
				CHECK_INT(t.s->site[k].dflt, t.a[k]);
			CHECK_INT(fusion_restate(t.s, &h, &none), 0);
			graph_release(&h);
		}
		close_subject(&t);
	}
}

static bool same_module(struct subject *t, const uint8_t *x, const uint8_t *y)
{
	struct buf a = {0}, b = {0};
	struct err err = {0};
	bool same;

	t->s->ops->apply(t->s, x, &a, &err);
	t->s->ops->apply(t->s, y, &b, &err);
	same = a.len == b.len && memcmp(a.data, b.data, a.len) == 0;
	buf_release(&a);
	buf_release(&b);
	return same;
}

static void flipping_twice_changes_nothing(void)
{
	struct rng r;

	rng_seed(&r, 4);
	for (size_t i = 0; i < N_PROGRAMS; i++) {
		struct subject t;
		if (!open_subject(&t, programs[i], "fusion"))
			return;
		space_random(t.s, 0.5, &r, t.a);
		memcpy(t.b, t.a, t.s->n_sites);
		uint64_t h = config_hash(t.s, t.a);
		for (uint32_t k = 0; k < t.s->n_sites && k < (uint32_t)test_cases(20); k++) {
			uint8_t old = t.b[k], other = (uint8_t)((old + 1) % t.s->site[k].choices);
			uint64_t there = config_flip(t.b, h, k, other);
			CHECK(there == config_hash(t.s, t.b) && there != h);
			CHECK(config_flip(t.b, there, k, old) == h);
		}
		CHECK(same_module(&t, t.a, t.b));
		close_subject(&t);
	}
}

static void equal_configurations_have_no_region(void)
{
	for (size_t i = 0; i < N_PROGRAMS; i++) {
		struct subject t;
		struct regions rg = {0};
		struct err err = {0};
		if (!open_subject(&t, programs[i], "fusion"))
			return;
		CHECK(t.s->ops->region(t.s, t.a, t.a, &rg, &err) == 0);
		CHECK_INT(rg.n, 0);
		regions_release(&rg);
		close_subject(&t);
	}
}

/* Both sides of a region are whole programs with one interface, and the way back swaps the key. */
static void regions_are_pairs_of_programs(void)
{
	struct rng r;

	rng_seed(&r, 5);
	for (size_t i = 0; i < N_PROGRAMS; i++) {
		struct subject t;
		if (!open_subject(&t, programs[i], "fusion"))
			return;
		for (uint32_t k = 0; k < t.s->n_sites && k < (uint32_t)test_cases(60); k++) {
			struct regions there = {0}, back = {0};
			struct err err = {0};
			uint32_t site = (uint32_t)rng_below(&r, t.s->n_sites);
			space_random(t.s, rng_unit(&r), &r, t.a);
			memcpy(t.b, t.a, t.s->n_sites);
			t.b[site] = (uint8_t)((t.b[site] + 1) % t.s->site[site].choices);
			CHECK(t.s->ops->region(t.s, t.a, t.b, &there, &err) == 0);
			CHECK(t.s->ops->region(t.s, t.b, t.a, &back, &err) == 0);
			if (!CHECK_INT(there.n, 1) || !CHECK_INT(back.n, 1))
				break;
			CHECK(there.v[0].key[0] != there.v[0].key[1]);
			for (int side = 0; side < 2; side++) {
				struct buf *b = side ? &there.v[0].b : &there.v[0].a;
				struct graph g;
				if (!CHECK(graph_parse(&g, b->data, b->len, "region", &err) == 0))
					printf("%s\n", err.text);
				graph_release(&g);
			}
			regions_release(&there);
			regions_release(&back);
		}
		close_subject(&t);
	}
}

/* Returns the number of results of a region, without the one that every region has (nothing.c). */
static size_t results_of(const struct buf *b)
{
	struct graph g;
	struct err err = {0};
	size_t n = 0;

	if (CHECK(graph_parse(&g, b->data, b->len, "region", &err) == 0))
		n = g.node[g.comp[g.entry].root].n_operands - 1;
	graph_release(&g);
	return n;
}

/* Cuts out the region of a flip of exp, in a program in which tanh reads a product, and `more` may read it, too. */
static void region_of(const char *text, size_t *anew, size_t *results, size_t *tanhs)
{
	struct graph g;
	struct space *s;
	struct regions rg = {0};
	struct err err = {0};
	uint8_t a[8] = {0}, b[8] = {0};

	*anew = *results = 99;
	if (!CHECK(graph_parse(&g, text, strlen(text), "text", &err) == 0)) {
		printf("%s\n", err.text);
		graph_release(&g);
		return;
	}
	s = space_open("fusion", "cpu", &g, NULL, 0, &err);
	if (CHECK(s && s->n_sites > 0)) {
		for (uint32_t i = 0; i < s->n_sites; i++) /* tanh into exp, or not */
			b[i] = g.node[s->site[i].node].opcode == OP_TANH;
		CHECK(s->ops->region(s, a, b, &rg, &err) == 0);
		if (CHECK_INT(rg.n, 1)) {
			*anew = opcodes_in(&rg.v[0].a, OP_MAXIMUM);
			CHECK_INT(opcodes_in(&rg.v[0].b, OP_MAXIMUM), *anew);
			CHECK_INT(opcodes_in(&rg.v[0].a, OP_FUSION), 1);
			CHECK_INT(opcodes_in(&rg.v[0].b, OP_FUSION), 2);
			*results = results_of(&rg.v[0].a);
			tanhs[0] = opcodes_in(&rg.v[0].a, OP_TANH);
			tanhs[1] = opcodes_in(&rg.v[0].b, OP_TANH);
		}
	}
	regions_release(&rg);
	space_free(s);
	graph_release(&g);
}

static void region_of_product(const char *product, const char *more, size_t *anew, size_t *results, size_t *tanhs)
{
	char text[900];

	snprintf(text, sizeof text,
		"HloModule m\nENTRY e {\n  w = f32[8,8]{1,0} parameter(0)\n  %s\n"
		"  t = f32[8,8]{1,0} tanh(c)\n  x = f32[8,8]{1,0} exponential(t)\n  %s\n}\n", product, more);
	region_of(text, anew, results, tanhs);
}

/* A region may overwrite a value that nothing reads after it, and no other value. */
static void regions_own_what_ends_in_them(void)
{
	static const char dot[] = "c = f32[8,8]{1,0} dot(w, w), lhs_contracting_dims={1}, rhs_contracting_dims={0}";
	size_t anew, results, tanhs[2];

	region_of_product(dot, "ROOT r = f32[8,8]{1,0} dot(x, w), lhs_contracting_dims={1}, rhs_contracting_dims={0}",
		&anew, &results, tanhs);
	CHECK_INT(anew, 1);
	CHECK_INT(results, 1);
	region_of_product(dot, "ROOT r = f32[8,8]{1,0} dot(x, c), lhs_contracting_dims={1}, rhs_contracting_dims={0}",
		&anew, &results, tanhs);
	CHECK_INT(anew, 0);
	region_of_product("c = f32[8,8]{1,0} bitcast(w)",
		"ROOT r = f32[8,8]{1,0} dot(x, x), lhs_contracting_dims={1}, rhs_contracting_dims={0}", &anew, &results,
		tanhs);
	CHECK_INT(anew, 0);
}

/* Weights of four bits are numbers as any others: what unpacks them need not be written to memory. */
static void four_bits_are_absorbed(void)
{
	static const char text[] = "HloModule m\nENTRY e {\n  w = s8[8,8] parameter(0)\n  x = f32[8,8] parameter(1)\n"
		"  q = s4[8,8] convert(w)\n  f = f32[8,8] convert(q)\n  ROOT y = f32[8,8] multiply(x, f)\n}\n";
	struct graph g;
	struct err err = {0};
	struct space *s = NULL;

	if (CHECK(graph_parse(&g, text, strlen(text), "text", &err) == 0) &&
		CHECK((s = space_open("fusion", "cpu", &g, NULL, 0, &err)) != NULL) && CHECK_INT(s->n_sites, 2)) {
		CHECK_STR(g.node[s->site[0].node].proto->name, "q");
		CHECK_STR(g.node[s->site[1].node].proto->name, "f");
	}
	space_free(s);
	graph_release(&g);
}

/* A parameter lasts unless it was donated; the state of a loop and the arguments of a call do not last. */
static void parameters_last_and_states_do_not(void)
{
	static const char body[] =
		"{\n  p = (f32[8,8]{1,0}) parameter(0)\n  c = f32[8,8]{1,0} get-tuple-element(p), index=0\n"
		"  t = f32[8,8]{1,0} tanh(c)\n  x = f32[8,8]{1,0} "
		"exponential(t)\n  ROOT r = (f32[8,8]{1,0}) tuple(x)\n}\n";
	static const char condition[] =
		"n {\n  q = (f32[8,8]{1,0}) parameter(0)\n  ROOT y = pred[] constant(false)\n}\n";
	static const char given[] =
		"ENTRY e {\n  c = f32[8,8]{1,0} parameter(0)\n  t = f32[8,8]{1,0} "
		"tanh(c)\n  ROOT x = f32[8,8]{1,0} exponential(t)\n}\n";
	static const char entry[] = "ENTRY e {\n  w = (f32[8,8]{1,0}) parameter(0)\n  ROOT r = (f32[8,8]{1,0}) ";
	size_t anew, results, tanhs[2];
	char text[900];

	snprintf(text, sizeof text, "HloModule m\nb %s%s%swhile(w), condition=n, body=b\n}\n", body, condition, entry);
	region_of(text, &anew, &results, tanhs);
	CHECK_INT(anew, 1);
	snprintf(text, sizeof text, "HloModule m\nb %s%scall(w), to_apply=b\n}\n", body, entry);
	region_of(text, &anew, &results, tanhs);
	CHECK_INT(anew, 0);
	snprintf(text, sizeof text, "HloModule m, input_output_alias={ {}: (0, {}, may-alias) }\n%s", given);
	region_of(text, &anew, &results, tanhs);
	CHECK_INT(anew, 1);
	snprintf(text, sizeof text, "HloModule m\n%s", given);
	region_of(text, &anew, &results, tanhs);
	CHECK_INT(anew, 0);
}

/* A value that one side reads and the other computes inside a kernel is computed by both from the same numbers. */
static void both_sides_know_the_same_numbers(void)
{
	size_t anew, results, tanhs[2];

	region_of_product("c = f32[8,8]{1,0} dot(w, w), lhs_contracting_dims={1}, rhs_contracting_dims={0}",
		"ROOT r = f32[8,8]{1,0} dot(x, t), lhs_contracting_dims={1}, rhs_contracting_dims={0}", &anew, &results,
		tanhs);
	CHECK_INT(tanhs[0], 1);
	CHECK_INT(tanhs[1], 2);
	CHECK_INT(results, 2);
	region_of_product("c = f32[8,8]{1,0} dot(w, w), lhs_contracting_dims={1}, rhs_contracting_dims={0}",
		"ROOT r = f32[8,8]{1,0} dot(x, w), lhs_contracting_dims={1}, rhs_contracting_dims={0}", &anew, &results,
		tanhs);
	CHECK_INT(tanhs[0], 1);
	CHECK_INT(tanhs[1], 1);
}

/* Compares with the slow way, which looks at every group of both configurations. */
static void affected_groups_are_those_that_differ(void)
{
	struct rng r;

	rng_seed(&r, 6);
	for (uint32_t round = 0; round < (uint32_t)test_cases(40); round++) {
		struct subject t;
		struct nodes ra = {0}, rb = {0}, ma = {0}, mb = {0}, want = {0};
		if (!open_subject(&t, programs[round % N_PROGRAMS], "fusion"))
			return;
		space_random(t.s, rng_unit(&r), &r, t.a);
		memcpy(t.b, t.a, t.s->n_sites);
		uint32_t site = (uint32_t)rng_below(&r, t.s->n_sites);
		t.b[site] = (uint8_t)((t.b[site] + 1) % t.s->site[site].choices);
		fusion_affected(t.s, t.a, t.b, &site, 1, &ra, &rb);
		for (uint32_t v = 0; v < t.g.n_nodes; v++) {
			ma.n = mb.n = 0;
			if (!fusion_kept(t.s, t.a, v))
				continue;
			group_walk(t.s, t.a, v, &ma);
			if (fusion_kept(t.s, t.b, v))
				group_walk(t.s, t.b, v, &mb);
			if (ma.n != mb.n || memcmp(ma.v, mb.v, ma.n * sizeof *ma.v) != 0)
				nodes_add(&want, v);
		}
		/* groups may also differ in edges alone, so: all wanted are there */
		for (size_t k = 0, j = 0; k < want.n; k++) {
			while (j < ra.n && ra.v[j] < want.v[k])
				j++;
			CHECK(j < ra.n && ra.v[j] == want.v[k]);
		}
		nodes_release(&ra);
		nodes_release(&rb);
		nodes_release(&ma);
		nodes_release(&mb);
		nodes_release(&want);
		close_subject(&t);
	}
}

/* The contexts of a few nodes, found by walking, equal those found for all nodes at once. */
static void contexts_agree(void)
{
	struct subject t;
	struct rng r;

	rng_seed(&r, 7);
	if (!open_subject(&t, programs[N_PROGRAMS - 1], "fusion"))
		return;
	uint32_t *all = MEM_NEW(t.g.n_nodes, uint32_t);
	float *many = MEM_NEW(t.g.n_nodes * CTX_COUNT, float), few[CTX_COUNT];
	space_random(t.s, 0.6, &r, t.a);
	for (uint32_t v = 0; v < t.g.n_nodes; v++)
		all[v] = v;
	t.s->ops->context(t.s, t.a, all, t.g.n_nodes, many);
	for (uint32_t v = 0; v < t.g.n_nodes; v += 7) {
		t.s->ops->context(t.s, t.a, &v, 1, few);
		for (int k = 0; k < CTX_COUNT; k++)
			if (k < CTX_GROUP_INPUTS) /* of equally large groups, either may be described */
				CHECK_NEAR(few[k], many[v * CTX_COUNT + (unsigned)k], 0);
	}
	mem_free(all);
	mem_free(many);
	close_subject(&t);
}

/* Returns how many kernels some groups are: each is one, except bitcasts that stand alone. */
static uint32_t kernels_of(struct subject *t, const uint8_t *config, const struct nodes *roots)
{
	struct nodes members = {0};
	uint32_t n = 0;

	for (size_t i = 0; i < roots->n; i++) {
		members.n = 0;
		group_walk(t->s, config, roots->v[i], &members);
		n += members.n > 1 || t->s->graph->node[roots->v[i]].opcode != OP_BITCAST;
	}
	nodes_release(&members);
	return n;
}

/* An effect counts the kernels that the region of the flip has. */
static void effects_count_what_regions_hold(void)
{
	struct subject t;
	struct rng r;

	rng_seed(&r, 8);
	if (!open_subject(&t, programs[N_PROGRAMS - 1], "fusion"))
		return;
	for (int i = 0; i < test_cases(200); i++) {
		float effect[2 * EFFECT_COUNT];
		struct nodes ra = {0}, rb = {0};
		uint32_t site = (uint32_t)rng_below(&r, t.s->n_sites);
		space_random(t.s, rng_unit(&r), &r, t.a);
		memcpy(t.b, t.a, t.s->n_sites);
		t.b[site] = (uint8_t)((t.b[site] + 1) % t.s->site[site].choices);
		fusion_affected(t.s, t.a, t.b, &site, 1, &ra, &rb);
		t.s->ops->effect(t.s, t.a, site, t.b[site], effect);
		CHECK_INT(effect[EFFECT_PARTS], kernels_of(&t, t.a, &ra));
		CHECK_INT(effect[EFFECT_COUNT + EFFECT_PARTS], kernels_of(&t, t.b, &rb));
		CHECK(t.a[site] != t.b[site]);
		nodes_release(&ra);
		nodes_release(&rb);
	}
	close_subject(&t);
}

int main(void)
{
	RUN(effects_count_what_regions_hold);
	RUN(applied_programs_hold_the_groups_asked);
	RUN(applying_changes_no_value);
	RUN(decoding_what_was_applied_gives_it_back);
	RUN(flipping_twice_changes_nothing);
	RUN(equal_configurations_have_no_region);
	RUN(regions_are_pairs_of_programs);
	RUN(regions_own_what_ends_in_them);
	RUN(four_bits_are_absorbed);
	RUN(parameters_last_and_states_do_not);
	RUN(both_sides_know_the_same_numbers);
	RUN(affected_groups_are_those_that_differ);
	RUN(contexts_agree);
	return test_done();
}
