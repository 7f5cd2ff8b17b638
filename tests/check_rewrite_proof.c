/*
 * check_rewrite_proof.c - proves every rule of rewriting.
 *
 * Small programs with all numberings of dimensions are computed before and after, in two rings, and must give the same
 * numbers. The proof can fail: if any one number that a rule writes is off by one, the results must differ. What a rule
 * does with the bits of numbers has no meaning in a ring, so such rules have tests of their own, on a real compiler.
 *
 * PROOF_EACH=1 in the environment tries all cases, PROOF_EACH=2 every second one, as tests/full_rewrite_proof.sh does.
 * By default every 23rd is tried, or fewer if test_cases says so; that only shows that no memory is misused.
 */
#include <stdlib.h>
#include <unistd.h>
#include "graph/ring.h"
#include "hlo/library.h"
#include "space/space.h"
#include "space/rewrite/own.h"
#include "tests/rewrite_cases.h"
#include "tests/rewrite_chains.h"
#include "tests/rewrite_complex.h"
#include "tests/rewrite_few.h"
#include "tests/rewrite_library.h"
#include "tests/rewrite_loops.h"
#include "tests/rewrite_merges.h"
#include "tests/rewrite_narrow.h"
#include "tests/rewrite_patterns.h"
#include "tests/rewrite_picks.h"
#include "tests/rewrite_spoils.h"
#include "tests/rewrite_turns.h"
#include "tests/rewrite_unpools.h"
#include "tests/rewrite_windows.h"
#include "tests/rewritten.h"
#include "tests/test.h"

/* Rules whose operations no ring has, and the tests that prove them; nothing here counts as a proof of these. */
static const struct {
	const char *rule, *test;
} elsewhere[] = {{"sort-by-keys", "tests/full_sort.c"}, {"sort-by-places", "tests/full_sort.c"},
	{"sort-by-network", "tests/full_sort.c"},
	{"first-of-the-largest", "tests/full_sort.c"}, {"largest-in-32-bits", "tests/full_sort.c"},
	{"sine-as-polynomial", "tests/full_functions.c"}, {"cosine-as-polynomial", "tests/full_functions.c"},
	{"tangent-as-polynomials", "tests/full_functions.c"},
	{"power-as-polynomials", "tests/full_functions.c"}, {"cube-root-as-polynomials", "tests/full_functions.c"},
	{"angle-as-polynomial", "tests/full_functions.c"}, {"remainder-by-steps", "tests/full_functions.c"},
	{"inverse-root", "tests/full_functions.c"}};

#define RULES 96
#define FEWER (1000 / (uint32_t)test_cases(1000))

struct proof {
	uint32_t programs;
	char name[RULES][64];
	uint32_t n_rules, proven[RULES], refuted[RULES];
	uint32_t tried[RULES][KINDS], caught[RULES][KINDS];
	char first[4000]; /* a program whose rewriting was refuted, or is not where it is made wrong */
	bool mutate;
};

static void fill(struct arena *mem, const struct graph *g, enum ring ring, uint64_t seed, struct tensor *param)
{
	const struct comp *c = &g->comp[g->entry];
	struct rng r;

	rng_seed(&r, seed);
	for (uint32_t v = c->first; v < c->first + c->n_nodes; v++) {
		const Hlo__HloInstructionProto *in = g->node[v].proto;
		if (g->node[v].opcode != OP_PARAMETER)
			continue;
		struct tensor t = ring_tensor(mem, in->shape);
		for (size_t i = 0; i < t.n; i++)
			t.v[i] = ring_number(ring, g->node[v].dtype == DT_S32 ? (int64_t)rng_below(&r, 5) :
				(int64_t)rng_below(&r, 2000) - 1000);
		for (size_t i = 0; i < t.n && t.imag; i++)
			t.imag[i] = ring_number(ring, (int64_t)rng_below(&r, 2000) - 1000);
		param[in->parameter_number] = t;
	}
}

static bool alike(const struct tensor *x, const struct tensor *y)
{
	if (x->n != y->n || !x->imag != !y->imag || memcmp(x->v, y->v, x->n * sizeof *x->v) != 0)
		return false;
	return !x->imag || memcmp(x->imag, y->imag, x->n * sizeof *x->imag) == 0;
}

