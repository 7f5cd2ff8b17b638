/*
 * check_shard_names.c - dimensions that are the same thing, and schemes, which lay everything out along one of them.
 */
#include <stdlib.h>
#include "search/hunt.h"
#include "search/scorer.h"
#include "space/shard/own.h"
#include "tests/test.h"

/* Two layers, trained by hand-written gradients: x is [examples, in], w1 [in, hidden], w2 [hidden, out]. */
static const char step[] =
	"HloModule step\n"
	"ENTRY main {\n"
	"  w1 = f32[8,16] parameter(0)\n"
	"  m1 = f32[8,16] parameter(1)\n"
	"  w2 = f32[16,4] parameter(2)\n"
	"  x = f32[32,8] parameter(3)\n"
	"  rate = f32[] constant(0.1)\n"
	"  h = f32[32,16] dot(x, w1), lhs_contracting_dims={1}, rhs_contracting_dims={0}\n"
	"  a = f32[32,16] tanh(h)\n"
	"  y = f32[32,4] dot(a, w2), lhs_contracting_dims={1}, rhs_contracting_dims={0}\n"
	"  dw2 = f32[16,4] dot(a, y), lhs_contracting_dims={0}, rhs_contracting_dims={0}\n"
	"  dh = f32[32,16] dot(y, w2), lhs_contracting_dims={1}, rhs_contracting_dims={1}\n"
	"  dw1 = f32[8,16] dot(x, dh), lhs_contracting_dims={0}, rhs_contracting_dims={0}\n"
	"  r1 = f32[8,16] broadcast(rate), dimensions={}\n"
	"  r2 = f32[16,4] broadcast(rate), dimensions={}\n"
	"  old = f32[8,16] multiply(m1, r1)\n"
	"  m1n = f32[8,16] add(old, dw1)\n"
	"  p1 = f32[8,16] multiply(m1n, r1)\n"
	"  w1n = f32[8,16] subtract(w1, p1)\n"
	"  p2 = f32[16,4] multiply(dw2, r2)\n"
	"  w2n = f32[16,4] subtract(w2, p2)\n"
	"  ROOT out = (f32[8,16], f32[8,16], f32[16,4]) tuple(w1n, m1n, w2n)\n"
	"}\n";

/* Rows of a table, heads by a reshape, a loop that changes its state, a convolution, and rows that are added. */
static const char many[] =
	"HloModule many\n"
	"plus { a = f32[] parameter(0)\n  b = f32[] parameter(1)\n  ROOT c = f32[] add(a, b)\n}\n"
	"body {\n"
	"  s = (s32[], f32[12,8]) parameter(0)\n"
	"  i = s32[] get-tuple-element(s), index=0\n"
	"  v = f32[12,8] get-tuple-element(s), index=1\n"
	"  w = f32[12,8] tanh(v)\n"
	"  ROOT t = (s32[], f32[12,8]) tuple(i, w)\n"
	"}\n"
	"more {\n"
	"  t2 = (s32[], f32[12,8]) parameter(0)\n"
	"  i2 = s32[] get-tuple-element(t2), index=0\n"
	"  ROOT less = pred[] compare(i2, i2), direction=LT\n"
	"}\n"
	"ENTRY main {\n"
	"  table = f32[100,8] parameter(0)\n"
	"  ids = s32[12,1] parameter(1)\n"
	"  heads = f32[4,2,6] parameter(2)\n"
	"  image = f32[12,5,5,6] parameter(3)\n"
	"  kernel = f32[3,3,6,8] parameter(4)\n"
	"  rows = f32[12,8] gather(table, ids), offset_dims={1}, collapsed_slice_dims={0}, start_index_map={0}, "
	"index_vector_dim=1, slice_sizes={1,8}\n"
	"  zero = s32[] constant(0)\n"
	"  state = (s32[], f32[12,8]) tuple(zero, rows)\n"
	"  loop = (s32[], f32[12,8]) while(state), condition=more, body=body\n"
	"  last = f32[12,8] get-tuple-element(loop), index=1\n"
	"  flat = f32[8,6] reshape(heads)\n"
	"  product = f32[12,6] dot(last, flat), lhs_contracting_dims={1}, rhs_contracting_dims={0}\n"
	"  turned = f32[6,12] transpose(product), dimensions={1,0}\n"
	"  nothing = f32[] constant(0)\n"
	"  sums = f32[6] reduce(turned, nothing), dimensions={1}, to_apply=plus\n"
	"  wide = f32[12,5,5,6] broadcast(sums), dimensions={3}\n"
	"  sum = f32[12,5,5,6] add(wide, image)\n"
	"  conv = f32[12,5,5,8] convolution(sum, kernel), window={size=3x3 pad=1_1x1_1}, dim_labels=b01f_01io->b01f\n"
	"  added = f32[100,8] scatter(table, ids, last), update_window_dims={1}, inserted_window_dims={0}, "
	"scatter_dims_to_operand_dims={0}, index_vector_dim=1, to_apply=plus\n"
	"  ROOT out = (f32[12,5,5,8], f32[100,8]) tuple(conv, added)\n"
	"}\n";

