/*
 * check_rewrite.c - the kind that rewrites the program: its names, its sites, what it applies, what it cuts out.
 */
#include "graph/ring.h"
#include "space/space.h"
#include "space/rewrite/own.h"
#include "tests/test.h"

/* Two depthwise layers that are alike, a convolution of few channels, a product with parts in a called computation. */
static const char program[] =
	"HloModule m\n\n"
	"part {\n"
	"  a = f32[4,2] parameter(0)\n  s = f32[3] parameter(1)\n  w = f32[5,2] parameter(2)\n"
	"  b = f32[4,3] broadcast(s), dimensions={1}\n"
	"  c = f32[4,5] concatenate(a, b), dimensions={1}\n"
	"  ROOT d = f32[4,2] dot(c, w), lhs_contracting_dims={1}, rhs_contracting_dims={0}\n}\n\n"
	"ENTRY e {\n"
	"  x = f32[1,6,6,2] parameter(0)\n  k = f32[3,3,1,2] parameter(1)\n  l = f32[3,3,1,2] parameter(2)\n"
	"  y = f32[1,6,6,2] convolution(x, k), window={size=3x3 pad=1_1x1_1}, "
	"dim_labels=b01f_01io->b01f, feature_group_count=2\n"
	"  z = f32[1,6,6,2] convolution(y, l), window={size=3x3 pad=1_1x1_1}, "
	"dim_labels=b01f_01io->b01f, feature_group_count=2\n"
	"  q = f32[3,3,2,1] parameter(3)\n"
	"  u = f32[1,4,4,1] convolution(z, q), window={size=3x3}, dim_labels=b01f_01io->b01f\n"
	"  v = f32[4,4] reshape(u)\n  a = f32[4,2] slice(v), slice={[0:4], [0:2]}\n"
	"  s = f32[3] parameter(4)\n  w = f32[5,2] parameter(5)\n"
	"  ROOT d = f32[4,2] call(a, s, w), to_apply=part\n}\n";

/* The programs here are small so that they can be read: what is offered for small products is left out. */
#define LARGE "rewrite/without:small-product"

static struct graph graph;

static struct space *open_space(const char *kind, struct err *err)
{
	return space_open(kind, "cpu", &graph, NULL, 0, err);
}

static uint32_t site_at(const struct space *s, const char *name)
{
	uint32_t v = graph_find(s->graph, name);

	return v == NONE ? NONE : s->site_of[v];
}

static void names_say_which_rules(void)
{
	static const struct {
		const char *kind;
		const char *says; /* of the sentence; NULL: it opens */
		uint32_t sites;
	} table[] = {{"rewrite", NULL, 4}, {"rewrite/without:depthwise-forward", NULL, 2},
		{"rewrite/without:depthwise-forward:convolution-as-dot", NULL, 2},
		{"rewrite/without:depthwise-forward:convolution-as-dot:few-features-forward", NULL, 1},
		{"rewrite/without:depthwise", "the rules are", 0},
		{"rewrite/with:depthwise-forward", NULL, 4}, {"rewrite/with:depthwise", "the rules are", 0},
		{"rewrite/by:depthwise-forward", "not of the form", 0}, {"rewrite:7", "not of the form", 0}};

	for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
		struct err err = {0};
		struct space *s = open_space(table[i].kind, &err);
		bool right = table[i].says ? !s && strstr(err.text, table[i].says) : s && s->n_sites == table[i].sites;
		if (!CHECK(right))
			printf("\t%s: %s, %u sites\n", table[i].kind, err.text, s ? s->n_sites : 0);
		space_free(s);
	}
}

#define FITS_HEAD \
	"HloModule m\nadd {\n a = f32[] parameter(0)\n b = f32[] parameter(1)\n ROOT s = f32[] add(a, b)\n}\n" \
	"twice {\n a = f32[] parameter(0)\n b = f32[] parameter(1)\n ROOT s = f32[] add(a, a)\n}\nENTRY e {\n"

