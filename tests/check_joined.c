/*
 * check_joined.c - what XLA:GPU does to kernels that single edges do not show: it joins kernels afterwards, so regions
 * hold those that it may join; and it never makes some, so no configuration that is drawn asks for them.
 */
#include <string.h>
#include "graph/unmade.h"
#include "space/fusion/own.h"
#include "tests/opcodes.h"
#include "tests/test.h"

#define HEAD "HloModule m\n" \
	"add (a: f32[], b: f32[]) -> f32[] {\n  a = f32[] parameter(0)\n  b = f32[] parameter(1)\n" \
	"  ROOT s = f32[] add(a, b)\n}\nENTRY e {\n"

static bool open_text(const char *text, const char *backend, struct graph *g, struct space **s)
{
	struct err err = {{0}};

	*s = NULL;
	if (graph_parse(g, text, strlen(text), "text", &err) == 0)
		*s = space_open("fusion", backend, g, NULL, 0, &err);
	if (!CHECK(*s != NULL))
		printf("%s\n", err.text);
	return *s != NULL;
}

/* Returns how many negations are on each side of the region of the flip of tanh, or 99 if they are not as many. */
static uint32_t negations(const char *text, const char *backend)
{
	struct graph g = {0};
	struct space *s;
	struct regions rg = {0};
	struct err err = {{0}};
	uint8_t a[16] = {0}, b[16] = {0};
	uint32_t n = 99;

	if (open_text(text, backend, &g, &s) && CHECK(s->n_sites <= 16)) {
		for (uint32_t i = 0; i < s->n_sites; i++)
			b[i] = g.node[s->site[i].node].opcode == OP_TANH;
		CHECK(s->ops->region(s, a, b, &rg, &err) == 0);
		if (CHECK_INT(rg.n, 1) && opcodes_in(&rg.v[0].a, OP_NEGATE) == opcodes_in(&rg.v[0].b, OP_NEGATE))
			n = opcodes_in(&rg.v[0].a, OP_NEGATE);
	}
	regions_release(&rg);
	space_free(s);
	graph_release(&g);
	return n;
}

static void regions_hold_what_may_be_joined(void)
{
	static const struct {
		const char *what, *more;
		uint32_t cuda;
	} t[] = {
		{"reads what the flip's group reads", "n = f32[8,8]{1,0} negate(x)", 1},
		{"reads what it makes", "n = f32[8,8]{1,0} negate(y)", 1},
		{"reads another value", "n = f32[8,8]{1,0} negate(w)", 0},
		{"has another size",
			"n = f32[4,8]{1,0} slice(x), slice={[0:4], [0:8]}\n  m = f32[4,8]{1,0} negate(n)", 0},
		{"comes after it by another way",
			"d = f32[8,8]{1,0} dot(y, w), lhs_contracting_dims={1}, rhs_contracting_dims={0}\n"
			"  o = f32[8,8]{1,0} add(d, x)\n  n = f32[8,8]{1,0} negate(o)", 0},
	};

	for (size_t i = 0; i < sizeof t / sizeof *t; i++) {
		char text[1200];
		snprintf(text, sizeof text, HEAD
			"  x = f32[8,8]{1,0} parameter(0)\n  w = f32[8,8]{1,0} parameter(1)\n"
			"  t = f32[8,8]{1,0} tanh(x)\n  y = f32[8,8]{1,0} exponential(t)\n  %s\n"
			"  ROOT r = (f32[8,8]{1,0}, f32[%s]{1,0}) tuple(y, %s)\n}\n", t[i].more,
			strstr(t[i].more, "m =") ? "4,8" : "8,8", strstr(t[i].more, "m =") ? "m" : "n");
		if (!CHECK_INT(negations(text, "cuda"), t[i].cuda))
			printf("%s\n", t[i].what);
		CHECK_INT(negations(text, "cpu"), 0); /* nothing is joined there */
	}
	/* A group that reads x is left out if what it reads besides comes of the flip's group. */
	CHECK_INT(negations(HEAD
		"  x = f32[8,8]{1,0} parameter(0)\n  t = f32[8,8]{1,0} tanh(x)\n  y = f32[8,8]{1,0} exponential(t)\n"
		"  d = f32[8,8]{1,0} dot(y, y), lhs_contracting_dims={1}, rhs_contracting_dims={0}\n"
		"  n = f32[8,8]{1,0} negate(x)\n  ROOT o = f32[8,8]{1,0} add(n, d)\n}\n", "cuda"), 1);
	/* One element is no reason to join. */
	CHECK_INT(negations(HEAD "  x = f32[] parameter(0)\n  t = f32[] tanh(x)\n  y = f32[] exponential(t)\n"
		"  n = f32[] negate(x)\n  ROOT r = (f32[], f32[]) tuple(y, n)\n}\n", "cuda"), 0);
}

