/*
 * check_ruled.c - of a configuration that the whole program refutes stays what does not follow the rule at fault, and
 * what a rule promises afterwards counts as far as the whole program bore it out.
 *
 * The device counts concatenations: a program with fewer than it began with is slower, any other one is faster.
 */
#include <string.h>
#include "search/ruled.h"
#include "search/trust.h"
#include "tests/products.h"

static int pair(struct device *d, uint32_t a, uint32_t b, const struct precision *p, struct timing *out,
	struct err *err)
{
	const struct looking *l = (struct looking *)d;
	double delta = l->whole[b - 1] != (1u << PRODUCTS) - 1 ? 1e-3 : -1e-3;

	(void)a, (void)p, (void)err;
	*out = (struct timing){.delta = delta, .delta_se = 1e-6, .seconds_a = 1e-2, .seconds_b = 1e-2 + delta,
		.pairs = 9};
	return 0;
}

/* Both rules are followed: the first in two places, the other one in three. */
static void begin(struct products *f)
{
	static const struct device_ops ops = {.compile = look, .drop = drop, .pair = pair};

	products_begin(f, &ops);
	follow(&f->h, 2, PRODUCTS);
}

static void what_follows_one_rule_is_dropped(void)
{
	struct products f;
	struct err err = {0};
	uint32_t stay = 0;

	begin(&f);
	CHECK(hunt_retreat(&f.h, &err) == 0);
	for (uint32_t i = 0; i < PRODUCTS; i++)
		stay += f.h.config[i] != 0;
	CHECK(stay == 2 || stay == 3);
	CHECK_INT(f.h.n_steps, stay);
	CHECK(memcmp(f.h.config, f.h.sure, PRODUCTS) == 0 && f.h.sure_steps == f.h.n_steps && f.h.sure_cost.value < 0);
	for (size_t k = 0; k < f.h.n_steps; k++)
		CHECK(f.h.config[f.h.steps[k].site] == f.h.steps[k].to);
	products_end(&f);
}

/* What counts of 0.1 ms that this choice promises. */
static double counts(struct hunt *h, uint32_t site, uint8_t choice)
{
	struct delta d = {.seconds = -1e-4};

	hunt_take(h, &(struct flip){site, choice}, 1);
	trust_discount(h, &d);
	CHECK_NEAR(d.seconds - d.added, -1e-4, 1e-12);
	hunt_undo(h);
	return -d.seconds / 1e-4;
}

/* Says that so much of the 0.5 ms which all steps promised was kept; a charge for kernels explains 0.1 ms more. */
static void check_says(struct hunt *h, double kept, double se)
{
	struct estimate whole = {-kept, se, 9};

	h->running.value = -4e-4;
	trust_less(h, trust_blame(h, &whole, 5e-4));
}

static void promises_count_as_far_as_they_were_kept(void)
{
	struct products f;
	struct hunt *h = &f.h;
	uint8_t last;

	begin(&f);
	last = h->s->site[0].choices - 1;
	check_says(h, 1e-4, 3e-4); /* too vague */
	check_says(h, 4.5e-4, 1e-5);
	CHECK_NEAR(counts(h, 0, last), 1, 1e-9);
	check_says(h, 1e-4, 1e-5);
	CHECK_NEAR(counts(h, 0, last), 0.25, 1e-9);
	check_says(h, -1e-4, 1e-5);
	CHECK_NEAR(counts(h, 0, last), 0, 1e-9);
	CHECK_NEAR(counts(h, 4, 1), 0, 1e-9);
	CHECK_NEAR(counts(h, 4, 0), 1, 1e-9); /* to undo it is no promise of the rule */
	products_end(&f);
}

int main(void)
{
	RUN(what_follows_one_rule_is_dropped);
	RUN(promises_count_as_far_as_they_were_kept);
	return test_done();
}
