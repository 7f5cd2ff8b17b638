/*
 * check_cost.c - the cost of moves: exact zeros, sums of regions, caches in both directions, failures and retries. It
 * is tried on a toy (without a device) and on a device whose answers are scripted.
 */
#include <stdlib.h>
#include "ready/subject.h"
#include "space/part.h"
#include "tests/script_device.h"

static void equal_configurations_cost_nothing(void)
{
	for (int policy = POLICY_REGION; policy <= POLICY_WHOLE; policy++) {
		struct script s = new_script();
		struct cost *c = script_cost(&s, (enum cost_policy)policy, NULL);
		struct delta d;
		flipped(0);
		CHECK(cost_delta(c, dflt, dflt, &d, NULL) == 0);
		CHECK(d.seconds == 0 && d.se == 0 && d.outcome == OUTCOME_OK && d.regions == 0);
		CHECK_INT(s.compiles, 0);
		CHECK(cost_confirm(c, flip, flip, NULL, &d, NULL) == 0 && s.compiles == 0);
		cost_free(c);
	}
}

static void toy_costs_its_formula(void)
{
	struct space *t = space_open("toy:3:3", "sim", &graph, NULL, 0, NULL);
	struct cost *c = cost_new(t, NULL, NULL, NULL);
	uint8_t a[256], b[256];
	double seconds, se;
	struct timing w;
	struct delta d;
	struct rng r;
	rng_seed(&r, 1);
	for (int k = 0; k < 20; k++) {
		space_random(t, 0.5, &r, a);
		space_random(t, 0.5, &r, b);
		CHECK(cost_delta(c, a, b, &d, NULL) == 0 && cost_whole(c, a, b, NULL, &w, NULL) == 0);
		CHECK(d.seconds == t->ops->formula(t, b, QUANTITY_SECONDS) - t->ops->formula(t, a, QUANTITY_SECONDS) &&
			d.seconds == w.delta);
		CHECK(d.kind == COST_MODELLED && d.se == 0);
	}
	space_default(t, a);
	CHECK(cost_default_seconds(c, &seconds, &se, NULL) == 0 && seconds == t->ops->formula(t, a, QUANTITY_SECONDS));
	CHECK_INT(cost_totals(c)->deltas, 20);
	cost_free(c);
	space_free(t);
}

static void fusion_needs_a_device(void)
{
	struct err err = {0};
	CHECK(cost_new(space, NULL, NULL, &err) == NULL && err.text[0]);
}

/* A price is measured once, serves the reverse move with its sign changed, and counts once for each place. */
static void prices_are_kept(void)
{
	struct script s = new_script();
	struct cost *c = script_cost(&s, POLICY_REGION, NULL);
	struct delta d, back, again;
	flipped(3);
	CHECK(cost_delta(c, dflt, flip, &d, NULL) == 0 && d.outcome == OUTCOME_OK);
	CHECK(d.measured == d.regions && d.regions == 1 && s.pairs == 1 && s.compiles == 2);
	CHECK(cost_delta(c, dflt, flip, &again, NULL) == 0);
	CHECK(again.cached == 1 && again.measured == 0 && s.pairs == 1);
	CHECK(again.seconds == d.seconds && again.se == d.se);
	CHECK(cost_delta(c, flip, dflt, &back, NULL) == 0);
	CHECK(back.cached == 1 && s.pairs == 1 && back.seconds == -d.seconds && back.se == d.se);
	CHECK_INT(s.live, 0);
	cost_free(c);
}

static void places_add_up(void)
{
	struct script s = new_script();
	struct cost *c = script_cost(&s, POLICY_REGION, NULL);
	struct regions r = {0};
	struct delta d;
	double sum = 0, var = 0;
	struct rng rng;
	rng_seed(&rng, 2);
	flipped(0);
	for (uint32_t i = 0; i < space->n_sites; i++)
		if (rng_unit(&rng) < 0.1)
			flip[i] ^= 1;
	CHECK(space->ops->region(space, dflt, flip, &r, NULL) == 0 && r.n > 2);
	for (size_t i = 0; i < r.n; i++) {
		sum += r.v[i].times * (hashed_seconds(hash64(r.v[i].b.data, r.v[i].b.len, 0)) -
			hashed_seconds(hash64(r.v[i].a.data, r.v[i].a.len, 0)));
		var += r.v[i].times * r.v[i].times * 9e-20; /* (se * target)^2 of the region's precision */
	}
	CHECK(cost_delta(c, dflt, flip, &d, NULL) == 0 && d.outcome == OUTCOME_OK);
	CHECK_NEAR(d.seconds, sum, 1e-15);
	CHECK_NEAR(d.se, sqrt(var), 0.2 * sqrt(var)); /* a key met twice is the same price */
	CHECK_INT(d.regions, r.n);
	regions_release(&r);
	cost_free(c);
}