/* A program may claim any shape. A rule leaves an instruction alone whose shape does not fit its operands. */
static void shapes_that_do_not_fit_are_left_alone(void)
{
	static const struct {
		const char *text, *right, *wrong[4];
	} table[] = {
		{"i = f32[1,1,4,8] parameter(0)\n k = f32[1,1,%s,2] parameter(1)\n"
		 " ROOT c = f32[1,1,4,7] convolution(i, k), window={size=1x2}, dim_labels=bf01_oi01->bf01\n}\n",
			"1", {"2", "3"}},
		{"i = f32[1,1,4,8] parameter(0)\n k = f32[1,1,1,2] parameter(1)\n"
		 " ROOT c = f32[1,1,%s] convolution(i, k), window={size=1x2}, dim_labels=bf01_oi01->bf01\n}\n",
			"4,7", {"4,8", "3,7", "4,0"}},
		{"z = f32[] constant(0)\n x = f32[4,8] parameter(0)\n"
		 " ROOT r = f32[%s] reduce-window(x, z), window={size=2x2}, to_apply=add\n}\n",
			"3,7", {"4,7", "3,8", "3"}},
		{"z = f32[] constant(0)\n x = f32[4,8] parameter(0)\n"
		 " ROOT r = f32[3,7] reduce-window(x, z), window={size=2x2}, to_apply=%s\n}\n",
			"add", {"twice"}},
		{"z = f32[] constant(0)\n x = f32[4,5] parameter(0)\n y = f32[5,6] parameter(1)\n"
		 " d = f32[4,6] dot(x, y), lhs_contracting_dims={1}, rhs_contracting_dims={0}\n"
		 " ROOT s = f32[%s] reduce(d, z), dimensions={0}, to_apply=add\n}\n",
			"6", {"7", "4,6", ""}},
		{"x = f32[4,5] parameter(0)\n y = f32[5,6] parameter(1)\n w = f32[%s] parameter(2)\n"
		 " d = f32[4,6] dot(x, y), lhs_contracting_dims={1}, rhs_contracting_dims={0}\n"
		 " ROOT s = f32[4,1] dot(d, w), lhs_contracting_dims={1}, rhs_contracting_dims={0}\n}\n",
			"6,1", {"7,1", "6,2", "6,1,2"}},
		{"a = f32[4,2] parameter(0)\n b = f32[4,%s] parameter(1)\n w = f32[5,2] parameter(2)\n"
		 " c = f32[4,5] concatenate(a, b), dimensions={1}\n"
		 " ROOT d = f32[4,2] dot(c, w), lhs_contracting_dims={1}, rhs_contracting_dims={0}\n}\n",
			"3", {"2", "3,1"}},
		{"t = f32[9,5] parameter(0)\n i = s32[7,1] parameter(1)\n w = f32[5,2] parameter(2)\n"
		 " g = f32[7,5] gather(t, i), offset_dims={1}, collapsed_slice_dims={0}, start_index_map={%s}, "
		 "index_vector_dim=1, slice_sizes={1,5}\n"
		 " ROOT d = f32[7,2] dot(g, w), lhs_contracting_dims={1}, rhs_contracting_dims={0}\n}\n",
			"0", {"7", "0,1"}}};

	for (size_t i = 0; i < sizeof table / sizeof *table; i++)
		for (int k = -1; k < 4 && (k < 0 || table[i].wrong[k]); k++) {
			const char *part = k < 0 ? table[i].right : table[i].wrong[k];
			const char *at = strstr(table[i].text, "%s");
			struct buf text = {0};
			struct graph g;
			struct err err = {0};
			struct space *s = NULL;
			buf_addf(&text, FITS_HEAD " %.*s%s%s", (int)(at - table[i].text), table[i].text, part, at + 2);
			if (CHECK(graph_parse(&g, text.data, text.len, "text", &err) == 0))
				s = space_open(LARGE, "cpu", &g, NULL, 0, &err);
			if (!CHECK(s && (s->n_sites > 0) == (k < 0)))
				printf("\t%u sites, %s, in\n%s", s ? s->n_sites : 0, err.text, text.data);
			space_free(s);
			graph_release(&g);
			buf_release(&text);
		}
}