/* How many regions has a move of two flips, of tanh and of cosine? */
static uint32_t regions_of_two(const char *second, const char *backend)
{
	struct graph g = {0};
	struct space *s;
	struct regions rg = {0};
	struct err err = {{0}};
	uint8_t a[16] = {0}, b[16] = {0};
	uint32_t n = 99;
	char text[800];

	snprintf(text, sizeof text, HEAD "  x = f32[8,8]{1,0} parameter(0)\n  w = f32[8,8]{1,0} parameter(1)\n"
		"  v = f32[4,8]{1,0} slice(x), slice={[0:4], [0:8]}\n  t = f32[8,8]{1,0} tanh(x)\n"
		"  y = f32[8,8]{1,0} exponential(t)\n  c = %s\n  d = f32[] constant(0)\n"
		"  m = f32[] reduce(n, d), dimensions={0,1}, to_apply=add\n"
		"  ROOT r = (f32[8,8]{1,0}, f32[]) tuple(y, m)\n}\n", second);
	if (open_text(text, backend, &g, &s)) {
		for (uint32_t i = 0; i < s->n_sites; i++)
			b[i] = g.node[s->site[i].node].opcode == OP_TANH || g.node[s->site[i].node].opcode == OP_COSINE;
		CHECK(s->ops->region(s, a, b, &rg, &err) == 0);
		n = (uint32_t)rg.n;
	}
	regions_release(&rg);
	space_free(s);
	graph_release(&g);
	return n;
}

/* Two changes of groups that may be joined with one another are priced together. */
static void changes_that_may_be_joined_are_one_region(void)
{
	static const char same[] = "f32[8,8]{1,0} cosine(x)\n  n = f32[8,8]{1,0} negate(c)",
		other[] = "f32[8,8]{1,0} cosine(w)\n  n = f32[8,8]{1,0} negate(c)",
		smaller[] = "f32[4,8]{1,0} cosine(v)\n  n = f32[4,8]{1,0} negate(c)";

	CHECK_INT(regions_of_two(same, "cuda"), 1);
	CHECK_INT(regions_of_two(other, "cuda"), 2);
	CHECK_INT(regions_of_two(smaller, "cuda"), 2);
	CHECK_INT(regions_of_two(same, "cpu"), 2);
}

