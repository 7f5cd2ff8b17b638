/*
 * check_rewrite_block.c - blocks of places of one rule: what they are made of, how they are priced, and that a search
 * begins with them.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "base/buf.h"
#include "cost/own.h"
#include "cost/spare.h"
#include "device/ops.h"
#include "search/hunt.h"
#include "search/scorer.h"
#include "space/rewrite/own.h"
#include "tests/test.h"

#define PRODUCTS 6

static struct graph graph;

/* So many products with a concatenation, each of its own size: as many places, all of classes of their own. */
static void read_program(uint32_t n)
{
	struct buf text = {0};
	struct err err = {0};

	buf_adds(&text, "HloModule m\n\nENTRY e {\n");
	for (uint32_t i = 0; i < n; i++) {
		uint32_t rows = 16u << i;
		buf_addf(&text, "  a%u = f32[%u,2] parameter(%u)\n", i, rows, 3 * i);
		buf_addf(&text, "  b%u = f32[%u,3] parameter(%u)\n", i, rows, 3 * i + 1);
		buf_addf(&text, "  w%u = f32[5,4] parameter(%u)\n", i, 3 * i + 2);
		buf_addf(&text, "  c%u = f32[%u,5] concatenate(a%u, b%u), dimensions={1}\n", i, rows, i, i);
		buf_addf(&text, "  y%u = f32[%u,4] dot(c%u, w%u), lhs_contracting_dims={1}, "
			"rhs_contracting_dims={0}\n", i, rows, i, i);
	}
	buf_adds(&text, "  ROOT t = (");
	for (uint32_t i = 0; i < n; i++)
		buf_addf(&text, "%sf32[%u,4]", i ? ", " : "", 16u << i);
	buf_adds(&text, ") tuple(");
	for (uint32_t i = 0; i < n; i++)
		buf_addf(&text, "%sy%u", i ? ", " : "", i);
	buf_adds(&text, ")\n}\n");
	graph = (struct graph){0};
	if (graph_parse(&graph, text.data, text.len, "program", &err) < 0)
		printf("FAIL: program: %s\n", err.text);
	buf_release(&text);
}

static struct space *open_space(uint32_t n)
{
	struct space *s;

	read_program(n);
	s = space_open("rewrite/without:merge-products:small-product", "cpu", &graph, NULL, 0, NULL);
	if (!CHECK(s && s->n_sites == n && s->n_ties == n))
		exit(1);
	return s;
}

static void close_space(struct space *s)
{
	space_free(s);
	graph_release(&graph);
}

static uint32_t rewritten(const uint8_t *config)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < PRODUCTS; i++)
		n += config[i] != 0;
	return n;
}

/* All places come first, then halves that make up all of them, then quarters. */
static void blocks_are_all_then_halves_then_quarters(void)
{
	static const uint32_t sizes[] = {6, 3, 3, 1, 2, 1, 2};
	struct space *s = open_space(PRODUCTS);
	uint8_t config[PRODUCTS] = {0}, block[PRODUCTS], both[PRODUCTS] = {0};

	for (uint32_t k = 0; k < 7; k++) {
		CHECK(s->ops->scheme(s, config, k, block));
		CHECK_INT(rewritten(block), sizes[k]);
		for (uint32_t i = 0; i < PRODUCTS && (k == 1 || k == 2); i++)
			both[i] += block[i];
	}
	CHECK(!s->ops->scheme(s, config, 7, block));
	CHECK_INT(rewritten(both), PRODUCTS);
	CHECK(s->ops->scheme(s, config, 1, block)); /* the most promising half: that of the largest products */
	CHECK(block[s->site_of[graph_find(&graph, "y5")]] && !block[s->site_of[graph_find(&graph, "y0")]]);
	close_space(s);
}

static void blocks_that_stand_are_taken_back(void)
{
	struct space *s = open_space(PRODUCTS);
	uint8_t config[PRODUCTS], none[PRODUCTS] = {0}, block[PRODUCTS];

	CHECK(s->ops->scheme(s, none, 0, config));
	CHECK(s->ops->scheme(s, config, 0, block));
	CHECK_INT(rewritten(block), 0);
	CHECK(s->ops->scheme(s, config, 2, block));
	CHECK_INT(rewritten(block), 3);
	CHECK(s->ops->scheme(s, block, 0, config)); /* what stands in part is completed */
	CHECK_INT(rewritten(config), PRODUCTS);
	close_space(s);
}