/* An instruction between a mean and its sum waits for another, which no region has. */
static void what_waits_is_not_cut_out(void)
{
	static const char text[] = FITS_HEAD " z = f32[] constant(0)\n x = f32[4,8] parameter(0)\n"
		" o = f32[4,8] negate(x)\n t = f32[4] reduce(x, z), dimensions={1}, to_apply=add\n"
		" w = f32[4] copy(t), control-predecessors={o}\n n = f32[4] parameter(1)\n m = f32[4] multiply(w, n)\n"
		" b = f32[4,8] broadcast(m), dimensions={0}\n d = f32[4,8] subtract(x, b)\n"
		" q = f32[4,8] multiply(d, d)\n v = f32[4] reduce(q, z), dimensions={1}, to_apply=add\n"
		" ROOT y = (f32[4], f32[4,8]) tuple(v, o)\n}\n";
	uint8_t none[8] = {0}, one[8] = {0};
	struct regions all = {0};
	struct err err = {0};
	struct space *s = NULL;
	struct graph g;

	if (CHECK(graph_parse(&g, text, sizeof text - 1, "text", &err) == 0))
		s = space_open("rewrite", "cpu", &g, NULL, 0, &err);
	if (CHECK(s && s->site_of[graph_find(&g, "v")] != NONE)) {
		one[s->site_of[graph_find(&g, "v")]] = 1;
		CHECK(s->ops->region(s, none, one, &all, &err) == 0);
		CHECK_STR(err.text, "");
	}
	regions_release(&all);
	space_free(s);
	graph_release(&g);
}

#define ONES13 "1,1,1,1,1,1,1,1,1,1,1,1,1"

/* What a rule would compute on the way may have more dimensions than what it reads and writes. */
static void ranks_beyond_a_draft_are_left_alone(void)
{
	static const struct {
		const char *text, *rule; /* at y */
	} table[] = {
		{"HloModule m\nENTRY e {\n a = f32[1," ONES13 "] parameter(0)\n b = f32[1," ONES13 "] parameter(1)\n"
		 " ROOT y = f32[1," ONES13 "] dot(a, b), lhs_contracting_dims={7,8,9,10,11,12,13}, "
		 "rhs_contracting_dims={0,1,2,3,4,5,6}\n}\n",
			"small-product"},
		{"HloModule m\nENTRY e {\n a = f32[64," ONES13 "] parameter(0)\n x = f32[" ONES13 ",64] parameter(1)\n"
		 " c = f32[64," ONES13 "] parameter(2)\n t = f32[64,64] dot(a, x), "
		 "lhs_contracting_dims={1,2,3,4,5,6,7,8,9,10,11,12,13}, "
		 "rhs_contracting_dims={0,1,2,3,4,5,6,7,8,9,10,11,12}\n"
		 " ROOT y = f32[64," ONES13 "] dot(t, c), lhs_contracting_dims={1}, rhs_contracting_dims={0}\n}\n",
			"associate-right"},
		{"HloModule m\nENTRY e {\n t = f32[" ONES13 ",8] parameter(0)\n i = s32[13] parameter(1)\n"
		 " w = f32[8," ONES13 "] parameter(2)\n g = f32[8] gather(t, i), offset_dims={0}, "
		 "collapsed_slice_dims={0,1,2,3,4,5,6,7,8,9,10,11,12}, "
		 "start_index_map={0,1,2,3,4,5,6,7,8,9,10,11,12}, index_vector_dim=0, "
		 "slice_sizes={" ONES13 ",8}\n"
		 " ROOT y = f32[" ONES13 "] dot(g, w), lhs_contracting_dims={0}, rhs_contracting_dims={0}\n}\n",
			"sink-product"}};

	for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
		struct graph g;
		struct err err = {0};
		struct rules rules = {.n = 0};
		struct found f;
		bool found = false;
		if (CHECK(graph_parse(&g, table[i].text, strlen(table[i].text), "text", &err) == 0) &&
			CHECK(rules_load(&rules, &err) == 0))
			for (size_t r = 0; r < rules.n; r++)
				found |= strcmp(rules.rule[r].name, table[i].rule) == 0 &&
					rule_match(&rules.rule[r], &g, graph_find(&g, "y"), &f);
		if (!CHECK(!found))
			printf("\t%s is offered\n", table[i].rule);
		rules_release(&rules);
		graph_release(&g);
	}
}