/* The first result of the region of the flip of tanh, where the root names exp and a negation in this order. */
static uint16_t first_result(const char *order, const char *backend)
{
	struct graph g = {0}, h = {0};
	struct space *s;
	struct regions rg = {0};
	struct err err = {{0}};
	uint8_t a[16] = {0}, b[16] = {0};
	uint16_t opcode = 0;
	char text[800];

	snprintf(text, sizeof text, HEAD "  x = f32[8,8]{1,0} parameter(0)\n  t = f32[8,8]{1,0} tanh(x)\n"
		"  y = f32[8,8]{1,0} exponential(t)\n  n = f32[8,8]{1,0} negate(y)\n"
		"  ROOT r = (f32[8,8]{1,0}, f32[8,8]{1,0}) tuple(%s)\n}\n", order);
	if (open_text(text, backend, &g, &s)) {
		for (uint32_t i = 0; i < s->n_sites; i++)
			b[i] = g.node[s->site[i].node].opcode == OP_TANH;
		CHECK(s->ops->region(s, b, a, &rg, &err) == 0);
		if (CHECK_INT(rg.n, 1) && CHECK(graph_parse(&h, rg.v[0].b.data, rg.v[0].b.len, "region", &err) == 0))
			opcode = h.node[node_operands(&h, h.comp[h.entry].root)[0]].opcode;
	}
	regions_release(&rg);
	space_free(s);
	graph_release(&g);
	graph_release(&h);
	return opcode;
}

/* The walk from the root decides what is joined with what, so the region's goes the same way. */
static void results_come_as_the_program_s_walk_enters_them(void)
{
	CHECK_INT(first_result("y, n", "cuda"), OP_EXPONENTIAL);
	CHECK_INT(first_result("n, y", "cuda"), OP_NEGATE);
	CHECK_INT(first_result("n, y", "cpu"), OP_EXPONENTIAL);
}

/* A reduction of what another one gives, and one whose result is repeated. No edge shows it; something is between. */
static const char norms[] = HEAD
	"  x = f32[64,64,64]{2,1,0} parameter(0)\n  z = f32[] constant(0)\n"
	"  r = f32[64,64]{1,0} reduce(x, z), dimensions={2}, to_apply=add\n"
	"  n = f32[64,64]{1,0} negate(r)\n"
	"  q = f32[64]{0} reduce(n, z), dimensions={1}, to_apply=add\n"
	"  e = f32[64]{0} sqrt(q)\n"
	"  c = f32[64,64]{1,0} broadcast(e), dimensions={0}\n"
	"  ROOT o = f32[64,64]{1,0} tanh(c)\n}\n";

/* May an update in place absorb what it updates, and what it updates it with? */
static void what_is_updated_in_place_is_in_memory(void)
{
	static const struct {
		const char *backend;
		bool updated;
	} t[] = {{"cuda", false}, {"cpu", true}, {"cuda:h100", false}};

	for (size_t i = 0; i < sizeof t / sizeof *t; i++) {
		struct graph g = {0};
		struct space *s;
		if (open_text(HEAD "  x = f32[8]{0} parameter(0)\n  i = s32[] parameter(1)\n"
			"  y = f32[2]{0} parameter(2)\n  e = f32[8]{0} exponential(x)\n  n = f32[2]{0} negate(y)\n"
			"  ROOT u = f32[8]{0} dynamic-update-slice(e, n, i)\n}\n", t[i].backend, &g, &s))
			for (uint32_t v = 0; v < g.n_nodes; v++) {
				bool site = s->site_of[v] != NONE;
				if (g.node[v].opcode == OP_EXPONENTIAL)
					CHECK_INT(site, t[i].updated);
				else if (g.node[v].opcode == OP_NEGATE)
					CHECK_INT(site, true);
			}
		space_free(s);
		graph_release(&g);
	}
}

