/*
 * check_again.c - what vantage wrote can be decided about again: of what is added then, nothing has a name that is
 * there already. The compiler would refuse the program.
 */
#include "graph/print.h"
#include "hlo/names.h"
#include "space/space.h"
#include "tests/test.h"

#define DOT ", lhs_contracting_dims={1}, rhs_contracting_dims={0}\n"

/* Two places to rewrite, and two to fuse. */
static const char chains[] =
	"HloModule m\n\nENTRY e {\n  a = f32[8,8] parameter(0)\n  b = f32[8,8] parameter(1)\n"
	"  v = f32[8,1] parameter(2)\n  ab = f32[8,8] dot(a, b)" DOT "  abv = f32[8,1] dot(ab, v)" DOT
	"  x = f32[8,1] exponential(abv)\n  y = f32[8,1] negate(x)\n  ba = f32[8,8] dot(b, a)" DOT
	"  bay = f32[8,1] dot(ba, y)" DOT "  z = f32[8,1] exponential(bay)\n  ROOT r = f32[8,1] negate(z)\n}\n";

/* The loop's state is a tuple, which is called so. */
static const char weights[] =
	"HloModule m\n\nbody {\n  s = (s32[], f32[4,4]) parameter(0)\n  i = s32[] get-tuple-element(s), index=0\n"
	"  w = f32[4,4] get-tuple-element(s), index=1\n  one = s32[] constant(1)\n  j = s32[] add(i, one)\n"
	"  n = f32[4,4] negate(w)\n  ROOT tuple = (s32[], f32[4,4]) tuple(j, n)\n}\n\n"
	"condition {\n  s.1 = (s32[], f32[4,4]) parameter(0)\n  i.1 = s32[] get-tuple-element(s.1), index=0\n"
	"  three = s32[] constant(3)\n  ROOT less = pred[] compare(i.1, three), direction=LT\n}\n\n"
	"ENTRY e {\n  a = f32[4,4] parameter(0)\n  x = f32[4,4] parameter(1)\n  b = f32[4,4] parameter(2)\n"
	"  ta = f32[4,4] transpose(a), dimensions={1,0}\n  tb = f32[4,4] transpose(b), dimensions={1,0}\n"
	"  xa = f32[4,4] dot(x, ta)" DOT "  xb = f32[4,4] dot(xa, tb)" DOT
	"  zero = s32[] constant(0)\n  state = (s32[], f32[4,4]) tuple(zero, xb)\n"
	"  loop = (s32[], f32[4,4]) while(state), condition=condition, body=body\n"
	"  ROOT y = f32[4,4] get-tuple-element(loop), index=1\n}\n";

static const struct {
	const char *text, *kind[2];
	const char *at[2]; /* the node whose site gets its first choice, in either round; NULL: none */
} table[] = {
	{chains, {"rewrite/without:small-product", "rewrite/without:small-product"}, {"abv", "bay"}},
	{chains, {"rewrite/without:associate-right", "rewrite/without:small-product"}, {"abv", "bay"}},
	{chains, {"fusion", "fusion"}, {"x", "z"}},
	{weights, {"rewrite/hoist:a", "rewrite/hoist:b"}, {NULL, NULL}},
};

static void check_names(const struct buf *module, const char *kind)
{
	struct names instructions = {0}, computations = {0};
	struct graph g;

	if (!CHECK(graph_parse(&g, module->data, module->len, "module", NULL) == 0))
		return;
	for (uint32_t v = 0; v < g.n_nodes; v++) {
		const char *name = g.node[v].proto->name;
		if (!CHECK(names_put(&instructions, name, strlen(name), v)))
			printf("\t%s: two instructions are called %s\n", kind, name);
	}
	for (uint32_t c = 0; c < g.n_comps; c++) {
		const char *name = g.comp[c].proto->name;
		if (!CHECK(names_put(&computations, name, strlen(name), c)))
			printf("\t%s: two computations are called %s\n", kind, name);
	}
	names_release(&instructions);
	names_release(&computations);
	graph_release(&g);
}

/* Decides about the program and writes it, as text, into `out`. */
static void decide(const char *text, size_t n, const char *kind, const char *at, struct buf *out)
{
	struct graph g, decided = {0};
	struct buf module = {0}, first = {0};
	struct err err = {0};
	struct space *s = NULL;
	uint8_t *config;

	if (CHECK(graph_parse(&g, text, n, "program", &err) == 0))
		s = space_open(kind, "cpu", &g, NULL, 0, &err);
	if (!CHECK(s)) {
		printf("\t%s: %s\n", kind, err.text);
		graph_release(&g);
		return;
	}
	config = MEM_NEW(s->n_sites + 1, uint8_t);
	if (at && CHECK(s->site_of[graph_find(&g, at)] != NONE))
		config[s->site_of[graph_find(&g, at)]] = 1;
	CHECK(s->ops->apply(s, config, &module, &err) == 0);
	check_names(&module, kind);
	if (s->ops->answer) {
		s->ops->answer(s, config, &first);
		check_names(&first, kind);
	}
	if (CHECK(graph_parse(&decided, module.data, module.len, "decided", &err) == 0))
		hlo_print(&decided, out);
	graph_release(&decided);
	mem_free(config);
	buf_release(&module);
	buf_release(&first);
	space_free(s);
	graph_release(&g);
}

static void names_stay_distinct(void)
{
	for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
		struct buf once = {0}, twice = {0};
		decide(table[i].text, strlen(table[i].text), table[i].kind[0], table[i].at[0], &once);
		if (CHECK(once.len))
			decide(once.data, once.len, table[i].kind[1], table[i].at[1], &twice);
		buf_release(&once);
		buf_release(&twice);
	}
}

int main(void)
{
	RUN(names_stay_distinct);
	return test_done();
}
