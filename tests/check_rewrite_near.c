/*
 * check_rewrite_near.c - places that look through the same node: tried together, and cut out together.
 */
#include <stdlib.h>
#include "search/scorer.h"
#include "search/hunt.h"
#include "space/rewrite/own.h"
#include "tests/test.h"

/* A layer with a concatenation that its product reads, and the gradient of its weights; a product apart from both. */
static const char program[] =
	"HloModule m\n\nENTRY e {\n"
	"  a = f32[64,2] parameter(0)\n  b = f32[64,3] parameter(1)\n  w = f32[5,4] parameter(2)\n"
	"  g = f32[64,4] parameter(3)\n  p = f32[64,3] parameter(4)\n  q = f32[64,2] parameter(5)\n"
	"  c = f32[64,5] concatenate(a, b), dimensions={1}\n"
	"  y = f32[64,4] dot(c, w), lhs_contracting_dims={1}, rhs_contracting_dims={0}\n"
	"  d = f32[5,4] dot(c, g), lhs_contracting_dims={0}, rhs_contracting_dims={0}\n"
	"  r = f32[64,5] concatenate(p, q), dimensions={1}\n"
	"  z = f32[64,4] dot(r, w), lhs_contracting_dims={1}, rhs_contracting_dims={0}\n"
	"  ROOT t = (f32[64,4], f32[5,4], f32[64,4]) tuple(y, d, z)\n}\n";

static struct graph graph;
static uint32_t forward, gradient, apart;

static struct space *open_space(void)
{
	struct space *s = space_open("rewrite/without:merge-products:small-product", "cpu", &graph, NULL, 0, NULL);

	if (!CHECK(s && s->n_sites == 3))
		exit(1);
	forward = s->site_of[graph_find(&graph, "y")];
	gradient = s->site_of[graph_find(&graph, "d")];
	apart = s->site_of[graph_find(&graph, "z")];
	return s;
}

static void readers_of_one_node_go_together(void)
{
	struct space *s = open_space();
	uint8_t config[3] = {0}, choice[4];
	uint32_t site[4];

	CHECK_INT(s->ops->together(s, config, forward, 1, site, choice, 4), 1);
	CHECK(site[0] == gradient && choice[0] == 1);
	CHECK_INT(s->ops->together(s, config, gradient, 1, site, choice, 4), 1);
	CHECK(site[0] == forward && choice[0] == 1);
	CHECK_INT(s->ops->together(s, config, apart, 1, site, choice, 4), 0);
	CHECK_INT(s->ops->together(s, config, forward, 1, site, choice, 0), 0);
	config[forward] = 1; /* back to the plain choice: nothing goes with that */
	CHECK_INT(s->ops->together(s, config, forward, 0, site, choice, 4), 0);
	CHECK_INT(s->ops->together(s, config, gradient, 1, site, choice, 4), 0);
	space_free(s);
}

static uint32_t concatenations(const struct buf *module)
{
	struct graph g = {0};
	uint32_t n = 0;

	CHECK(graph_parse(&g, module->data, module->len, "side", NULL) == 0);
	for (uint32_t v = 0; v < g.n_nodes; v++)
		n += g.node[v].opcode == OP_CONCATENATE && g.node[v].elements == 64 * 5;
	graph_release(&g);
	return n;
}

/* The concatenation costs what it costs until its last reader is rewritten, and then it is gone. */
static void what_is_shared_goes_with_its_last_reader(void)
{
	static const struct {
		const char *what;
		uint8_t before[2], after[2]; /* of forward, gradient */
		uint32_t regions, left;
	} table[] = {{"the first alone", {0, 0}, {1, 0}, 1, 1}, {"the other alone", {0, 0}, {0, 1}, 1, 1},
		{"both", {0, 0}, {1, 1}, 1, 0}, {"the first after the other", {0, 1}, {1, 1}, 1, 0},
		{"the other after the first", {1, 0}, {1, 1}, 1, 0}};

	for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
		struct space *s = open_space();
		uint8_t a[3] = {0}, b[3] = {0};
		struct regions r = {0};
		a[forward] = table[i].before[0];
		a[gradient] = table[i].before[1];
		b[forward] = table[i].after[0];
		b[gradient] = table[i].after[1];
		CHECK(s->ops->region(s, a, b, &r, NULL) == 0);
		if (!CHECK(r.n == table[i].regions) || !CHECK(concatenations(&r.v[0].a) == 1) ||
			!CHECK(concatenations(&r.v[0].b) == table[i].left))
			printf("\t%s: %zu regions\n", table[i].what, r.n);
		regions_release(&r);
		space_free(s);
	}
}

static void places_apart_are_cut_out_apart(void)
{
	struct space *s = open_space();
	uint8_t a[3] = {0}, b[3] = {1, 1, 1};
	struct regions r = {0};

	CHECK(s->ops->region(s, a, b, &r, NULL) == 0);
	CHECK_INT(r.n, 2);
	regions_release(&r);
	space_free(s);
}

/* A search proposes the reader of a concatenation alone, and all its readers together, which is not one flip. */
static void a_search_tries_both(void)
{
	struct space *s = open_space();
	struct lab lab = {.space = s};
	struct hunt h;
	struct hunt_options o = {.budget = 100, .seed = 1, .alpha = 100, .adapt = true, .tied = true};
	struct scorer scorer = scorer_of_space(s);
	uint32_t alone = 0, both = 0, other = 0;

	hunt_prepare(&h, &o, &lab);
	hunt_stand(&h, &scorer);
	for (int i = 0; i < 100; i++) {
		CHECK(hunt_propose(&h));
		alone += h.n_flips == 1 && hunt_is_flip(&h);
		both += h.n_flips == 2 && !hunt_is_flip(&h) && h.candidate[forward] && h.candidate[gradient];
		other += h.n_flips > 2;
		hunt_undo(&h);
	}
	CHECK(alone > 20 && both > 20 && other == 0);
	for (int i = 0; i < 100; i++) { /* what was refused together is not proposed again */
		CHECK(hunt_propose(&h));
		if (!hunt_is_flip(&h))
			hunt_refuse(&h);
		hunt_undo(&h);
	}
	CHECK_INT(h.n_refused, 1);
	hunt_release(&h);
	space_free(s);
}

int main(void)
{
	struct err err = {0};

	if (graph_parse(&graph, program, sizeof program - 1, "program", &err) < 0)
		printf("FAIL: program: %s\n", err.text);
	RUN(readers_of_one_node_go_together);
	RUN(what_is_shared_goes_with_its_last_reader);
	RUN(places_apart_are_cut_out_apart);
	RUN(a_search_tries_both);
	graph_release(&graph);
	return test_done();
}