/* What XLA makes itself may be asked for: kernels with several results, and results of reductions beside others. */
static void some_reductions_are_made(void)
{
#define FOLDED HEAD "  x = f32[4,64,48]{2,1,0} parameter(0)\n  y = f32[4,48]{1,0} parameter(1)\n" \
	"  z = f32[] constant(0)\n  r = f32[4,48]{1,0} reduce(x, z), dimensions={1}, to_apply=add\n" \
	"  m = f32[4,48]{1,0} multiply(r, y)\n"
	static const struct {
		const char *text;
		bool made;
	} t[] = {
		{FOLDED "  ROOT s = f32[4]{0} reduce(m, z), dimensions={1}, to_apply=add\n}\n", false},
		{FOLDED "  s = f32[4]{0} reduce(m, z), dimensions={1}, to_apply=add\n"
			"  ROOT t = (f32[4], f32[4,48]) tuple(s, m)\n}\n", true},
		{FOLDED "  s = f32[4]{0} reduce(m, z), dimensions={1}, to_apply=add\n"
			"  ROOT t = (f32[4], f32[4,48]) tuple(s, y)\n}\n", false},
		{FOLDED "  s = f32[4]{0} reduce(m, z), dimensions={1}, to_apply=add\n"
			"  n = f32[4,48]{1,0} negate(m)\n  ROOT t = (f32[4], f32[4,48]) tuple(s, n)\n}\n", true},
		{FOLDED "  ROOT b = f32[4,9,48]{2,1,0} broadcast(m), dimensions={0,2}\n}\n", false},
		{FOLDED "  c = f32[4,96]{1,0} concatenate(m, y), dimensions={1}\n"
			"  ROOT n = f32[4,96]{1,0} negate(c)\n}\n", true},
		{FOLDED "  c = f32[4,96]{1,0} concatenate(m, y), dimensions={1}\n"
			"  ROOT b = f32[4,9,96]{2,1,0} broadcast(c), dimensions={0,2}\n}\n", false},
		{FOLDED "  b = f32[4,9,48]{2,1,0} broadcast(m), dimensions={0,2}\n"
			"  ROOT t = (f32[4,9,48], f32[4,48]) tuple(b, y)\n}\n", false},
		{FOLDED "  b = f32[4,9,48]{2,1,0} broadcast(m), dimensions={0,2}\n"
			"  ROOT t = (f32[4,9,48], f32[4,48]) tuple(b, m)\n}\n", true},
	};
#undef FOLDED

	for (size_t i = 0; i < sizeof t / sizeof *t; i++) {
		struct graph g = {0};
		struct err err = {{0}};

		if (CHECK_INT(graph_parse(&g, t[i].text, strlen(t[i].text), "text", &err), 0) &&
			!CHECK_INT(unmade_fusion(&g, &g.comp[g.entry]) == NULL, t[i].made))
			printf("\trow %zu\n", i);
		graph_release(&g);
	}
}

/* How many groups of the configuration are kernels that are never made? */
static uint32_t unmade(struct space *s, const uint8_t *config)
{
	struct nodes members = {0};
	uint32_t n = 0, at;

	for (uint32_t v = 0; v < s->graph->n_nodes; v++) {
		if (!fusion_groupable(s->graph, v) || !fusion_kept(s, config, v))
			continue;
		members.n = 0;
		group_walk(s, config, v, &members);
		n += unmade_reduction(s->graph, members.v, members.n, &at) != NULL;
	}
	nodes_release(&members);
	return n;
}

static void what_is_drawn_is_allowed(void)
{
	struct graph g = {0};
	struct space *s;
	struct rng r;
	uint8_t config[16];

	rng_seed(&r, 1);
	if (open_text(norms, "cuda", &g, &s) && CHECK(s->n_sites <= 16)) {
		for (uint32_t i = 0; i < s->n_sites; i++)
			config[i] = (uint8_t)(s->site[i].choices - 1);
		CHECK(unmade(s, config) > 0);
		CHECK(s->ops->allow(s, config) > 0);
		CHECK_INT(unmade(s, config), 0);
		CHECK_INT(s->ops->allow(s, config), 0);
		for (int i = 0; i < 50; i++) {
			space_random(s, 0.9, &r, config);
			CHECK_INT(unmade(s, config), 0);
		}
	}
	space_free(s);
	graph_release(&g);
	if (open_text(norms, "cpu", &g, &s)) { /* computes any of them */
		memset(config, 1, sizeof config);
		CHECK_INT(s->ops->allow(s, config), 0);
	}
	space_free(s);
	graph_release(&g);
}

