/*
 * check_cure.c - what is taken back of a configuration, so that the program computes the right numbers: what follows
 * the rule at fault, or the rules, or else half of the places, and half of these.
 *
 * On this device some products, or all that follow a rule, are off by as much as a number if they are rewritten.
 */
#include <string.h>
#include "search/cure.h"
#include "tests/products.h"

#define ALL ((1u << PRODUCTS) - 1)

static struct { /* products that are wrong without their concatenation; if they are sums */
	uint32_t split, summed;
} wrong;
static uint32_t compared; /* with another program than the own one */

static double off(const struct looking *l, uint32_t program)
{
	uint32_t summed = l->summed[program - 1], split = ALL & ~l->whole[program - 1];

	return __builtin_popcount((wrong.summed & summed) | (wrong.split & split));
}

static int compare(struct device *d, uint32_t a, uint32_t b, const struct compare_options *o, struct comparison *out,
	struct err *err)
{
	const struct looking *l = (struct looking *)d;
	double far = fmax(off(l, a), off(l, b));

	(void)o, (void)err;
	compared += b > a;
	out->all = (struct difference){.max_rel = far + 1e-9, .unit = 1e-7, .elements = 9, .finite = 9};
	out->n_outputs = 1;
	out->output = MEM_NEW(1, struct difference);
	out->output[0] = out->all;
	return 0;
}

/* A hunt that follows one rule in the first products and another one in the others, and its program's own numbers. */
static void begin(struct products *f, uint32_t split, uint32_t first)
{
	static const struct device_ops ops = {.compile = look, .drop = drop, .compare = compare};

	products_begin(f, &ops);
	f->device.d.generation = 1;
	graph_write(&f->graph, &f->lab.subject.original);
	follow(&f->h, first, PRODUCTS);
	wrong.split = split;
	wrong.summed = 0;
	compared = 0;
}

static void end(struct products *f)
{
	buf_release(&f->lab.subject.original);
	products_end(f);
}

/* Finds the cure. Returns which products it leaves rewritten. */
static uint32_t cure(struct products *f, struct cure *c)
{
	uint8_t config[PRODUCTS];
	uint32_t left = 0, gone = 0;
	struct err err = {0};

	CHECK(cure_find(c, &f->h, &f->device.d, config, &err) == 0);
	for (uint32_t i = 0; i < PRODUCTS; i++) {
		left |= (uint32_t)(config[i] != 0) << i;
		gone += config[i] == 0;
		CHECK(config[i] == 0 || config[i] == f->h.config[i]);
	}
	CHECK_INT(c->back.places, gone);
	CHECK_NEAR(c->change, c->all ? f->h.running.value : -1e-4 * gone, 1e-12);
	return left;
}

static void right_numbers_need_none(void)
{
	struct products f;
	struct cure c;

	begin(&f, 0, 2);
	CHECK_INT(cure(&f, &c), ALL);
	CHECK_INT(compared, INPUTS_COUNT);
	end(&f);
}

static void a_rule_is_taken_back(void)
{
	struct products f;
	struct cure c;

	begin(&f, 0, 2);
	wrong.summed = 1;
	CHECK_INT(cure(&f, &c), ALL & ~3u);
	CHECK_STR(c.back.what, "follows the rule small-product");
	CHECK(strstr(c.back.why, "output 0 differs by 1 relative") != NULL);
	end(&f);
}

/* Without one of both the numbers are less wrong, and without the other one, too. */
static void rules_are_taken_back_together(void)
{
	struct products f;
	struct cure c;

	begin(&f, ALL, 2);
	wrong.summed = 3;
	CHECK_INT(cure(&f, &c), 0);
	CHECK(!c.all);
	CHECK(strstr(c.back.what, "follows the rules ") == c.back.what);
	CHECK(strstr(c.back.what, "small-product") && strstr(c.back.what, "split-concatenation"));
	end(&f);
}

static void half_and_half_of_the_places_is(void)
{
	static const struct { uint32_t wrong, left; } expected[] = {
		{1, ALL & ~1u}, {2, ALL & ~2u}, {4, ALL & ~4u}, {8, ALL & ~8u}, {16, ALL & ~16u},
		{3, ALL & ~3u}, {8 + 16, ALL & ~24u}, {4 + 16, ALL & ~28u}, {1 + 16, 0}, {ALL, 0},
	};

	for (size_t i = 0; i < sizeof expected / sizeof *expected; i++) {
		struct products f;
		struct cure c;
		begin(&f, expected[i].wrong, 0);
		CHECK_INT(cure(&f, &c), expected[i].left);
		CHECK(c.all == (expected[i].left == 0));
		CHECK_STR(c.back.what, "the kind rewrite decided");
		end(&f);
	}
}

int main(void)
{
	RUN(right_numbers_need_none);
	RUN(a_rule_is_taken_back);
	RUN(rules_are_taken_back_together);
	RUN(half_and_half_of_the_places_is);
	return test_done();
}