static struct space *open_as(struct graph *g, const char *text, const char *kind)
{
	struct err err = {{0}};
	struct space *s;

	if (graph_parse(g, text, strlen(text), "the program", &err) < 0) {
		printf("FAIL: %s\n", err.text);
		exit(1);
	}
	s = space_open(kind, "pod", g, NULL, 0, &err);
	CHECK_STR(err.text, "");
	if (!s)
		exit(1);
	return s;
}

static uint32_t site_of(const struct space *s, const char *name)
{
	return s->site_of[graph_find(s->graph, name)];
}

static uint32_t name_of(const struct space *s, const char *node, uint32_t dim)
{
	return shard_of(s)->name[site_of(s, node) * VIEW_RANK + dim];
}

struct tie {
	const char *a;
	uint32_t i;
	const char *b;
	uint32_t k;
	bool same;
};

static void check_ties(const char *text, const struct tie *t, size_t n)
{
	struct graph g = {0};
	struct space *s = open_as(&g, text, "shard:2");

	for (size_t i = 0; i < n; i++)
		if (!CHECK((name_of(s, t[i].a, t[i].i) == name_of(s, t[i].b, t[i].k)) == t[i].same))
			printf("%s %u and %s %u\n", t[i].a, t[i].i, t[i].b, t[i].k);
	space_free(s);
	graph_release(&g);
}

static void products_tie_dimensions(void)
{
	static const struct tie t[] = {{"x", 0, "h", 0, true}, {"x", 1, "w1", 0, true}, {"w1", 1, "w2", 0, true},
		{"m1", 0, "w1", 0, true}, {"m1", 1, "w1", 1, true}, {"dw2", 1, "w2", 1, true}, {"x", 0, "y", 0, true},
		{"x", 0, "w1", 0, false}, {"w1", 0, "w1", 1, false}, {"w2", 1, "w1", 0, false}};

	check_ties(step, t, sizeof t / sizeof *t);
}

/* Through lookups, loops, reshapes, transpositions, sums, broadcasts, convolutions and additions of rows. */
static void other_operations_tie_them(void)
{
	static const struct tie t[] = {{"ids", 0, "product", 0, true}, {"table", 1, "heads", 0, true},
		{"heads", 2, "product", 1, true}, {"heads", 2, "image", 3, true}, {"image", 3, "kernel", 2, true},
		{"image", 0, "conv", 0, true}, {"kernel", 3, "conv", 3, true}, {"image", 1, "conv", 1, true},
		{"table", 0, "ids", 0, false}, {"heads", 1, "table", 1, false}, {"image", 0, "product", 0, false},
		{"kernel", 0, "image", 1, false}, {"kernel", 3, "table", 1, false}};

	check_ties(many, t, sizeof t / sizeof *t);
}