/* A message may leave out which dimensions a product sums over. */
static void numbers_that_were_left_out(void)
{
	static const char text[] = "HloModule m\nENTRY e {\n x = f32[4] parameter(0)\n y = f32[5] parameter(1)\n"
		" d = f32[4,5] dot(x, y)\n w = f32[5,1] parameter(2)\n"
		" ROOT s = f32[4,1] dot(d, w), lhs_contracting_dims={1}, rhs_contracting_dims={0}\n}\n";
	struct graph g, without;
	struct buf b = {0};
	struct err err = {0};
	struct space *s;

	CHECK(graph_parse(&g, text, sizeof text - 1, "text", &err) == 0);
	g.node[graph_find(&g, "d")].proto->dot_dimension_numbers = NULL;
	graph_write(&g, &b);
	CHECK(graph_parse(&without, b.data, b.len, "message", &err) == 0);
	s = space_open("rewrite", "cpu", &without, NULL, 0, &err);
	CHECK(s && s->n_sites == 0);
	space_free(s);
	graph_release(&without);
	graph_release(&g);
	buf_release(&b);
}

static void nothing_chosen_is_the_program(void)
{
	struct space *s = open_space(LARGE, NULL);
	uint8_t config[8] = {0};
	struct buf b = {0};
	struct graph g = {0};

	CHECK(s->ops->apply(s, config, &b, NULL) == 0 && graph_parse(&g, b.data, b.len, "same", NULL) == 0);
	CHECK(memcmp(&g.content, &graph.content, sizeof g.content) == 0);
	graph_release(&g);
	buf_release(&b);
	space_free(s);
}

static uint32_t count(const struct graph *g, uint16_t opcode)
{
	uint32_t n = 0;

	for (uint32_t v = 0; v < g->n_nodes; v++)
		n += g->node[v].opcode == opcode;
	return n;
}

/*
 * The chosen instructions are there, those that they replace are gone, and the rest is as it was, also in computations
 * that are called.
 */
static void choices_are_written(void)
{
	struct space *s = open_space(LARGE, NULL);
	uint8_t config[8] = {0};
	struct buf b = {0}, said = {0};
	struct graph g = {0};
	uint32_t y = site_at(s, "y"), d = NONE;

	for (uint32_t i = 0; i < s->n_sites; i++)
		if (s->graph->node[s->site[i].node].opcode == OP_DOT)
			d = i;
	if (!CHECK(y != NONE && d != NONE))
		return;
	CHECK_INT(s->site[d].choices, 3);
	config[y] = 1;
	config[d] = 2;
	CHECK(s->ops->apply(s, config, &b, NULL) == 0);
	if (CHECK(graph_parse(&g, b.data, b.len, "rewritten", NULL) == 0)) {
		CHECK_INT(count(&g, OP_CONVOLUTION), 2);
		CHECK_INT(count(&g, OP_CONCATENATE), 0);
		CHECK_INT(count(&g, OP_DOT), 2);
		CHECK(graph_find(&g, "y") != NONE);
	}
	s->ops->summary(s, config, &said);
	CHECK_STR((char *)said.data, "2 places rewritten");
	buf_reset(&said);
	s->ops->words(s, y, 1, &said);
	CHECK_STR((char *)said.data, "depthwise-forward: shifted multiply-adds");
	buf_reset(&said);
	s->ops->picture(s, y, 1, &said);
	CHECK(strstr((char *)said.data, "pad(") && !strstr((char *)said.data, "convolution("));
	buf_release(&said);
	buf_release(&b);
	graph_release(&g);
	space_free(s);
}

