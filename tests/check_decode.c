/*
 * check_decode.c - reading the compiler's groups as choices, on small programs written by hand, and properties that
 * hold on real ones.
 */
#include <stdlib.h>
#include "base/rng.h"
#include "space/fusion/own.h"
#include "tests/decode_text.h"
#include "tests/test.h"

static bool read_text(struct graph *g, const char *name, const char *text)
{
	struct err err = {0};

	if (CHECK(graph_parse(g, text, strlen(text), name, &err) == 0))
		return true;
	printf("\t%s\n", err.text);
	return false;
}

static struct space *open_space(const struct graph *g)
{
	struct err err = {0};
	struct space *s = space_open("fusion", "cpu", g, NULL, 0, &err);

	if (!CHECK(s != NULL))
		printf("\t%s\n", err.text);
	return s;
}

/* The causes add up to what differs, and name what they count. */
static void check_account(const struct space_account *a)
{
	uint32_t n = 0;

	CHECK_INT(a->n_causes, CAUSE_COUNT);
	for (uint32_t c = 0; c < a->n_causes; c++) {
		n += a->cause[c].parts;
		CHECK(!a->cause[c].parts == !a->cause[c].first[0]);
	}
	CHECK_INT(n, a->parts - a->equal);
	CHECK_INT(a->cause[CAUSE_OTHER].parts, 0);
}

/* Restates the program with an instruction for each way a value is used; returns how many groups still differ. */
static uint32_t left_after_restating(const struct buf *module, const struct graph *after)
{
	struct fusion_report r = {0};
	struct graph g = {0};
	struct err err = {0};
	struct buf again = {0};
	struct space *s;
	uint32_t left;

	if (!CHECK(graph_parse(&g, module->data, module->len, "restated", &err) == 0)) {
		printf("\t%s\n", err.text);
		return NONE;
	}
	if (!(s = open_space(&g)))
		return NONE;
	fusion_decode(s, after, &r);
	check_account(&s->account);
	CHECK_INT(r.matched, r.sites);
	CHECK_INT(fusion_restate(s, after, &again), 0); /* once is enough */
	CHECK_INT(again.len, 0);
	left = s->account.parts - s->account.equal;
	space_free(s);
	graph_release(&g);
	return left;
}

static void check_case(const struct decode_case *c)
{
	struct graph before = {0}, after = {0};
	struct fusion_report r = {0};
	struct buf module = {0};
	struct space *s = NULL;

	if (!read_text(&before, c->name, c->before) || !read_text(&after, c->name, c->after) ||
		!(s = open_space(&before)))
		return;
	fusion_decode(s, &after, &r);
	check_account(&s->account);
	CHECK_INT(s->account.parts, c->groups);
	CHECK_INT(s->account.equal, c->equal);
	if (c->cause < CAUSE_COUNT)
		CHECK_INT(s->account.cause[c->cause].parts, c->groups - c->equal);
	CHECK_INT(fusion_restate(s, &after, &module), c->added);
	CHECK(!c->added == !module.len);
	CHECK_INT(c->added ? left_after_restating(&module, &after) : c->groups - c->equal, c->left);
	buf_release(&module);
	space_free(s);
	graph_release(&before);
	graph_release(&after);
}

static void each_case_has_its_cause(void)
{
	for (size_t i = 0; i < N_DECODE_CASES; i++) {
		int failed = test_failed;
		check_case(&decode_cases[i]);
		if (test_failed > failed)
			printf("\t%s\n", decode_cases[i].name);
	}
}

/* Decodes every module against every other program: nothing matches, and nothing may crash. */
static void strangers_are_survived(void)
{
	for (size_t i = 0; i < N_DECODE_CASES; i++)
		for (size_t k = 0; k < N_DECODE_CASES; k++) {
			struct graph before = {0}, after = {0};
			struct fusion_report r = {0};
			struct buf module = {0};
			struct space *s = NULL;
			if (!read_text(&before, "before", decode_cases[i].before) ||
				!read_text(&after, "after", decode_cases[k].after) || !(s = open_space(&before)))
				return;
			fusion_decode(s, &after, &r);
			CHECK(s->account.equal <= s->account.parts && r.matched <= r.sites);
			if (fusion_restate(s, &after, &module))
				left_after_restating(&module, &after);
			buf_release(&module);
			space_free(s);
			graph_release(&before);
			graph_release(&after);
		}
}

static const char *const programs[] = {"examples/graphs/tiny/loop.pb.zst", "examples/graphs/tiny/branch.pb.zst",
	"examples/graphs/tiny/scatter.pb.zst", "examples/graphs/tiny/attention.pb.zst",
	"examples/graphs/tiny/convolution.pb.zst", "examples/graphs/tiny/update.pb.zst",
	"examples/graphs/tiny/scan.pb.zst", "examples/graphs/tiny/sort.pb.zst",
	"examples/graphs/held-out/graph-network.pb.zst"};
