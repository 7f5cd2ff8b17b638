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

int main(void)
{
	RUN(what_gets_faster_by_a_bound_is_still_known);
	RUN(trials_are_no_other);
	return test_done();
}
