/* check_sum.c - what is known of a chain's cost after steps of which a cost is only a bound. */
#include "tests/test.h"
#include "store/sum.h"

static bool known_after(struct choice_cost from, struct choice_cost to)
{
	uint8_t config[1] = {0};
	struct step t = {.n_sites = 1, .config = config,
		.sample = {.n_choices = 2, .chosen = 1, .choice = {from, to}}};
	struct sum chain = {.known = true};
	struct sums u = {.chain = &chain, .n_chains = 1};

	sums_take(&u, &t);
	return chain.known;
}

/* Costs are relative to a third choice, which is neither left nor reached. */
static void what_gets_faster_by_a_bound_is_still_known(void)
{
	static const struct choice_cost exact = {1e-6, 1e-8, OUTCOME_OK, false}, slow = {9e-6, 1e-8, OUTCOME_OK, true},
					fast = {-9e-6, 1e-8, OUTCOME_OK, true}, crash = {.outcome = OUTCOME_CRASHED};

	CHECK(known_after(exact, exact));
	CHECK(!known_after(exact, crash));
	CHECK(known_after(exact, fast));
	CHECK(known_after(slow, exact));
	CHECK(known_after(slow, fast));
	CHECK(!known_after(exact, slow));
	CHECK(!known_after(fast, exact));
	CHECK(!known_after(fast, slow));
	CHECK(!known_after(slow, slow));
}

static void trials_are_no_other(void)
{
	struct step t = {.is_trial = true, .trial = {.delta = -1e-6, .bound = true, .taken = true}};
	struct sum chain = {.known = true};
	struct sums u = {.chain = &chain, .n_chains = 1};

	sums_take(&u, &t);
	CHECK(chain.known);
	CHECK_NEAR(chain.value, -1e-6, 1e-15);
	t.trial.delta = 1e-6;
	t.trial.taken = false;
	sums_take(&u, &t);
	CHECK(chain.known);
	t.trial.taken = true;
	sums_take(&u, &t);
	CHECK(!chain.known);
}

/*
 * Choice 0 was measured with an error of 3 against the present choice, 2 with 4 and 3 with 12. Stored they are relative
 * to choice 0, so where the present one is another, each has that 3 in it: 5 is hypot(4, 3).
 */
static void the_present_choice_is_counted_once(void)
{
	static const struct {
		double se[4];
		uint8_t present, from, to;
		double want;
	} table[] = {
		{{0, 3, 5, 12.36931688}, 1, 1, 0, 3},
		{{0, 3, 5, 12.36931688}, 1, 1, 2, 4},
		{{0, 3, 5, 12.36931688}, 1, 3, 1, 12},
		{{0, 3, 5, 12.36931688}, 1, 0, 2, 5},
		{{0, 3, 5, 12.36931688}, 1, 2, 3, 12.64911064}, /* hypot(4, 12) */
		{{0, 3, 4, 12}, 0, 0, 1, 3}, /* the present one is the reference */
		{{0, 3, 4, 12}, 0, 2, 1, 5},
		{{0, 3, 3, 12}, 1, 1, 2, 3 / 16.0}, /* less than eight bits can tell */
		{{0, 3, 2, 12}, 1, 1, 2, 3 / 16.0},
		{{0, INFINITY, 3, 4}, 1, 3, 2, 5}, /* not known, so nothing is taken out */
		{{4, 0, 3, 3}, 1, 1, 0, 4}, /* a trial: the present one is the reference, and not the first */
		{{0, 0, 0, 0}, 1, 2, 1, 0},
	};

	for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
		struct sample x = {.n_choices = 4};
		for (uint8_t k = 0; k < 4; k++)
			x.choice[k].se = table[i].se[k];
		CHECK_NEAR(sample_se(&x, table[i].present, table[i].from, table[i].to), table[i].want, 1e-8);
		CHECK_NEAR(sample_se(&x, table[i].present, table[i].to, table[i].from), table[i].want, 1e-8);
	}
}

static void a_chain_gathers_what_its_steps_were_measured_with(void)
{
	uint8_t config[1] = {1};
	struct step t = {.n_sites = 1, .config = config, .sample = {.n_choices = 3, .chosen = 2,
		.choice = {{0}, {.delta = 7, .se = 3}, {.delta = 9, .se = 5}}}};
	struct sum chain = {.known = true};
	struct sums u = {.chain = &chain, .n_chains = 1};

	sums_take(&u, &t);
	CHECK_NEAR(chain.value, 2, 1e-12);
	CHECK_NEAR(chain.variance, 16, 1e-12);
}

int main(void)
{
	RUN(the_present_choice_is_counted_once);
	RUN(a_chain_gathers_what_its_steps_were_measured_with);
	RUN(what_gets_faster_by_a_bound_is_still_known);
	RUN(trials_are_no_other);
	return test_done();
}
