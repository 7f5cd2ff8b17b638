/*
 * check_rewrite_join.c - nodes that are computed together: which nodes may be, what the program becomes, and by which
 * region that is priced.
 */
#include "base/rng.h"
#include "space/space.h"
#include "space/rewrite/own.h"
#include "tests/test.h"

#define DOT ", lhs_contracting_dims={1}, rhs_contracting_dims={0}\n"

/* x has three readers; the third needs the first. Of the groups a and b either can be one product, but not both. */
static const char program[] =
	"HloModule m\n\nENTRY e {\n"
	"  x = f32[4,4] parameter(0)\n  y = f32[4,4] parameter(1)\n  v = f32[4,3] parameter(2)\n"
	"  w = f32[4,4] parameter(3)\n  k = f32[4,5] parameter(4)\n  z = f32[2,4] parameter(5)\n"
	"  q = f32[2,3] dot(z, v)" DOT
	"  r = f32[2,5] dot(z, k)" DOT
	"  t = f32[2,4] dot(z, w)" DOT
	"  a1 = f32[4,4] dot(x, w)" DOT
	"  b1 = f32[4,3] dot(y, v)" DOT
	"  na = f32[4,4] negate(a1)\n  nb = f32[4,3] negate(b1)\n"
	"  a2 = f32[4,3] dot(x, nb)" DOT
	"  b2 = f32[4,4] dot(y, na)" DOT
	"  c = f32[4,4] dot(x, a1)" DOT
	"  ROOT all = (f32[2,3], f32[2,5], f32[2,4], f32[4,3], f32[4,4], f32[4,4]) tuple(q, r, t, a2, b2, c)\n}\n";

struct opened {
	struct graph g;
	struct space *s;
	uint8_t *config;
	struct graph rewritten;
};

static bool open_text(struct opened *o, const char *text, size_t n)
{
	struct err err = {0};

	*o = (struct opened){.s = NULL};
	if (!CHECK(graph_parse(&o->g, text, n, "program", &err) == 0) ||
		!CHECK((o->s = space_open("rewrite/without:small-product", "cpu", &o->g, NULL, 0, &err)) != NULL))
		return false;
	o->config = MEM_NEW(o->s->n_sites + 1, uint8_t);
	return true;
}

static bool open_program(struct opened *o)
{
	return open_text(o, program, sizeof program - 1);
}

static void close_program(struct opened *o)
{
	graph_release(&o->rewritten);
	space_free(o->s);
	graph_release(&o->g);
	mem_free(o->config);
}

/* Returns the choice at node `name` that computes it together with node `leader`; 0: there is none. */
static uint8_t joining(const struct opened *o, const char *name, const char *leader)
{
	uint32_t site = o->s->site_of[graph_find(&o->g, name)];

	for (uint8_t k = 1; site != NONE && k < o->s->site[site].choices; k++)
		if (rewrite_offer(o->s, site, k)->leader == graph_find(&o->g, leader))
			return k;
	return 0;
}

/* Makes that choice; false if neither of the two nodes offers to join the other. */
static bool join(struct opened *o, const char *name, const char *leader)
{
	uint8_t k = joining(o, name, leader);
	const char *at = k ? name : leader;

	k = k ? k : joining(o, leader, name);
	if (k)
		o->config[o->s->site_of[graph_find(&o->g, at)]] = k;
	return k != 0;
}

static uint32_t products(struct opened *o)
{
	struct buf b = {0};
	uint32_t n = 0;

	graph_release(&o->rewritten);
	CHECK(o->s->ops->apply(o->s, o->config, &b, NULL) == 0);
	CHECK(graph_parse(&o->rewritten, b.data, b.len, "rewritten", NULL) == 0);
	for (uint32_t v = 0; v < o->rewritten.n_nodes; v++)
		n += o->rewritten.node[v].opcode == OP_DOT;
	buf_release(&b);
	return n;
}

static void who_needs_another_does_not_join_it(void)
{
	struct opened o;

	if (open_program(&o)) {
		CHECK(joining(&o, "c", "a1") == 0);
		CHECK(joining(&o, "q", "a1") == 0 && joining(&o, "a1", "q") == 0);
		CHECK_INT(products(&o), 8);
	}
	close_program(&o);
}