/* A group that reads more values than a launch passes is parted. */
static void large_groups_are_parted(void)
{
	struct buf text = {0};
	struct graph g = {0};
	struct space *s;
	uint8_t config[256] = {0};

	buf_adds(&text, HEAD "  x0 = f32[8]{0} parameter(0)\n");
	for (int i = 1; i <= 120; i++)
		buf_addf(&text, "  x%d = f32[8]{0} parameter(%d)\n  v%d = f32[8]{0} add(%c%d, x%d)\n", i, i, i, i > 1 ?
			'v' : 'x', i - 1, i);
	buf_adds(&text, "  ROOT o = f32[8]{0} negate(v120)\n}\n");
	if (open_text(text.data, "cuda", &g, &s) && CHECK_INT(s->n_sites, 120)) {
		uint32_t groups, fusions;
		memset(config, 1, sizeof config);
		fusion_count(s, config, &groups, &fusions);
		CHECK_INT(fusions, 1);
		CHECK_INT(s->ops->allow(s, config), 1);
		fusion_count(s, config, &groups, &fusions);
		CHECK_INT(fusions, 2);
	}
	space_free(s);
	graph_release(&g);
	buf_release(&text);
}

/* Barriers on each side of the region of the flip of cosine, which two groups read; 99 if they are not as many. */
static uint32_t barriers(const char *d, const char *backend)
{
	struct graph g = {0};
	struct space *s;
	struct regions rg = {0};
	uint8_t a[16] = {0}, b[16] = {0};
	uint32_t n = 99;
	char text[900];

	snprintf(text, sizeof text, HEAD "  x = f32[8,8]{1,0} parameter(0)\n  w = f32[8,8]{1,0} parameter(1)\n"
		"  c = f32[8,8]{1,0} cosine(x)\n  y = f32[8,8]{1,0} exponential(c)\n"
		"  d = f32[4,4]{1,0} custom-call(%s, w), custom_call_target=\"less\"\n"
		"  e = f32[8,8]{1,0} custom-call(d, w), custom_call_target=\"more\"\n"
		"  o = f32[8,8]{1,0} add(e, c)\n  p = f32[8,8]{1,0} multiply(o, e)\n"
		"  ROOT r = (f32[8,8]{1,0}, f32[8,8]{1,0}) tuple(y, p)\n}\n", d);
	if (open_text(text, backend, &g, &s) && CHECK(s->n_sites <= 16)) {
		for (uint32_t i = 0; i < s->n_sites; i++)
			if (g.node[s->site[i].node].opcode == OP_COSINE)
				b[i] = (uint8_t)(s->site[i].choices - 1);
		CHECK(s->ops->region(s, a, b, &rg, NULL) == 0);
		if (CHECK_INT(rg.n, 1) && opcodes_in(&rg.v[0].a, OP_OPTIMIZATION_BARRIER) ==
			opcodes_in(&rg.v[0].b, OP_OPTIMIZATION_BARRIER))
			n = opcodes_in(&rg.v[0].a, OP_OPTIMIZATION_BARRIER);
	}
	regions_release(&rg);
	space_free(s);
	graph_release(&g);
	return n;
}

/* An input that comes of a result, by a way outside, waits for it; otherwise two groups could become one there. */
static void inputs_wait_for_what_they_come_of(void)
{
	CHECK_INT(barriers("y", "cuda"), 1);
	CHECK_INT(barriers("x", "cuda"), 0);
	CHECK_INT(barriers("y", "cpu"), 0); /* nothing is joined there */
}

int main(void)
{
	RUN(regions_hold_what_may_be_joined);
	RUN(changes_that_may_be_joined_are_one_region);
	RUN(inputs_wait_for_what_they_come_of);
	RUN(results_come_as_the_program_s_walk_enters_them);
	RUN(what_is_updated_in_place_is_in_memory);
	RUN(some_reductions_are_made);
	RUN(what_is_drawn_is_allowed);
	RUN(large_groups_are_parted);
	return test_done();
}