/* Each kernel that a move adds is charged for; the price that is kept does not include the charge. */
static void kernels_are_charged_for(void)
{
	struct script s = new_script();
	struct cost *plain = script_cost(&s, POLICY_REGION, NULL), *c;
	struct cost_options o = {.policy = POLICY_REGION, .seed = 5, .part_seconds = 1e-6};
	double each = 1e-6 * part_share(space);
	uint32_t more = 0;

	CHECK(each > 0 && each <= 1e-6);
	c = cost_new(space, &s.d, &o, NULL);
	for (uint32_t k = 0; k < space->n_sites; k++) {
		struct delta a, b, back;
		flipped(k);
		CHECK(cost_delta(plain, dflt, flip, &a, NULL) == 0 && cost_delta(c, dflt, flip, &b, NULL) == 0);
		CHECK(cost_delta(c, flip, dflt, &back, NULL) == 0);
		CHECK(a.added == 0 && a.parts == b.parts && back.parts == -b.parts);
		CHECK_NEAR(b.added, each * b.parts, 1e-18);
		CHECK_NEAR(b.seconds, a.seconds + b.added, 1e-15);
		CHECK_NEAR(back.seconds, -b.seconds, 1e-15);
		more += flip[k] == 0 && b.parts > 0; /* kept in memory: a kernel of its own */
	}
	CHECK(more > 0);
	cost_free(plain);
	cost_free(c);
}

static void failures_are_outcomes(void)
{
	static const struct {
		uint32_t compile, pair;
		enum outcome failure;
		bool again;
		enum outcome want;
		uint32_t compiles;
	} table[] = {
		{1, 0, OUTCOME_REFUSED, false, OUTCOME_REFUSED, 1},
		{2, 0, OUTCOME_OOM, false, OUTCOME_OOM, 2},
		{2, 0, OUTCOME_TIMEOUT, false, OUTCOME_TIMEOUT, 2},
		{1, 0, OUTCOME_CRASHED, false, OUTCOME_OK, 3}, /* once may be bad luck */
		{2, 0, OUTCOME_CRASHED, false, OUTCOME_OK, 4},
		{2, 0, OUTCOME_CRASHED, true, OUTCOME_CRASHED, 3},
		{0, 1, OUTCOME_CRASHED, false, OUTCOME_OK, 4},
		{0, 1, OUTCOME_CRASHED, true, OUTCOME_CRASHED, 4},
		{0, 1, OUTCOME_TIMEOUT, false, OUTCOME_TIMEOUT, 2},
	};
	for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
		struct script s = new_script();
		struct cost *c = script_cost(&s, POLICY_REGION, NULL);
		struct delta d;
		uint32_t before;
		s.fail_compile = table[i].compile;
		s.fail_pair = table[i].pair;
		s.failure = table[i].failure;
		s.again = table[i].again;
		flipped(3);
		CHECK(cost_delta(c, dflt, flip, &d, NULL) == 0);
		if (!CHECK_INT(d.outcome, table[i].want) || !CHECK_INT(s.compiles, table[i].compiles))
			printf("\trow %zu\n", i);
		CHECK(d.outcome == OUTCOME_OK || (d.seconds == 0 && d.detail[0]));
		before = s.compiles; /* what failed is not tried again, either way round */
		CHECK(cost_delta(c, flip, dflt, &d, NULL) == 0);
		CHECK_INT(d.outcome, table[i].want);
		CHECK_INT(s.compiles, before);
		CHECK_INT(s.live, 0);
		cost_free(c);
	}
}

static void store_is_asked_and_told(void)
{
	struct kept kept = {0};
	struct cost_hooks h = {&kept, keep_lookup, keep_insert, keep_measured, keep_failed};
	struct script s = new_script();
	struct cost *c = script_cost(&s, POLICY_REGION, &h);
	struct err err = {0};
	struct delta d, later;
	flipped(3);
	CHECK(cost_delta(c, dflt, flip, &d, NULL) == 0);
	CHECK(kept.inserts == 1 && kept.measured == 1 && kept.failed == 0);
	cost_free(c);
	c = script_cost(&s, POLICY_REGION, &h); /* another night */
	CHECK(cost_delta(c, flip, dflt, &later, NULL) == 0);
	CHECK(later.cached == 1 && later.seconds == -d.seconds && s.pairs == 1);
	cost_free(c);
	s.fail_pair = 2;
	s.failure = OUTCOME_REFUSED;
	c = script_cost(&s, POLICY_REGION, &h);
	flipped(5);
	CHECK(cost_delta(c, dflt, flip, &d, NULL) == 0 && d.outcome == OUTCOME_REFUSED && kept.failed == 1);
	CHECK_INT(cost_totals(c)->failed[OUTCOME_REFUSED], 1);
	kept.fail_at = 1;
	flipped(7);
	CHECK(cost_delta(c, dflt, flip, &d, &err) < 0 && strstr(err.text, "gone"));
	CHECK_INT(s.live, 0);
	cost_free(c);
	prices_release(&kept.prices);
}