/* One region, of the two whole programs; a few places are still priced by themselves. */
static void blocks_are_priced_by_whole_programs(void)
{
	struct space *s = open_space(PRODUCTS);
	uint8_t none[PRODUCTS] = {0}, block[PRODUCTS];
	struct regions r = {0};

	CHECK(s->ops->scheme(s, none, 0, block));
	CHECK(s->ops->region(s, none, block, &r, NULL) == 0);
	CHECK(r.n == 1 && r.v[0].whole);
	regions_release(&r);
	CHECK(s->ops->region(s, block, none, &r, NULL) == 0);
	CHECK(r.n == 1 && r.v[0].whole);
	regions_release(&r);
	CHECK(s->ops->scheme(s, none, 1, block));
	CHECK(s->ops->region(s, none, block, &r, NULL) == 0);
	CHECK(r.n == 3 && !r.v[0].whole);
	regions_release(&r);
	close_space(s);
}

/*
 * Once a block was taken, all moves of its variant are priced by whole programs: else what these gave and regions took
 * back would go round and round.
 */
static void what_was_taken_as_a_block_stays_with_whole_programs(void)
{
	struct space *s = open_space(PRODUCTS);
	uint8_t none[PRODUCTS] = {0}, half[PRODUCTS], block[PRODUCTS];
	struct regions r = {0};

	CHECK(s->ops->scheme(s, none, 0, block));
	CHECK(s->ops->scheme(s, block, 1, half));
	s->ops->taken(s, none, half, true);
	CHECK(s->ops->region(s, block, half, &r, NULL) == 0);
	CHECK(r.n == 3 && !r.v[0].whole); /* three places are no block */
	regions_release(&r);
	s->ops->taken(s, none, block, true);
	CHECK(s->ops->region(s, block, half, &r, NULL) == 0);
	CHECK(r.n == 1 && r.v[0].whole);
	regions_release(&r);
	CHECK(s->ops->region(s, half, block, &r, NULL) == 0);
	CHECK(r.n == 4 && r.v[0].screen && r.v[3].whole); /* forth, places are asked before */
	regions_release(&r);
	close_space(s);
}

static void few_classes_make_no_block(void)
{
	struct space *s = open_space(3);
	uint8_t config[3] = {0}, block[3];

	CHECK(!s->ops->scheme(s, config, 0, block));
	close_space(s);
}

static void a_search_begins_with_blocks(void)
{
	struct space *s = open_space(PRODUCTS);
	struct lab lab = {.space = s};
	struct hunt h;
	struct hunt_options o = {.budget = 100, .seed = 1, .alpha = 100, .adapt = true, .tied = true};
	struct scorer scorer = scorer_of_space(s);

	hunt_prepare(&h, &o, &lab);
	hunt_stand(&h, &scorer);
	CHECK(hunt_propose(&h));
	CHECK_INT(h.n_flips, PRODUCTS);
	hunt_refuse(&h);
	hunt_undo(&h);
	CHECK(hunt_propose(&h));
	CHECK_INT(h.n_flips, 3);
	hunt_release(&h);
	close_space(s);
}

/* A model's word goes before the rules': everything that it expects to gain is the first block. */
static void what_is_believed_comes_first_at_once(void)
{
	struct space *s = open_space(9);
	uint8_t none[9] = {0}, block[9], half[9];
	uint32_t first = s->site_of[graph_find(&graph, "y0")];
	struct regions r = {0};

	for (uint32_t i = 0; i < 9; i++)
		s->ops->believe(s, i, 1, i == first ? 0 : i + 1.0);
	CHECK(s->ops->scheme(s, none, 0, block));
	for (uint32_t i = 0; i < 9; i++)
		CHECK_INT(block[i], i != first);
	CHECK(s->ops->region(s, none, block, &r, NULL) == 0);
	CHECK(r.n == 1 && r.v[0].whole);
	regions_release(&r);
	CHECK(s->ops->scheme(s, none, 1, block)); /* then all that the rule can do */
	CHECK(block[first]);
	CHECK(s->ops->scheme(s, none, 2, half)); /* then the half of what is believed that promises more */
	for (uint32_t i = 0; i < 9; i++)
		CHECK_INT(half[i] != 0, i != first && s->n_sites - i <= 4);
	s->ops->starts[0].fill(s, block); /* a start that is named goes by the rules */
	CHECK(block[first]);
	close_space(s);
}

