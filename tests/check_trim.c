/*
 * check_trim.c - an answer is left with the decisions that change its price.
 *
 * The price is a formula over twelve sites: odd ones save something by not being plain; of the first two even ones, one
 * of them, whichever, does so for both; the others change nothing. Site 4 may not be plain. All dear ones are asked
 * once more after others have gone.
 */
#include "search/trim.h"
#include "tests/test.h"

#define SITES 12

static double formula(struct space *s, const uint8_t *y, enum quantity q)
{
	double cost = 100;

	(void)q;
	for (uint32_t i = 1; i < s->n_sites && i < SITES; i += 2)
		cost -= y[i] != 0;
	return cost - 5 * (y[0] || y[2]);
}

static bool plain(struct space *s, const uint8_t *config, uint32_t site)
{
	(void)s;
	CHECK(config[site] != 0);
	return site != 4;
}

static void what_changes_nothing_is_taken_back(void)
{
	struct cost_options o = {0};
	struct lab lab = {0};
	struct err err = {0};
	struct hunt h;
	struct hunt_options ho = {.budget = 10, .seed = 1, .alpha = 100};
	struct space_ops ops;
	struct trim t;
	uint32_t left = 0;

	if (!CHECK_INT(lab_open(&lab, "toy:12", "fusion", NULL, &o, NULL, &err), 0))
		return;
	ops = *lab.space->ops;
	ops.formula = formula;
	ops.plain = plain;
	lab.space->ops = &ops;
	CHECK(lab.space->n_sites >= SITES);
	CHECK_INT(hunt_begin(&h, &ho, &lab, NULL, &err), 0);
	for (uint32_t i = 0; i < lab.space->n_sites; i++)
		h.config[i] = 1;
	h.hash = config_hash(h.s, h.config);
	h.running.value = -11;
	CHECK_INT(trim_answer(&t, &h, &err), 0); /* the search kept nothing, so there is no answer yet */
	CHECK(t.asked == 0 && h.config[6] == 1);
	h.kept = 1;
	CHECK_INT(trim_answer(&t, &h, &err), 0);
	for (uint32_t i = 0; i < SITES; i++)
		left += h.config[i] != 0;
	CHECK_INT(t.asked, lab.space->n_sites - 1);
	CHECK_INT(left, SITES / 2 + 2);
	CHECK(h.config[4] && !h.config[0] != !h.config[2]);
	CHECK(!h.config[6] && !h.config[8] && !h.config[10]);
	CHECK_INT(t.dropped, lab.space->n_sites - left);
	CHECK(h.hash == config_hash(h.s, h.config));
	CHECK_NEAR(formula(h.s, h.config, QUANTITY_SECONDS), 89, 1e-9);
	CHECK_NEAR(h.running.value, -11, 1e-9);
	hunt_release(&h);
	lab_release(&lab);
}

int main(void)
{
	RUN(what_changes_nothing_is_taken_back);
	return test_done();
}
