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
#include "hlo/shape.h"
#include "space/space.h"
#include "space/rewrite/own.h"
#include "tests/harm.h"
#include "tests/rewrite_cases.h"
#include "tests/rewrite_loops.h"
#include "tests/rewrite_merges.h"
#include "tests/rewrite_narrow.h"
#include "tests/rewrite_patterns.h"
#include "tests/rewrite_turns.h"
#include "tests/test.h"

/* Rules whose operations no ring has, and the tests that prove them; nothing here counts as a proof of these. */
static const struct {
	const char *rule, *test;
} elsewhere[] = {{"sort-by-keys", "tests/full_sort.c"}, {"sort-by-places", "tests/full_sort.c"}};

#define RULES 64
#define KINDS 9 /* ways to be wrong */
#define FEWER (1000 / (uint32_t)test_cases(1000))

static const char *const wrong[KINDS] = {"slice starts later", "less padding before, more behind",
	"transposition of other dimensions", "broadcast to other dimensions", "sum over another dimension",
	"parts in another order", "product over other dimensions", "other rows gathered", "other parts of a tuple"};

struct proof {
	uint32_t programs;
	char name[RULES][64];
	uint32_t n_rules, proven[RULES], refuted[RULES];
	uint32_t tried[RULES][KINDS], caught[RULES][KINDS];
	char first[4000]; /* a program whose rewriting was refuted */
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
		param[in->parameter_number] = t;
	}
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
			all = x.n == y.n && memcmp(x.v, y.v, x.n * sizeof *x.v) == 0;
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

/* Exchanges two entries of a list of dimensions so that sizes still fit; false if there are none such. */
static bool exchange(int64_t *list, size_t n, const int64_t *size)
{
	for (size_t i = 0; i < n; i++)
		for (size_t k = i + 1; k < n; k++)
			if (size[list[i]] == size[list[k]] && size[list[i]] > 1) {
				int64_t was = list[i];
				list[i] = list[k];
				list[k] = was;
				return true;
			}
	return false;
}

/* Puts another dimension of the same size in the place of one; false if there is none. */
static bool replace(int64_t *list, size_t n, const Hlo__ShapeProto *s)
{
	for (size_t i = 0; i < n; i++)
		for (int64_t k = 0; k < (int64_t)s->n_dimensions; k++) {
			bool used = false;
			for (size_t j = 0; j < n; j++)
				used |= list[j] == k;
			if (!used && s->dimensions[k] == s->dimensions[list[i]] && s->dimensions[k] > 1) {
				list[i] = k;
				return true;
			}
		}
	return false;
}

/* Are all numbers of one side of a product equal? Then the order in which they are taken does not matter. */
static bool all_equal(const struct graph *g, uint32_t v)
{
	for (uint32_t k = 0; k < 2; k++) {
		uint32_t u = node_operands(g, v)[k];
		if (g->node[u].opcode == OP_BROADCAST && g->node[node_operands(g, u)[0]].elements == 1)
			return true;
	}
	return false;
}

/* Is a value constant along both dimensions? Then a sum over the one equals a sum over the other. */
static bool same_along(const struct graph *g, uint32_t v, int64_t one, int64_t other)
{
	const Hlo__HloInstructionProto *in;

	while (g->node[v].opcode == OP_CONVERT)
		v = node_operands(g, v)[0];
	if (g->node[v].opcode != OP_BROADCAST)
		return false;
	in = g->node[v].proto;
	for (size_t i = 0; i < in->n_dimensions; i++)
		if (in->dimensions[i] == one || in->dimensions[i] == other)
			return false;
	return true;
}

/* Does a window move by its dilation? Then it reads x[by * (where + k)], and where and k may be exchanged. */
static bool moves_by_its_holes(const struct graph *a)
{
	for (uint32_t v = 0; v < a->n_nodes; v++)
		if (a->node[v].opcode == OP_CONVOLUTION) {
			const Hlo__Window *window = a->node[v].proto->window;
			for (size_t i = 0; i < window->n_dimensions; i++) {
				const Hlo__WindowDimension *w = window->dimensions[i];
				if (w->size > 1 && w->stride == w->window_dilation)
					return true;
			}
		}
	return false;
}