/* Moves of many places by several rules are priced by whole programs, too; moves of fewer are not. */
static void mixed_moves_of_many_are_blocks(void)
{
	uint8_t none[9] = {0}, mixed[9] = {0};
	struct space *s;

	read_program(9);
	s = space_open("rewrite/without:merge-products", "cpu", &graph, NULL, 0, NULL);
	if (!CHECK(s && s->n_sites == 9))
		exit(1);
	for (uint32_t i = 0; i < 7; i++) /* only small ones have a second rule; three follow one rule */
		mixed[i] = i % 2 ? s->site[i].choices - 1 : 1;
	CHECK(s->ops->rule(s, 0, 1) == s->ops->rule(s, 4, 1) && s->ops->rule(s, 0, 1) != s->ops->rule(s, 8, 1));
	CHECK(s->ops->rule(s, 1, mixed[1]) == s->ops->rule(s, 8, 1));
	CHECK(!rewrite_is_block(s, none, mixed));
	mixed[7] = 1;
	CHECK(rewrite_is_block(s, none, mixed));
	mixed[7] = 0;
	s->ops->taken(s, none, mixed, true);
	CHECK(!rewrite_told_whole(s, 0, 1));
	mixed[7] = 1;
	s->ops->taken(s, none, mixed, false); /* perhaps one after the other */
	CHECK(!rewrite_told_whole(s, 0, 1));
	s->ops->taken(s, none, mixed, true);
	CHECK(rewrite_told_whole(s, 0, 1) && rewrite_told_whole(s, 8, 1));
	close_space(s);
}

/* What took long to compile is run long enough to be believed; a small region is not. */
static void whole_programs_are_confirmed_patiently(void)
{
	static struct cost c = {.o.whole.target = 0.002};
	struct region r = {.times = 1, .whole = true};
	struct precision p = {.target = 0.001, .max_seconds = 0.3, .instances = 3}, q;

	q = cost_region_precision(&c, &r, 1, &p);
	CHECK(q.max_seconds > 1 && q.instances > 3 && q.target == 0.002);
	r.whole = false;
	q = cost_region_precision(&c, &r, 1, &p);
	CHECK(q.max_seconds == 0.3 && q.instances == 3 && q.target == 0.001);
}

/* A device on which everything takes long to compile, and what is rewritten is faster. */
struct slow {
	struct device d;
	uint32_t compiled, loaded;
};

static int slow_compile(struct device *d, enum compile_how how, const char *format, const void *p, size_t n,
	unsigned want, struct compiled *out, struct err *err)
{
	struct slow *s = (struct slow *)d;
	bool loads = strcmp(format, FORMAT_EXECUTABLE) == 0;

	(void)how, (void)err;
	s->loaded += loads;
	s->compiled += !loads;
	out->handle = s->loaded + s->compiled;
	out->seconds = loads ? 0.1 : SPARE_DEAR + 1;
	if (want & WANT_SERIALISED)
		buf_add(&out->serialised, p, n);
	return 0;
}

static int slow_drop(struct device *d, uint32_t handle, struct err *err)
{
	(void)d, (void)handle, (void)err;
	return 0;
}

static int slow_pair(struct device *d, uint32_t a, uint32_t b, const struct precision *p, struct timing *out,
	struct err *err)
{
	(void)d, (void)a, (void)b, (void)p, (void)err;
	*out = (struct timing){.delta = -1e-3, .delta_se = 1e-6, .seconds_a = 1e-2, .seconds_b = 9e-3, .pairs = 10};
	return 0;
}

static int slow_compare(struct device *d, uint32_t a, uint32_t b, const struct compare_options *o,
	struct comparison *out, struct err *err)
{
	(void)d, (void)a, (void)b, (void)o, (void)err, (void)out;
	return 0;
}