#define N_PROGRAMS (sizeof programs / sizeof *programs)

/*
 * Adds a second instruction that computes the same as node v. About half of v's users read it, never the first user and
 * always the last.
 */
static Hlo__HloInstructionProto *add_twin(struct arena *mem, const struct graph *g, uint32_t v, int64_t id,
	struct rng *r)
{
	Hlo__HloInstructionProto *twin = arena_dup(mem, g->node[v].proto, sizeof *twin);

	twin->id = id;
	twin->name = arena_printf(mem, "%s.second", twin->name);
	for (uint32_t u = 1; u < g->node[v].n_users; u++) {
		Hlo__HloInstructionProto *in = g->node[node_users(g, v)[u]].proto;
		bool second = rng_below(r, 2) || u + 1 == g->node[v].n_users;
		for (size_t k = 0; second && k < in->n_operand_ids; k++)
			if (in->operand_ids[k] == g->node[v].proto->id)
				in->operand_ids[k] = id;
	}
	return twin;
}

/* Writes the program with twins of many sites. Destroys the graph that it is given. */
static void with_twins(struct graph *g, const struct space *s, struct rng *r, struct buf *out)
{
	int64_t id = 0;

	for (uint32_t v = 0; v < g->n_nodes; v++)
		id = g->node[v].proto->id > id ? g->node[v].proto->id : id;
	for (uint32_t c = 0; c < g->n_comps; c++) {
		Hlo__HloComputationProto *p = g->comp[c].proto;
		Hlo__HloInstructionProto **l = ARENA_NEW(&g->mem, 2 * p->n_instructions, Hlo__HloInstructionProto *);
		size_t n = 0;
		for (uint32_t v = g->comp[c].first; v < g->comp[c].first + g->comp[c].n_nodes; v++) {
			l[n++] = g->node[v].proto;
			if (s->site_of[v] != NONE && g->node[v].n_users > 1 && rng_below(r, 3) == 0)
				l[n++] = add_twin(&g->mem, g, v, ++id, r);
		}
		p->instructions = l;
		p->n_instructions = n;
	}
	graph_write(g, out);
}

/* Makes a random grouping of a program with twins, `after`, and the program without them, `plain`. */
static bool random_copies(const char *path, double density, struct rng *r, struct graph *plain, struct graph *after)
{
	struct graph g = {0};
	struct err err = {0};
	struct buf b = {0}, module = {0};
	struct space *s = NULL;
	uint8_t *config;
	bool ok = graph_read(plain, path, &err) == 0 && graph_read(&g, path, &err) == 0 && (s = open_space(&g));

	if (ok)
		with_twins(&g, s, r, &b);
	space_free(s);
	graph_release(&g);
	s = NULL;
	ok = ok && graph_parse(&g, b.data, b.len, "twins", &err) == 0 && (s = open_space(&g));
	if (ok) {
		config = mem_alloc(s->n_sites + 1);
		space_random(s, density, r, config);
		ok = s->ops->apply(s, config, &module, &err) == 0 &&
		     graph_parse(after, module.data, module.len, "applied", &err) == 0;
		mem_free(config);
	}
	if (!CHECK(ok))
		printf("\t%s: %s\n", path, err.text);
	space_free(s);
	graph_release(&g);
	buf_release(&b);
	buf_release(&module);
	return ok;
}

/* However the compiler treats copies of a value: if each use has an instruction of its own, choices can express it. */
static void any_treatment_of_copies_can_be_said(void)
{
	struct rng r;
	uint32_t differed = 0;

	rng_seed(&r, 5);
	for (size_t i = 0; i < N_PROGRAMS; i++)
		for (int d = 5 - test_cases(5); d < 5; d++) {
			struct graph plain = {0}, after = {0};
			struct fusion_report report = {0};
			struct buf module = {0};
			struct space *s = NULL;
			if (!random_copies(programs[i], d / 4.0, &r, &plain, &after) || !(s = open_space(&plain)))
				return;
			fusion_decode(s, &after, &report);
			check_account(&s->account);
			differed += s->account.parts - s->account.equal;
			if (fusion_restate(s, &after, &module))
				CHECK_INT(left_after_restating(&module, &after), 0);
			else
				CHECK_INT(s->account.equal, s->account.parts);
			buf_release(&module);
			space_free(s);
			graph_release(&plain);
			graph_release(&after);
		}
	CHECK(differed > 100);
}

int main(void)
{
	RUN(any_treatment_of_copies_can_be_said);
	RUN(each_case_has_its_cause);
	RUN(strangers_are_survived);
	return test_done();
}