/* Both sides of a region take the same parameters and compute the same. */
static void check_region(const struct region *r)
{
	const struct buf *side[2] = {&r->a, &r->b};
	struct graph g[2];
	struct arena mem = {0};
	struct tensor param[16], y[2] = {{.n = 0}, {.n = 0}};

	for (int i = 0; i < 2; i++)
		CHECK(graph_parse(&g[i], side[i]->data, side[i]->len, "a region", NULL) == 0);
	CHECK(g[0].comp[g[0].entry].proto->program_shape->n_parameters ==
		g[1].comp[g[1].entry].proto->program_shape->n_parameters);
	for (uint32_t v = 0; v < g[0].n_nodes; v++)
		if (g[0].node[v].opcode == OP_PARAMETER) {
			struct tensor t = ring_tensor(&mem, g[0].node[v].proto->shape);
			for (size_t k = 0; k < t.n; k++)
				t.v[k] = (k + 3) * 7919 % 1009;
			param[g[0].node[v].proto->parameter_number] = t;
		}
	for (int i = 0; i < 2; i++)
		CHECK(ring_run(&g[i], RING_FIELD, param, &mem, &y[i], NULL) == 0);
	CHECK(y[0].n == y[1].n && memcmp(y[0].v, y[1].v, y[0].n * sizeof *y[0].v) == 0);
	arena_release(&mem);
	graph_release(&g[0]);
	graph_release(&g[1]);
}

static void copies_are_one_region(void)
{
	struct space *s = open_space(LARGE, NULL);
	uint8_t a[8] = {0}, b[8] = {0};
	struct regions r = {0};
	struct err err = {0};

	b[site_at(s, "y")] = b[site_at(s, "z")] = 1;
	if (CHECK(s->ops->region(s, a, b, &r, &err) == 0) && CHECK_INT(r.n, 1)) {
		CHECK_INT(r.v->copies, 2);
		CHECK(r.v->times > 1.5 && r.v->alike && !r.v->whole && r.v->key[0] != r.v->key[1]);
		check_region(r.v);
	}
	CHECK_INT(s->site[site_at(s, "y")].tie, s->site[site_at(s, "z")].tie);
	regions_release(&r);
	CHECK(s->ops->region(s, b, b, &r, &err) == 0 && r.n == 0);
	space_free(s);
}

/*
 * A concatenation that others read as well is computed in any case. So both sides compute it from its parts: if it were
 * a parameter of one side, the two sides would compute different numbers.
 */
static void what_others_read_is_on_both_sides(void)
{
	static const char text[] = "HloModule m\n\nENTRY e {\n"
		"  a = f32[4,2] parameter(0)\n  b = f32[4,3] parameter(1)\n  w = f32[5,2] parameter(2)\n"
		"  c = f32[4,5] concatenate(a, b), dimensions={1}\n  n = f32[4,5] negate(c)\n"
		"  d = f32[4,2] dot(c, w), lhs_contracting_dims={1}, rhs_contracting_dims={0}\n"
		"  ROOT t = (f32[4,5], f32[4,2]) tuple(n, d)\n}\n";
	struct graph g, side[2];
	struct regions r = {0};
	struct err err = {0};
	uint8_t a[1] = {0}, b[1] = {1};
	struct space *s = NULL;

	if (CHECK(graph_parse(&g, text, sizeof text - 1, "text", &err) == 0))
		s = space_open(LARGE, "cpu", &g, NULL, 0, &err);
	if (CHECK(s && s->n_sites == 1) && CHECK(s->ops->region(s, a, b, &r, &err) == 0) && CHECK_INT(r.n, 1))
		for (int i = 0; i < 2; i++) {
			const struct buf *module = i ? &r.v->b : &r.v->a;
			CHECK(graph_parse(&side[i], module->data, module->len, "a region", NULL) == 0);
			CHECK_INT(count(&side[i], OP_PARAMETER), 3);
			CHECK_INT(count(&side[i], OP_CONCATENATE), 1);
			CHECK_INT(count(&side[i], OP_DOT), i + 1);
			graph_release(&side[i]);
		}
	regions_release(&r);
	space_free(s);
	graph_release(&g);
}