/* Is a start among the schemes of a configuration, or, in `steps`, among theirs? Only parameters count. */
static bool reached(struct space *s, const uint8_t *from, const uint8_t *to, int steps)
{
	uint8_t *drawn = MEM_NEW(s->n_sites, uint8_t);
	bool found = false;

	for (uint32_t k = 0; !found && s->ops->scheme(s, from, k, drawn); k++) {
		found = true;
		CHECK_INT(config_valid(s, drawn, s->n_sites, NULL), 0);
		for (uint32_t i = 0; i < s->n_sites; i++)
			found &= !shard_of(s)->place[i].parameter || drawn[i] == to[i];
		if (!found && steps > 1)
			found = reached(s, drawn, to, steps - 1);
	}
	mem_free(drawn);
	return found;
}

/* Whatever people lay out by hand can be reached from nothing by so many schemes. */
static void schemes_reach_what_hands_do(void)
{
	static const struct {
		const char *mesh, *start;
		int steps;
	} t[] = {{"shard:4", "data", 1}, {"shard:4", "zero", 1}, {"shard:4", "fsdp", 1}, {"shard:4", "model", 1},
		{"shard:2x2", "data", 1}, {"shard:2x2", "fsdp", 1}, {"shard:2x2", "data-model", 2},
		{"shard:2x2", "data-model-fsdp", 3}, {"shard/arguments:2x2", "data-model", 2}};

	for (size_t i = 0; i < sizeof t / sizeof *t; i++) {
		struct graph g = {0};
		struct space *s = open_as(&g, step, t[i].mesh);
		uint8_t *to = MEM_NEW(s->n_sites, uint8_t), *none = MEM_NEW(s->n_sites, uint8_t);
		space_start_find(s, t[i].start)->fill(s, to);
		if (!CHECK(reached(s, none, to, t[i].steps)))
			printf("%s over %s is not reached\n", t[i].start, t[i].mesh);
		mem_free(to);
		mem_free(none);
		space_free(s);
		graph_release(&g);
	}
}

/* In how many schemes does the second axis split w1, and the first does not? */
static uint32_t second_alone(struct space *s, const uint8_t *config)
{
	uint8_t *drawn = MEM_NEW(s->n_sites, uint8_t);
	uint32_t n = 0, w1 = site_of(s, "w1");
	struct layout l;

	for (uint32_t k = 0; s->ops->scheme(s, config, k, drawn); k++) {
		shard_layout(s, w1, drawn[w1], &l);
		n += l.dim[0] < 0 && l.dim[1] >= 0;
	}
	mem_free(drawn);
	return n;
}

/* Of two axes of one length that split nothing yet, the second is left alone; once the first is used, it is not. */
static void axes_alike_are_tried_once(void)
{
	struct graph g = {0};
	struct space *s = open_as(&g, step, "shard:2x2");
	uint8_t *config = MEM_NEW(s->n_sites, uint8_t);
	struct layout l = {{0, -1, -1, -1}};

	CHECK_INT(second_alone(s, config), 0);
	shard_set(s, config, site_of(s, "x"), &l);
	CHECK(second_alone(s, config) > 0);
	mem_free(config);
	space_free(s);
	graph_release(&g);
}

/* In how many schemes does the second axis do something else with x, and the first does not? */
static uint32_t second_differs(struct space *s, const uint8_t *config)
{
	uint8_t *drawn = MEM_NEW(s->n_sites, uint8_t);
	uint32_t n = 0, x = site_of(s, "x");
	struct layout was, is;

	shard_layout(s, x, config[x], &was);
	for (uint32_t k = 0; s->ops->scheme(s, config, k, drawn); k++) {
		shard_layout(s, x, drawn[x], &is);
		n += is.dim[0] == was.dim[0] && is.dim[1] != was.dim[1];
	}
	mem_free(drawn);
	return n;
}