/* Each step reads the weights, and needs all steps before it but its twin, which reads what it reads. */
static void the_first_that_is_not_needed_leads(void)
{
	enum { STEPS = 60 };
	struct opened o;
	struct buf text = {0};
	char twin[16], step[16];

	buf_adds(&text, "HloModule m\n\nENTRY e {\n  w = f32[4,4] parameter(0)\n  x0 = f32[2,4] parameter(1)\n");
	for (int i = 0; i < STEPS; i++)
		buf_addf(&text, "  a%d = f32[2,4] dot(x%d, w)" DOT "  n%d = f32[2,4] negate(x%d)\n"
			"  b%d = f32[2,4] dot(n%d, w)" DOT "  x%d = f32[2,4] subtract(a%d, b%d)\n",
			i, i, i, i, i, i, i + 1, i, i);
	buf_addf(&text, "  ROOT r = f32[2,4] negate(x%d)\n}\n", STEPS);
	if (open_text(&o, text.data, text.len)) {
		for (int i = 0; i < STEPS; i += STEPS - 1) {
			snprintf(step, sizeof step, "a%d", i);
			snprintf(twin, sizeof twin, "b%d", i);
			CHECK(joining(&o, step, twin) || joining(&o, twin, step));
		}
		CHECK(joining(&o, "a1", "a0") == 0 && joining(&o, "a1", "b0") == 0);
	}
	close_program(&o);
	buf_release(&text);
}

/* No walk reaches from the last step to the first. What each needs is known from the step before it. */
static void the_last_of_many_steps_finds_its_leader(void)
{
	enum { STEPS = 40000 };
	struct opened o;
	struct buf text = {0};
	char last[16];

	buf_adds(&text, "HloModule m\n\nENTRY e {\n  w = f32[4,4] parameter(0)\n  z = f32[2,4] parameter(1)\n"
		"  x0 = f32[2,4] parameter(2)\n  a = f32[2,4] dot(z, w)" DOT);
	for (int i = 0; i < STEPS; i++)
		buf_addf(&text, "  b%d = f32[2,4] dot(x%d, w)" DOT "  x%d = f32[2,4] tanh(b%d)\n", i, i, i + 1, i);
	buf_addf(&text, "  ROOT r = (f32[2,4], f32[2,4]) tuple(a, x%d)\n}\n", STEPS);
	snprintf(last, sizeof last, "b%d", STEPS - 1);
	if (open_text(&o, text.data, text.len)) {
		CHECK(joining(&o, "b0", "a"));
		CHECK(joining(&o, last, "a"));
	}
	close_program(&o);
	buf_release(&text);
}

static void each_joins_by_itself(void)
{
	static const char *const name[] = {"q", "r", "t"};
	struct opened o;
	uint32_t left = 8, sites = 0;

	if (open_program(&o))
		for (int i = 0; i < 3; i++) {
			uint32_t site = o.s->site_of[graph_find(&o.g, name[i])];
			for (int k = 0; site != NONE && k < 3; k++)
				if (joining(&o, name[i], name[k])) {
					o.config[site] = joining(&o, name[i], name[k]);
					CHECK_INT(products(&o), --left);
					sites++;
				}
		}
	CHECK_INT(sites, 2);
	close_program(&o);
}

/* Each group can be one product, but not both groups at once; then the later node stays alone. */
static void circles_are_not_made(void)
{
	struct opened o;
	struct buf said = {0};

	if (open_program(&o)) {
		CHECK(join(&o, "a2", "a1"));
		CHECK_INT(products(&o), 7);
		memset(o.config, 0, o.s->n_sites);
		CHECK(join(&o, "b2", "b1"));
		CHECK_INT(products(&o), 7);
		CHECK(join(&o, "a2", "a1"));
		CHECK_INT(products(&o), 7);
		o.s->ops->summary(o.s, o.config, &said);
		CHECK_STR(said.data ? (char *)said.data : "",
			"1 places rewritten, 1 inert because an earlier one took what they are about");
	}
	buf_release(&said);
	close_program(&o);
}