/*
 * Do both compute the same in both rings, on this many inputs? One input is enough where numbers are added and
 * multiplied; a maximum needs more, because it shows only one of its numbers.
 */
static bool same(const struct graph *a, const struct graph *b, int inputs)
{
	bool all = true;

	for (int i = 0; i < 2 * inputs && all; i++) {
		int ring = i % 2;
		struct arena mem = {0};
		struct tensor pa[64], x, y;
		struct err err = {0};
		fill(&mem, a, (enum ring)ring, (uint64_t)(7 + i / 2), pa);
		if (ring_run(a, (enum ring)ring, pa, &mem, &x, &err) < 0) {
			CHECK_STR(err.text, "a program that is understood");
			all = false;
		} else if (ring_run(b, (enum ring)ring, pa, &mem, &y, &err) < 0) {
			all = false;
		} else {
			all = alike(&x, &y);
		}
		arena_release(&mem);
	}
	return all;
}

static uint32_t rule_number(struct proof *p, const char *name)
{
	for (uint32_t i = 0; i < p->n_rules; i++)
		if (strcmp(p->name[i], name) == 0)
			return i;
	snprintf(p->name[p->n_rules], sizeof *p->name, "%s", name);
	return p->n_rules++;
}

/* Makes each new instruction wrong, in each way, one at a time; every wrong program must be refuted. */
static void spoil_all(struct proof *p, uint32_t rule, const struct graph *a, const struct buf *module,
	const char *text)
{
	struct graph g = {0};

	CHECK(graph_parse(&g, module->data, module->len, "rewritten", NULL) == 0);
	for (uint32_t v = 0; v < g.n_nodes; v++) {
		uint32_t old = graph_find(a, g.node[v].proto->name);
		uint16_t op = g.node[v].opcode;
		bool made = op == OP_DOT || op == OP_TUPLE || op == OP_COMPLEX;
		bool replaces = made && old != NONE && a->node[old].opcode != op;
		if (old != NONE && !replaces)
			continue; /* it was there before, or bears the name of what it replaces */
		for (int kind = 0; kind < KINDS; kind++) {
			struct graph b = {0};
			struct buf bytes = {0};
			if (!spoil(a, &g, v, kind))
				continue;
			graph_write(&g, &bytes);
			bool seen = graph_parse(&b, bytes.data, bytes.len, "wrong", NULL) < 0 || !same(a, &b, 40);
			p->tried[rule][kind]++;
			p->caught[rule][kind] += seen;
			if (!seen && !p->first[0])
				snprintf(p->first, sizeof p->first, "%s: %s of %s is not seen in\n%s", p->name[rule],
					wrong[kind], g.node[v].proto->name, text);
			graph_release(&b);
			buf_release(&bytes);
			graph_release(&g);
			CHECK(graph_parse(&g, module->data, module->len, "rewritten", NULL) == 0);
		}
	}
	graph_release(&g);
}

/* Proves what a configuration does; it uses the rule of `o`. */
static void prove_config(struct proof *p, struct space *s, const struct offer *o, const uint8_t *config,
	const char *text)
{
	uint32_t rule = rule_number(p, rewrite_rule(s, o)->name);
	struct buf made = {0}, module = {0};
	struct graph g = {0};
	struct err err = {0};

	if (CHECK(s->ops->apply(s, config, &made, &err) == 0) &&
		CHECK(library_spell_all(made.data, made.len, &module, &err) == 0) &&
		CHECK(graph_parse(&g, module.data, module.len, "rewritten", &err) == 0)) {
		bool right = same(s->graph, &g, 1);
		p->proven[rule] += right;
		p->refuted[rule] += !right;
		if (!right && !p->first[0])
			snprintf(p->first, sizeof p->first, "%s\n%s", p->name[rule], text);
		if (right && p->mutate)
			spoil_all(p, rule, s->graph, &module, text);
	}
	if (err.text[0])
		printf("%s\n%s", err.text, text);
	graph_release(&g);
	buf_release(&module);
	buf_release(&made);
}