/*
 * A rule whose places alone give wrong prices is priced by whole programs. Its place is measured first, to see whether
 * that is worthwhile; on the way back it is not.
 */
static void whole_rules_give_whole_programs(void)
{
	struct space *s = open_space(LARGE, NULL);
	uint8_t a[8] = {0}, b[8] = {0};
	struct regions r = {0};

	b[site_at(s, "u")] = 1;
	CHECK(s->ops->region(s, a, b, &r, NULL) == 0);
	if (CHECK_INT(r.n, 2)) {
		CHECK(r.v[0].screen && !r.v[0].whole && r.v[1].whole && !r.v[1].screen);
		check_region(&r.v[0]);
	}
	regions_release(&r);
	CHECK(s->ops->region(s, b, a, &r, NULL) == 0);
	CHECK(r.n == 1 && r.v[0].whole);
	regions_release(&r);
	space_free(s);
}

static void mistakes_in_rules_are_told(void)
{
	static const struct {
		const char *text, *says;
	} table[] = {
		{"about x\n", "line 1: a rule was expected"},
		{"rule a\n  colour red\n", "line 2: nothing is known of colour"},
		{"rule a\n  about b\n  variant c\n", "without code"},
		{"rule a\n  code nothing\n", "line 2: there is no code called nothing"},
		{"rule a\n  code window_dot\n  about b\n", "without a variant"},
		{"rule a\n  code window_dot\n  about b\n  kept c\n", "nothing is written yet"},
		{"rule a\n  code window_dot\n  about b\n  variant c\n  price half\n", "by region, whole or program"},
		{"rule a\n  code window_dot\n  about b\n  variant c\n  when taps <\n", "line 5"},
		{"rule a\n  code window_dot\n  about b\n  variant c\n  when colour < 2\n", "name of a measure"},
		{"rule a\n  code window_dot\n  about b\n  variant c\n  when (taps < 2\n", "not closed"},
		{"rule a\n  code window_dot\n  about b\n  variant c\n  when taps < 2 3\n", "nothing more"},
		{"rule a\n  code window_dot\n  about b\n  variant c\nrule a\n", "another rule called a"},
		{"rule a\n  match y[mn] = dot a[mk] b\n", "letters of b are not known"},
		{"rule a\n  match y[mn = dot a b\n", "line 2"},
		{"rule a\n  match y[mn] = twist a[mk] b[kn]\n", "no operation twist"},
		{"rule a\n  match y[mn] = dot a[mk] b[kn]\n  about b\n  variant c\n", "matches something and writes"},
		{"rule a\n  match y[mn] = dot a[mk] b[kn]\n  write z[mn] = dot a b\n  about b\n  variant c\n",
			"is not y"},
		{"rule a\n  match y[mn] = dot a[mk] b[kn]\n  write y = dot a c[kn]\n  about b\n  variant c\n",
			"c is neither read"},
		{"rule a\n  match y[mn] = dot a[mk] b[kn]\n  write y = dot a b\n  about b\n  variant c\n  when z > 1\n",
			"measure"}};

	for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
		struct rules r = {0};
		struct err err = {0};
		if (!CHECK(rules_parse(&r, "mine", table[i].text, strlen(table[i].text), &err) < 0) ||
			!CHECK(strstr(err.text, table[i].says)))
			printf("\t%s\t%s\n", table[i].text, err.text);
		rules_release(&r);
	}
}