/* Sums a product over other dimensions of its left side, or pairs them differently; false if that changes nothing. */
static bool contract_others(const struct graph *a, const struct graph *g, uint32_t v, const Hlo__ShapeProto *x)
{
	Hlo__DotDimensionNumbers *d = g->node[v].proto->dot_dimension_numbers;
	const uint32_t *side = node_operands(g, v);
	int64_t *list = d->lhs_contracting_dimensions, was[8];
	size_t n = d->n_lhs_contracting_dimensions, i = 0, k;
	bool pairs;

	if (n == 0 || n > 8 || moves_by_its_holes(a))
		return false;
	memcpy(was, list, n * sizeof *was);
	pairs = exchange(list, n, x->dimensions);
	if (!pairs && !replace(list, n, x))
		return false;
	while (was[i] == list[i])
		i++;
	for (k = i + 1; pairs && was[k] == list[k];)
		k++;
	if (!same_along(g, side[0], was[i], list[i]) &&
		!(pairs && same_along(g, side[1], d->rhs_contracting_dimensions[i], d->rhs_contracting_dimensions[k])))
		return true;
	memcpy(list, was, n * sizeof *was);
	return false;
}

/* Does the program only add two products of the same shape? Then they may be exchanged. */
static bool symmetric(const struct graph *g)
{
	return graph_find(g, "root") != NONE;
}

/* Is a value the same along some dimension, because it was repeated there? Then other dimensions may be as good. */
static bool repeated(const struct graph *g, uint32_t v)
{
	uint16_t op = g->node[v].opcode;
	bool found = op == OP_BROADCAST, through = op == OP_CONCATENATE || op == OP_CONVERT;

	for (uint32_t k = 0; !found && through && k < g->node[v].n_operands; k++)
		found = repeated(g, node_operands(g, v)[k]);
	return found;
}

/* Is a product summed in this program? Then dimensions of it that are summed away are as good as each other. */
static bool sums_product(const struct graph *g)
{
	for (uint32_t v = 0; v < g->n_nodes; v++) {
		uint32_t x = g->node[v].opcode == OP_REDUCE ? node_operands(g, v)[0] : NONE;
		if (x != NONE && g->node[x].opcode == OP_TRANSPOSE)
			x = node_operands(g, x)[0];
		if (x != NONE && g->node[x].opcode == OP_DOT)
			return true;
	}
	return false;
}

/* Exchanges two parts of a tuple that have the same shape; false if there are none such. */
static bool exchange_parts(const struct graph *g, uint32_t v)
{
	Hlo__HloInstructionProto *in = g->node[v].proto;

	for (size_t i = 0; i < in->n_operand_ids; i++)
		for (size_t k = i + 1; k < in->n_operand_ids; k++)
			if (in->operand_ids[i] != in->operand_ids[k] &&
				shape_same(in->shape->tuple_shapes[i], in->shape->tuple_shapes[k])) {
				int64_t was = in->operand_ids[i];
				in->operand_ids[i] = in->operand_ids[k];
				in->operand_ids[k] = was;
				return true;
			}
	return false;
}

/* Makes an instruction wrong in one way; false if that way does not apply to it, and then it stays as it was. */
static bool spoil(const struct graph *a, const struct graph *g, uint32_t v, int kind)
{
	Hlo__HloInstructionProto *in = g->node[v].proto;
	const Hlo__ShapeProto *x = g->node[v].n_operands ? g->node[node_operands(g, v)[0]].proto->shape : NULL;
	uint16_t op = g->node[v].opcode;

	if (kind == 0 && op == OP_SLICE)
		return shift_slice(g, v);
	if (kind == 1 && op == OP_PAD)
		for (size_t i = 0; i < in->padding_config->n_dimensions; i++) {
			Hlo__PaddingConfigDimension *d = in->padding_config->dimensions[i];
			if (d->edge_padding_low || d->edge_padding_high) {
				d->edge_padding_low--;
				d->edge_padding_high++;
				return true;
			}
		}
	if (kind == 2 && op == OP_TRANSPOSE)
		return exchange(in->dimensions, in->n_dimensions, x->dimensions);
	if (kind == 3 && op == OP_BROADCAST && !repeated(g, node_operands(g, v)[0]) && !sums_product(a))
		return exchange(in->dimensions, in->n_dimensions, in->shape->dimensions) ||
			replace(in->dimensions, in->n_dimensions, in->shape);
	if (kind == 4 && op == OP_REDUCE)
		return replace(in->dimensions, in->n_dimensions, x);
	if (kind == 5 && op == OP_CONCATENATE && !symmetric(a)) {
		for (size_t i = 1; i < in->n_operand_ids; i++)
			if (in->operand_ids[i] != in->operand_ids[0]) {
				int64_t was = in->operand_ids[0];
				in->operand_ids[0] = in->operand_ids[i];
				in->operand_ids[i] = was;
				return true;
			}
	}
	if (kind == 6 && op == OP_DOT && !all_equal(g, v))
		return contract_others(a, g, v, x);
	if (kind == 7 && op == OP_GATHER && x->n_dimensions > 1) {
		int64_t *map = in->gather_dimension_numbers->start_index_map;
		*map = *map == 0;
		return true;
	}
	return kind == 8 && op == OP_TUPLE && exchange_parts(g, v);
}