enum { MANY = 40 };

/* Is there an order in which all can be computed, those with the same number in `group` at once? */
static bool has_an_order(const struct graph *g, const uint32_t *group)
{
	bool done[MANY] = {false}, more = true, all = true;

	for (; more; all = true) {
		more = false;
		for (uint32_t k = 0; k < g->n_nodes; k++) {
			bool ready = true;
			for (uint32_t v = 0; v < g->n_nodes; v++)
				for (uint32_t i = 0; i < g->node[v].n_operands && group[v] == k; i++)
					ready &= done[group[node_operands(g, v)[i]]];
			more |= ready && !done[k];
			done[k] |= ready;
			all &= done[k];
		}
		if (all)
			return true;
	}
	return false;
}

/* Products and sums of two values each that came before, or of parameters. */
static void any_program(struct buf *text, struct rng *rng)
{
	buf_adds(text, "HloModule m\n\nENTRY e {\n  v0 = f32[4,4] parameter(0)\n  v1 = f32[4,4] parameter(1)\n");
	for (uint32_t i = 2; i < MANY; i++) {
		uint32_t a = (uint32_t)rng_below(rng, i < 8 ? i : 8), b = (uint32_t)rng_below(rng, i);
		if (rng_below(rng, 3))
			buf_addf(text, "  %sv%u = f32[4,4] dot(v%u, v%u)" DOT, i + 1 == MANY ? "ROOT " : "", i, a, b);
		else
			buf_addf(text, "  %sv%u = f32[4,4] add(v%u, v%u)\n", i + 1 == MANY ? "ROOT " : "", i, b, a);
	}
	buf_adds(text, "}\n");
}

struct told {		     /* per node, by trying */
	uint32_t group[MANY];
	uint32_t role[MANY]; /* 1: it is led; 2 or 3: it leads those that share operand 0 or 1 */
};

static bool may_join(const struct opened *o, struct told *t, uint32_t v, const struct offer *offer)
{
	uint32_t leader = offer->leader, role = 2u + offer->side;

	t->group[v] = t->group[leader];
	if (t->role[v] || (t->role[leader] && t->role[leader] != role) || !has_an_order(&o->g, t->group)) {
		t->group[v] = v;
		return false;
	}
	t->role[v] = 1;
	t->role[leader] = role;
	return true;
}

static void who_joins_is_what_trying_tells(void)
{
	uint32_t n[2] = {0};

	for (uint32_t seed = 0; seed < 300; seed++) {
		struct told told = {.role = {0}};
		struct buf text = {0};
		uint8_t real[MANY];
		struct opened o;
		struct rng rng;
		rng_seed(&rng, seed);
		any_program(&text, &rng);
		if (!open_text(&o, text.data, text.len))
			return;
		for (uint32_t v = 0; v < MANY; v++)
			told.group[v] = v;
		for (uint32_t i = 0; i < o.s->n_sites; i++)
			for (uint8_t k = 1; k < o.s->site[i].choices; k++)
				if (rewrite_offer(o.s, i, k)->leader != NONE && rng_below(&rng, 4))
					o.config[i] = k;
		rewrite_real(o.s, o.config, real);
		for (uint32_t i = 0; i < o.s->n_sites; i++)
			if (o.config[i]) {
				bool joins = may_join(&o, &told, o.s->site[i].node, rewrite_offer(o.s, i, o.config[i]));
				CHECK_INT(real[i] != 0, joins);
				n[joins]++;
			}
		products(&o);
		close_program(&o);
		buf_release(&text);
	}
	CHECK(n[0] > 300 && n[1] > 300);
	printf("\t%u joined, %u stayed alone\n", n[1], n[0]);
}