static void conditions_are_arithmetic(void)
{
	static const char *const names[] = {"a", "bc", NULL};
	static const double measure[] = {3, 10};
	static const struct {
		const char *text;
		double value;
	} table[] = {{"1 + 2 * 3", 7}, {"(1 + 2) * 3", 9}, {"a * bc - 4 / 2", 28}, {"a < bc and bc <= 10", 1},
		{"a > bc or a == 3", 1}, {"a != 3", 0}, {"bc / 0", 0}, {"a - 1 - 1", 1}, {"a>=3 and bc>10", 0}};
	struct arena mem = {0};

	for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
		struct err err = {0};
		struct expr *e = expr_parse(&mem, table[i].text, names, &err);
		if (!CHECK(e) || !CHECK_NEAR(expr_value(e, measure), table[i].value, 1e-12))
			printf("\t%s: %s\n", table[i].text, err.text);
	}
	arena_release(&mem);
}

/* A site whose nodes an earlier site took has no effect, and the summary says so. */
static void overlapping_places_are_settled_by_order(void)
{
	static const char chain[] = "HloModule m\n\nENTRY e {\n"
		"  a = f32[2,9] parameter(0)\n  b = f32[9,8] parameter(1)\n  c = f32[8,7] parameter(2)\n"
		"  t = f32[9,7] dot(b, c), lhs_contracting_dims={1}, rhs_contracting_dims={0}\n"
		"  u = f32[2,7] dot(a, t), lhs_contracting_dims={1}, rhs_contracting_dims={0}\n"
		"  d = f32[7,1] parameter(3)\n"
		"  ROOT y = f32[2,1] dot(u, d), lhs_contracting_dims={1}, rhs_contracting_dims={0}\n}\n";
	struct graph g = {0}, h = {0};
	uint8_t config[8] = {0}, real[8];
	struct buf b = {0}, said = {0};
	struct space *s;

	CHECK(graph_parse(&g, chain, sizeof chain - 1, "chain", NULL) == 0);
	s = space_open(LARGE, "cpu", &g, NULL, 0, NULL);
	if (!CHECK(s && s->n_sites == 2))
		return;
	config[0] = config[1] = 1; /* (a (b c)) d: u as (a b) c; y as a t with d first, which needs u */
	rewrite_real(s, config, real);
	CHECK(real[0] == 1 && real[1] == 0);
	s->ops->summary(s, config, &said);
	CHECK(strstr((char *)said.data, "1 inert"));
	CHECK(s->ops->apply(s, config, &b, NULL) == 0 && graph_parse(&h, b.data, b.len, "rewritten", NULL) == 0);
	CHECK_INT(count(&h, OP_DOT), 3);
	graph_release(&h);
	buf_release(&b);
	buf_release(&said);
	space_free(s);
	graph_release(&g);
}

int main(void)
{
	struct err err = {0};

	if (graph_parse(&graph, program, sizeof program - 1, "program", &err) < 0)
		printf("FAIL: program: %s\n", err.text);
	RUN(names_say_which_rules);
	RUN(shapes_that_do_not_fit_are_left_alone);
	RUN(what_waits_is_not_cut_out);
	RUN(ranks_beyond_a_draft_are_left_alone);
	RUN(numbers_that_were_left_out);
	RUN(nothing_chosen_is_the_program);
	RUN(choices_are_written);
	RUN(copies_are_one_region);
	RUN(what_others_read_is_on_both_sides);
	RUN(whole_rules_give_whole_programs);
	RUN(overlapping_places_are_settled_by_order);
	RUN(mistakes_in_rules_are_told);
	RUN(conditions_are_arithmetic);
	graph_release(&graph);
	return test_done();
}