/* The same where both split the same already. */
static void axes_used_alike_are_tried_once(void)
{
	struct graph g = {0};
	struct space *s = open_as(&g, step, "shard:2x2");
	uint8_t *config = MEM_NEW(s->n_sites, uint8_t);
	struct layout both = {{0, 0, -1, -1}}, first = {{0, -1, -1, -1}};

	shard_set(s, config, site_of(s, "x"), &both);
	CHECK_INT(second_differs(s, config), 0);
	shard_set(s, config, site_of(s, "w2"), &first);
	CHECK(second_differs(s, config) > 0);
	mem_free(config);
	space_free(s);
	graph_release(&g);
}

/* Weights can turn to another name while data and products stay split by examples. */
static void weights_turn_alone(void)
{
	struct graph g = {0};
	struct space *s = open_as(&g, step, "shard:4");
	uint8_t *config = MEM_NEW(s->n_sites, uint8_t), *drawn = MEM_NEW(s->n_sites, uint8_t);
	struct layout examples = {{0, -1, -1, -1}}, columns = {{1, -1, -1, -1}}, l;
	uint32_t w1 = site_of(s, "w1"), m1 = site_of(s, "m1"), found = 0;

	for (uint32_t i = 0; i < s->n_sites; i++)
		if (name_of(s, "x", 0) == shard_of(s)->name[i * VIEW_RANK])
			shard_set(s, config, i, &examples);
	shard_set(s, config, w1, &examples);
	shard_set(s, config, m1, &examples);
	for (uint32_t k = 0; s->ops->scheme(s, config, k, drawn); k++) {
		uint32_t others = 0;
		for (uint32_t i = 0; i < s->n_sites; i++)
			others += drawn[i] != config[i] && i != w1 && i != m1 && i != site_of(s, "w2");
		shard_layout(s, w1, drawn[w1], &l);
		found += others == 0 && memcmp(&l, &columns, sizeof l) == 0 && drawn[w1] == drawn[m1];
	}
	CHECK(found > 0);
	mem_free(config);
	mem_free(drawn);
	space_free(s);
	graph_release(&g);
}

/* A search begins with the schemes, offers none again that was refused, and goes on with flips. */
static void searches_begin_with_schemes(void)
{
	struct graph g = {0};
	struct space *s = open_as(&g, step, "shard:4");
	struct lab lab = {.space = s};
	struct hunt h;
	struct hunt_options o = {.budget = 1000, .seed = 1, .alpha = 100, .adapt = true, .tied = true};
	struct scorer scorer = scorer_of_space(s);
	uint8_t *drawn = MEM_NEW(s->n_sites, uint8_t);
	uint32_t schemes = 0, flips = 0;

	hunt_prepare(&h, &o, &lab);
	hunt_stand(&h, &scorer);
	CHECK(s->ops->scheme(s, h.config, 0, drawn));
	for (int i = 0; i < 300; i++) {
		CHECK(hunt_propose(&h));
		CHECK(i > 0 || memcmp(h.candidate, drawn, s->n_sites) == 0);
		schemes += h.scheme != SCHEMES_DONE;
		flips += h.scheme == SCHEMES_DONE && h.n_flips < 4;
		if (hunt_is_flip(&h))
			guide_tell(h.guide, h.flips[0], h.candidate[h.flips[0]], 1);
		else
			hunt_refuse(&h);
		hunt_undo(&h);
	}
	CHECK(schemes > 5 && schemes < 50 && flips > 30);
	h.kept++; /* after a step they are drawn anew */
	for (int i = 0; i < 100 && h.scheme == SCHEMES_DONE; i++) {
		CHECK(hunt_propose(&h));
		hunt_undo(&h);
	}
	CHECK(h.scheme != SCHEMES_DONE || h.scheme_kept == 1);
	mem_free(drawn);
	hunt_release(&h);
	space_free(s);
	graph_release(&g);
}

int main(void)
{
	RUN(products_tie_dimensions);
	RUN(other_operations_tie_them);
	RUN(schemes_reach_what_hands_do);
	RUN(axes_alike_are_tried_once);
	RUN(axes_used_alike_are_tried_once);
	RUN(weights_turn_alone);
	RUN(searches_begin_with_schemes);
	return test_done();
}