/* A node that joins a group changes how the whole group is computed. So the place is that group, on both sides. */
static void the_group_is_one_place(void)
{
	struct opened o;
	struct regions r = {0};
	struct graph g[2] = {{.n_nodes = 0}, {.n_nodes = 0}};
	uint8_t *before;

	if (open_program(&o)) {
		before = MEM_NEW(o.s->n_sites + 1, uint8_t);
		for (uint32_t i = 0, n = 0; i < o.s->n_sites; i++)
			for (uint8_t k = 1; k < o.s->site[i].choices; k++)
				if (strchr("qrt", *o.g.node[o.s->site[i].node].proto->name) &&
					rewrite_offer(o.s, i, k)->leader != NONE &&
					rewrite_offer(o.s, i, k)->side == 0) {
					o.config[i] = k;
					before[i] = n++ == 0 ? k : 0;
				}
		if (CHECK(o.s->ops->region(o.s, before, o.config, &r, NULL) == 0) && CHECK_INT(r.n, 1))
			for (int i = 0; i < 2; i++) {
				const struct buf *side = i ? &r.v->b : &r.v->a;
				uint32_t dots = 0;
				CHECK(graph_parse(&g[i], side->data, side->len, "a region", NULL) == 0);
				for (uint32_t v = 0; v < g[i].n_nodes; v++)
					dots += g[i].node[v].opcode == OP_DOT;
				CHECK_INT(dots, 2 - i);
				CHECK_INT(g[i].comp[g[i].entry].proto->program_shape->n_parameters, 4);
				CHECK_INT(g[i].comp[g[i].entry].proto->program_shape->result->n_tuple_shapes, 3);
			}
		mem_free(before);
	}
	regions_release(&r);
	graph_release(&g[0]);
	graph_release(&g[1]);
	close_program(&o);
}

/*
 * Two parts of a product are read. The product is inside the place, which reads the product's operands. If something
 * else reads the whole product, it stays in the program.
 */
static void parts_read_what_the_product_reads(void)
{
	static const char *const also[] = {"", "  n = f32[4,6] negate(y)\n"};

	for (int other = 0; other < 2; other++) {
		struct buf text = {0};
		struct graph g, side[2];
		struct regions r = {0};
		struct err err = {0};
		uint8_t none[2] = {0}, all[2] = {1, 1};
		struct space *s = NULL;
		buf_addf(&text, "HloModule m\n\nENTRY e {\n  x = f32[4,5] parameter(0)\n  w = f32[5,6] parameter(1)\n"
			"  y = f32[4,6] dot(x, w)" DOT
			"  a = f32[4,2] slice(y), slice={[0:4], [0:2]}\n"
			"  b = f32[4,4] slice(y), slice={[0:4], [2:6]}\n%s"
			"  ROOT t = (f32[4,2], f32[4,4]%s) tuple(a, b%s)\n}\n",
			also[other], other ? ", f32[4,6]" : "", other ? ", n" : "");
		if (CHECK(graph_parse(&g, text.data, text.len, "text", &err) == 0))
			s = space_open("rewrite/without:small-product", "cpu", &g, NULL, 0, &err);
		if (CHECK(s && s->n_sites == 1) && CHECK(s->ops->region(s, none, all, &r, &err) == 0) &&
			CHECK_INT(r.n, 1))
			for (int i = 0; i < 2; i++) {
				const struct buf *b = i ? &r.v->b : &r.v->a;
				uint32_t dots = 0;
				CHECK(graph_parse(&side[i], b->data, b->len, "a region", NULL) == 0);
				for (uint32_t v = 0; v < side[i].n_nodes; v++)
					dots += side[i].node[v].opcode == OP_DOT;
				CHECK_INT(dots, i == 0 ? 1 : 2 + other);
				CHECK_INT(side[i].comp[side[i].entry].proto->program_shape->n_parameters, 2);
				graph_release(&side[i]);
			}
		if (err.text[0])
			printf("\t%s\n", err.text);
		regions_release(&r);
		space_free(s);
		graph_release(&g);
		buf_release(&text);
	}
}

int main(void)
{
	RUN(parts_read_what_the_product_reads);
	RUN(who_needs_another_does_not_join_it);
	RUN(the_first_that_is_not_needed_leads);
	RUN(the_last_of_many_steps_finds_its_leader);
	RUN(each_joins_by_itself);
	RUN(circles_are_not_made);
	RUN(who_joins_is_what_trying_tells);
	RUN(the_group_is_one_place);
	return test_done();
}