/* Makes each new instruction wrong, in each way, one at a time; every wrong program must be refuted. */
static void spoil_all(struct proof *p, uint32_t rule, const struct graph *a, const struct buf *module)
{
	struct graph g = {0};

	CHECK(graph_parse(&g, module->data, module->len, "rewritten", NULL) == 0);
	for (uint32_t v = 0; v < g.n_nodes; v++) {
		uint32_t old = graph_find(a, g.node[v].proto->name);
		uint16_t op = g.node[v].opcode;
		bool replaces = (op == OP_DOT || op == OP_TUPLE) && old != NONE && a->node[old].opcode != op;
		if (old != NONE && !replaces)
			continue; /* it was there before, or bears the name of what it replaces */
		for (int kind = 0; kind < KINDS; kind++) {
			struct graph b = {0};
			struct buf bytes = {0};
			if (!spoil(a, &g, v, kind))
				continue;
			graph_write(&g, &bytes);
			p->tried[rule][kind]++;
			p->caught[rule][kind] +=
				graph_parse(&b, bytes.data, bytes.len, "wrong", NULL) < 0 || !same(a, &b, 40);
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
	struct buf module = {0};
	struct graph g = {0};
	struct err err = {0};

	if (CHECK(s->ops->apply(s, config, &module, &err) == 0) &&
		CHECK(graph_parse(&g, module.data, module.len, "rewritten", &err) == 0)) {
		bool right = same(s->graph, &g, 1);
		p->proven[rule] += right;
		p->refuted[rule] += !right;
		if (!right && !p->first[0])
			snprintf(p->first, sizeof p->first, "%s\n%s", p->name[rule], text);
		if (right && p->mutate)
			spoil_all(p, rule, s->graph, &module);
	}
	if (err.text[0])
		printf("%s\n%s", err.text, text);
	graph_release(&g);
	buf_release(&module);
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
		!CHECK((s = space_open("rewrite", "cpu", &g, NULL, 0, &err)) != NULL))
		printf("%s\n%s", err.text, text);
	if (s)
		prove_all(p, s, text);
	space_free(s);
	graph_release(&g);
}

/* Proves the same program in numbers of 16 bits, which are computed as f32. */
static void prove_narrow(void *ctx, const char *text)
{
	struct buf b = {0};

	for (const char *at; (at = strstr(text, "f32[")) != NULL; text = at + 4) {
		buf_add(&b, text, (size_t)(at - text));
		buf_adds(&b, "bf16[");
	}
	buf_adds(&b, text);
	prove(ctx, b.data);
	buf_release(&b);
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
	walk_large(prove, p, 5 * some, some);
	walk_products(prove, p, some, 0);
	walk_windows(prove, p, some > 7 ? some / 7 : 1, 0);
	walk_merges(prove, p, some, 0);
	walk_distances(prove, p);
	walk_loops(prove, p);
	walk_turns(prove, p, some > 7 ? some / 7 : 1, 0);
	walk_narrow(prove, p, some > 7 ? some / 7 : 1, 0);
	walk_conv1(prove_narrow, p, 11 * some, 5);
	walk_products(prove_narrow, p, 11 * some, 5);
	walk_windows(prove_narrow, p, 7 * some, 5);
	walk_merges(prove_narrow, p, 11 * some, 5);
	walk_turns(prove_narrow, p, some, 5);
	walk_loops(prove_narrow, p);
	walk_narrow(prove_narrow, p, some, 5);
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
}

int main(void)
{
	RUN(every_rule_is_proven);
	RUN(wrong_rules_are_caught);
	return test_done();
}