/* A confirmation answers with its own figures; the table keeps the more precise. */
static void confirmation_keeps_the_better(void)
{
	struct script s = new_script();
	struct cost *c = script_cost(&s, POLICY_REGION, NULL);
	struct precision fine = {.target = 0.0001}, coarse = {.target = 0.1};
	struct delta d;
	flipped(3);
	CHECK(cost_delta(c, dflt, flip, &d, NULL) == 0);
	CHECK_NEAR(d.se, 3e-10, 1e-15);
	CHECK(cost_confirm(c, dflt, flip, &coarse, &d, NULL) == 0 && d.measured == 1);
	CHECK_NEAR(d.se, 1e-8, 1e-15);
	CHECK(cost_delta(c, dflt, flip, &d, NULL) == 0 && d.cached == 1);
	CHECK_NEAR(d.se, 3e-10, 1e-15);
	CHECK(cost_confirm(c, dflt, flip, &fine, &d, NULL) == 0);
	CHECK(cost_delta(c, flip, dflt, &d, NULL) == 0 && d.cached == 1);
	CHECK_NEAR(d.se, 1e-11, 1e-15);
	cost_free(c);
}

/*
 * The worth of an answer is shared among its regions: a region that runs often gets a smaller error, and the time is
 * divided by the number of regions.
 */
static void worth_is_shared(void)
{
	struct script s = new_script();
	struct cost *c = script_cost(&s, POLICY_REGION, NULL);
	struct regions r = {0};
	struct delta d;

	flipped(3);
	CHECK(cost_delta(c, dflt, flip, &d, NULL) == 0);
	CHECK(s.asked.enough == 0 && s.asked.most == 0);
	CHECK(space->ops->region(space, dflt, flip, &r, NULL) == 0 && r.n >= 1);
	cost_set_worth(c, &(struct worth){.error = 0.01, .seconds = 3});
	CHECK(cost_confirm(c, dflt, flip, NULL, &d, NULL) == 0);
	CHECK_NEAR(s.asked.enough, 0.01 / 4 / r.v[r.n - 1].times, 1e-12);
	CHECK_NEAR(s.asked.most, 3.0 / (double)r.n, 1e-12);
	flipped(5);
	CHECK(cost_delta(c, dflt, flip, &d, NULL) == 0 && d.measured >= 1);
	CHECK(s.asked.enough >= 0.01 / 100 && s.asked.enough <= 0.01);
	regions_release(&r);
	cost_free(c);
}

/* Only times that hardware took differ from one measurement to the next. */
static void exact_costs_are_known(void)
{
	static const struct {
		enum cost_kind kind;
		enum quantity quantity;
		bool exact;
	} t[] = {{COST_MEASURED, QUANTITY_SECONDS, false}, {COST_MEASURED, QUANTITY_BYTES, true},
		{COST_ESTIMATED, QUANTITY_SECONDS, true}, {COST_MODELLED, QUANTITY_CYCLES, true}};

	for (size_t i = 0; i < sizeof t / sizeof *t; i++) {
		struct script s = new_script();
		struct cost *c;
		struct delta d;

		s.d.info.kind = t[i].kind;
		s.d.info.quantity = t[i].quantity;
		c = script_cost(&s, POLICY_REGION, NULL);
		flipped(3);
		CHECK_INT(cost_exact(c), t[i].exact);
		CHECK(cost_delta(c, dflt, flip, &d, NULL) == 0 && d.kind == t[i].kind && d.quantity == t[i].quantity);
		cost_free(c);
	}
}