/* Proves each choice alone, and then all choices that join nodes at once. */
static void prove_all(struct proof *p, struct space *s, const char *text)
{
	uint8_t *config = MEM_NEW(s->n_sites + 1, uint8_t);
	const struct offer *joins = NULL;

	for (uint32_t i = 0; i < s->n_sites; i++) {
		for (uint8_t k = 1; k < s->site[i].choices; k++) {
			config[i] = k;
			prove_config(p, s, rewrite_offer(s, i, k), config, text);
			joins = rewrite_offer(s, i, k)->leader == NONE ? joins : rewrite_offer(s, i, k);
		}
		config[i] = 0;
	}
	for (uint32_t i = 0; i < s->n_sites && joins; i++)
		for (uint8_t k = 1; k < s->site[i].choices; k++)
			config[i] = rewrite_offer(s, i, k)->leader != NONE ? k : config[i];
	if (joins)
		prove_config(p, s, joins, config, text);
	mem_free(config);
}

static void prove(void *ctx, const char *text)
{
	struct proof *p = ctx;
	struct graph g = {0};
	struct err err = {0};
	struct space *s = NULL;

	p->programs++;
	if (!CHECK(graph_parse(&g, text, strlen(text), "case", &err) == 0) ||
		!CHECK((s = space_open(ALL_RULES, "cpu", &g, NULL, 0, &err)) != NULL))
		printf("%s\n%s", err.text, text);
	if (s)
		prove_all(p, s, text);
	space_free(s);
	graph_release(&g);
}

static void respell(const char *text, const char *from, const char *to, struct buf *out)
{
	for (const char *at; (at = strstr(text, from)) != NULL; text = at + strlen(from)) {
		buf_add(out, text, (size_t)(at - text));
		buf_adds(out, to);
	}
	buf_adds(out, text);
}

/* Proves the same program in numbers of 16 bits, which are computed as f32. */
static void prove_narrow(void *ctx, const char *text)
{
	struct buf b = {0};

	respell(text, "f32[", "bf16[", &b);
	prove(ctx, b.data);
	buf_release(&b);
}

/* ... with operands x and w that are narrower than what they are made into. */
static void prove_mixed(void *ctx, const char *text)
{
	static const char *const types[][3] = {{"x = f8e5m2[", "w = f8e4m3fn[", "bf16["},
		{"x = s8[", "w = s8[", "s32["}, {"x = bf16[", "w = bf16[", "f32["}};

	for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
		struct buf x = {0}, w = {0}, b = {0};
		respell(text, "x = f32[", types[i][0], &x);
		respell(x.data, "w = f32[", types[i][1], &w);
		respell(w.data, "f32[", types[i][2], &b);
		prove(ctx, b.data);
		buf_release(&x);
		buf_release(&w);
		buf_release(&b);
	}
}

/* ... and in complex ones. */
static void prove_complex(void *ctx, const char *text)
{
	struct buf b = {0}, c = {0};

	respell(text, "f32[", "c64[", &b);
	respell(b.data, "constant(0)", "constant((0, 0))", &c);
	prove(ctx, c.data);
	buf_release(&b);
	buf_release(&c);
}

static uint32_t each(uint32_t few)
{
	const char *s = getenv("PROOF_EACH");
	uint32_t n = s ? (uint32_t)atoi(s) : 0;

	return n ? n : few * FEWER;
}