/* The price of a block, its confirmation and its credit compile each side once; the next one has one new side. */
static void whole_programs_are_compiled_once(void)
{
	static const struct device_ops ops = {.compile = slow_compile, .drop = slow_drop, .pair = slow_pair};
	struct space *s = open_space(PRODUCTS);
	struct slow slow = {.d = {.ops = &ops}};
	struct spares spares = {0};
	struct cost_options o = {.spares = &spares, .part_seconds = -1};
	struct precision p = {.target = 0.001, .max_seconds = 0.3, .instances = 3};
	uint8_t none[PRODUCTS] = {0}, block[PRODUCTS], other[PRODUCTS];
	struct err err = {0};
	struct cost *c = cost_new(s, &slow.d, &o, &err);
	struct delta d;

	CHECK(s->ops->scheme(s, none, 0, block));
	memcpy(other, block, sizeof other);
	CHECK(c && cost_delta(c, none, block, &d, &err) == 0 && d.seconds < 0);
	for (int i = 0; i < 2; i++)
		CHECK(cost_confirm(c, none, block, &p, &d, &err) == 0 && d.seconds < 0);
	CHECK_INT(slow.compiled, 2);
	CHECK_INT(slow.loaded, 4);
	other[0] = 0; /* five places are taken back: the base is known */
	CHECK(cost_delta(c, other, none, &d, &err) == 0);
	CHECK_INT(slow.compiled, 3);
	CHECK_INT(slow.loaded, 5);
	cost_free(c);
	spares_release(&spares);
	close_space(s);
}

/* A block takes no less than the program took, where that is far more than its size tells. */
static void a_block_takes_as_long_as_the_program_did(void)
{
	static const struct device_ops ops = {.compile = slow_compile, .drop = slow_drop, .pair = slow_pair};
	struct space *s = open_space(PRODUCTS);
	struct slow slow = {.d = {.ops = &ops}};
	struct cost_options o = {.part_seconds = -1};
	uint8_t none[PRODUCTS] = {0}, block[PRODUCTS], one[PRODUCTS] = {1};
	struct err err = {0};
	struct cost *c = cost_new(s, &slow.d, &o, &err);
	double seconds;
	size_t bytes;

	CHECK(s->ops->scheme(s, none, 0, block));
	cost_set_pace(c, 400, 4 << 20);
	CHECK(cost_takes(c, none, block, INFINITY, &seconds, &bytes, &err) == 0 && seconds >= 400);
	CHECK(cost_takes(c, none, one, INFINITY, &seconds, &bytes, &err) == 0 && seconds < 4);
	cost_free(c);
	close_space(s);
}

/* So are the sides of a region that takes too long to compile for a confirmation of three; cheap ones are not kept. */
static void sides_are_compiled_once(void)
{
	static const struct device_ops ops = {.compile = slow_compile, .drop = slow_drop, .pair = slow_pair,
		.compare = slow_compare};
	struct space *s = open_space(PRODUCTS);
	struct precision p = {.max_seconds = 0.3, .instances = 3};
	uint8_t none[PRODUCTS] = {0}, one[PRODUCTS] = {1};
	struct err err = {0};

	for (p.copies = 1; p.copies < 4; p.copies += 2) {
		struct slow slow = {.d = {.ops = &ops}};
		struct cost *c = cost_new(s, &slow.d, &(struct cost_options){.part_seconds = -1}, &err);
		struct delta d;
		CHECK(c && cost_delta(c, none, one, &d, &err) == 0 && d.seconds < 0);
		CHECK_INT(slow.compiled, 2);
		CHECK(cost_confirm(c, none, one, &p, &d, &err) == 0 && d.seconds < 0);
		CHECK_INT(slow.compiled, p.copies == 1 ? 2 : 4);
		CHECK_INT(slow.loaded, p.copies == 1 ? 2 : 0);
		cost_free(c);
	}
	close_space(s);
}

int main(void)
{
	RUN(blocks_are_all_then_halves_then_quarters);
	RUN(blocks_that_stand_are_taken_back);
	RUN(blocks_are_priced_by_whole_programs);
	RUN(what_was_taken_as_a_block_stays_with_whole_programs);
	RUN(few_classes_make_no_block);
	RUN(a_search_begins_with_blocks);
	RUN(what_is_believed_comes_first_at_once);
	RUN(mixed_moves_of_many_are_blocks);
	RUN(whole_programs_are_confirmed_patiently);
	RUN(whole_programs_are_compiled_once);
	RUN(a_block_takes_as_long_as_the_program_did);
	RUN(sides_are_compiled_once);
	return test_done();
}