/* What was run must be what was asked for, unless the compiler joins more. */
static void choices_must_be_honoured_unless_it_joins(void)
{
	static const struct {
		enum cost_kind kind;
		bool joins, as_compiled;
		enum cost_policy policy;
		enum outcome want;
	} t[] = {{COST_MEASURED, false, false, POLICY_WHOLE, OUTCOME_NOT_HONOURED},
		{COST_MEASURED, true, false, POLICY_WHOLE, OUTCOME_OK},
		{COST_MEASURED, false, true, POLICY_WHOLE, OUTCOME_NOT_HONOURED},
		{COST_MEASURED, false, false, POLICY_REGION, OUTCOME_NOT_HONOURED},
		{COST_MEASURED, false, true, POLICY_REGION, OUTCOME_OK},
		{COST_ESTIMATED, true, false, POLICY_WHOLE, OUTCOME_OK}};
	struct buf same = {0};

	flipped(3);
	CHECK(space->ops->apply(space, dflt, &same, NULL) == 0);
	for (size_t i = 0; i < sizeof t / sizeof *t; i++) {
		struct script s = new_script();
		struct cost *c;
		struct timing w;

		s.d.info.kind = t[i].kind;
		s.d.info.joins = t[i].joins;
		s.always = &same;
		c = cost_new(space, &s.d, &(struct cost_options){.policy = t[i].policy, .as_compiled =
			t[i].as_compiled}, NULL);
		CHECK(cost_whole(c, dflt, flip, NULL, &w, NULL) == 0);
		CHECK_INT(w.outcome, t[i].want);
		cost_free(c);
	}
	buf_release(&same);
}

static void order_of_compiling_is_random(void)
{
	struct script s = new_script();
	struct cost *c = script_cost(&s, POLICY_REGION, NULL);
	struct regions r = {0};
	int a_first = 0;
	flipped(3);
	CHECK(space->ops->region(space, dflt, flip, &r, NULL) == 0 && r.n == 1);
	for (int i = 0; i < 100; i++) {
		struct delta d;
		s.first = 0;
		CHECK(cost_confirm(c, dflt, flip, NULL, &d, NULL) == 0);
		a_first += s.first == hash64(r.v[0].a.data, r.v[0].a.len, 0);
	}
	CHECK(a_first > 25 && a_first < 75);
	regions_release(&r);
	cost_free(c);
}

/* The table of prices against a plain array, through growing and starting anew. */
static void table_of_prices(void)
{
	struct prices t = {0};
	uint64_t key[2], kept[2];
	struct price p = {.delta = 2, .seconds_a = 1, .seconds_b = 3};
	key[0] = 9;
	key[1] = 4;
	CHECK(price_turn(key, kept) && kept[0] == 4 && kept[1] == 9);
	CHECK(price_turned(p).delta == -2 && price_turned(p).seconds_a == 3);
	CHECK(!signbit(price_turned((struct price){0}).delta));
	CHECK(prices_get(&t, key) == NULL);
	for (uint64_t i = 0; i < 3000; i++) {
		p.delta = (double)i;
		key[0] = i / 7;
		key[1] = i;
		prices_put(&t, key, &p);
		prices_put(&t, key, &p);
	}
	CHECK_INT(t.n, 3000);
	for (uint64_t i = 0; i < 6000; i++) {
		const struct price *got;
		key[0] = i / 7;
		key[1] = i;
		got = prices_get(&t, key);
		CHECK((got != NULL) == (i < 3000) && (!got || got->delta == (double)i));
	}
	prices_release(&t);
	for (uint64_t i = 0; i < PRICES_LIMIT + 1000; i++) {
		key[0] = key[1] = i;
		prices_put(&t, key, &p);
	}
	CHECK(t.n <= PRICES_LIMIT && t.size <= 2 * PRICES_LIMIT && prices_get(&t, key));
	prices_release(&t);
}

/* There is no cost in a quantity that no kind prices in, nor if the compiler does not state the figure. */
static void what_has_no_figure_has_no_cost(void)
{
	struct script s = new_script();
	struct cost_options cycles = {.quantity = 1 + QUANTITY_CYCLES}, bytes = {.quantity = 1 + QUANTITY_BYTES};
	struct err err = {0};
	struct cost *c;
	struct delta d;

	CHECK(cost_new(space, &s.d, &cycles, &err) == NULL && strstr(err.text, "priced in cycles"));
	flipped(3);
	c = cost_new(space, &s.d, &bytes, &err);
	CHECK(c && cost_delta(c, dflt, flip, &d, &err) == 0 && d.outcome == OUTCOME_REFUSED && d.seconds == 0);
	CHECK(strstr(d.detail, "does not say its bytes"));
	CHECK_INT(s.live, 0);
	cost_free(c);
}

int main(void)
{
	script_open();
	RUN(equal_configurations_cost_nothing);
	RUN(toy_costs_its_formula);
	RUN(fusion_needs_a_device);
	RUN(prices_are_kept);
	RUN(places_add_up);
	RUN(kernels_are_charged_for);
	RUN(failures_are_outcomes);
	RUN(store_is_asked_and_told);
	RUN(confirmation_keeps_the_better);
	RUN(worth_is_shared);
	RUN(exact_costs_are_known);
	RUN(choices_must_be_honoured_unless_it_joins);
	RUN(order_of_compiling_is_random);
	RUN(table_of_prices);
	RUN(what_has_no_figure_has_no_cost);
	script_close();
	return test_done();
}