static void walk_all(struct proof *p, uint32_t some)
{
	walk_conv1(prove, p, some, 0);
	walk_conv2(prove, p, some, some / 2);
	walk_conv3(prove, p, some, some / 3);
	walk_columns(prove, p, 5 * some, some / 4);
	walk_large(prove, p, 5 * some, some);
	walk_products(prove, p, some, 0);
	walk_windows(prove, p, some > 7 ? some / 7 : 1, 0);
	walk_long_windows(prove, p, some > 7 ? some / 7 : 1, 0);
	walk_unpools(prove, p, some > 7 ? some / 7 : 1, 0);
	walk_merges(prove, p, some, 0);
	walk_distances(prove, p);
	walk_few(prove, p);
	walk_loops(prove, p);
	walk_chains(prove, p, some > 7 ? some / 7 : 1);
	walk_turns(prove, p, some > 7 ? some / 7 : 1, 0);
	walk_narrow(prove, p, some > 7 ? some / 7 : 1, 0);
	walk_picks(prove, p, some > 7 ? some / 7 : 1, 0);
	walk_sums(prove, p, some > 7 ? some / 7 : 1, 0);
	walk_complex(prove, p, some > 7 ? some / 7 : 1, 0);
	walk_called_products(prove, p, 4 * some, 0); /* these are large */
	walk_called_windows(prove, p, 2 * some, 0);
	walk_called_products(prove_narrow, p, 12 * some, 5);
	walk_called_windows(prove_narrow, p, 6 * some, 5);
	walk_conv1(prove_narrow, p, 11 * some, 5);
	walk_products(prove_narrow, p, 11 * some, 5);
	walk_windows(prove_narrow, p, 7 * some, 5);
	walk_long_windows(prove_narrow, p, 7 * some, 5);
	walk_unpools(prove_narrow, p, 7 * some, 5);
	walk_merges(prove_narrow, p, 11 * some, 5);
	walk_turns(prove_narrow, p, some, 5);
	walk_turns(prove_mixed, p, 3 * some, 7);
	walk_loops(prove_narrow, p);
	walk_few(prove_narrow, p);
	walk_narrow(prove_narrow, p, some, 5);
	walk_picks(prove_narrow, p, some, 5);
	walk_sums(prove_narrow, p, some, 5);
	walk_patterns(prove_complex, p, (some < 23 ? 5 * PATTERN_CASES / some : PATTERN_CASES / 5) / FEWER + 1);
	walk_patterns(prove, p, (some < 23 ? 23 * PATTERN_CASES / some : PATTERN_CASES) / FEWER + 1);
}

/* The test that proves a rule; NULL: this one. */
static const char *proven_by(const char *rule)
{
	for (size_t i = 0; i < sizeof elsewhere / sizeof *elsewhere; i++)
		if (strcmp(elsewhere[i].rule, rule) == 0)
			return elsewhere[i].test;
	return NULL;
}

static void every_rule_is_proven(void)
{
	static struct proof p;
	struct rules r = {0};
	struct err err = {0};

	CHECK(rules_load(&r, &err) == 0);
	walk_all(&p, each(23));
	for (size_t i = 0; i < r.n; i++) {
		uint32_t k = rule_number(&p, r.rule[i].name);
		if (proven_by(p.name[k])) {
			printf("# %-28s not here: %s proves it\n", p.name[k], proven_by(p.name[k]));
			CHECK(access(proven_by(p.name[k]), R_OK) == 0);
			CHECK_INT(p.proven[k] + p.refuted[k], 0);
			continue;
		}
		printf("# %-28s %6u proven, %u refuted\n", p.name[k], p.proven[k], p.refuted[k]);
		CHECK(FEWER > 1 || p.proven[k] >= 10);
		CHECK_INT(p.refuted[k], 0);
	}
	if (p.first[0])
		printf("%s\n", p.first);
	printf("# %u programs\n", p.programs);
	rules_release(&r);
}

static void wrong_rules_are_caught(void)
{
	static struct proof p = {.mutate = true};

	walk_all(&p, 17 * each(23));
	for (uint32_t i = 0; i < p.n_rules; i++) {
		uint32_t ways = 0;
		for (int kind = 0; kind < KINDS; kind++) {
			if (!p.tried[i][kind])
				continue;
			printf("# %-28s %-36s %5u of %5u caught\n", p.name[i], wrong[kind], p.caught[i][kind],
				p.tried[i][kind]);
			CHECK_INT(p.caught[i][kind], p.tried[i][kind]);
			ways++;
		}
		if (!CHECK(FEWER > 1 || ways > 0))
			printf("	no way to be wrong was tried on %s\n", p.name[i]);
	}
	if (p.first[0])
		printf("%s\n", p.first);
}

int main(void)
{
	RUN(every_rule_is_proven);
	RUN(wrong_rules_are_caught);
	return test_done();
}
