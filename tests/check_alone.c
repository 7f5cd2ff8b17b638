/* check_alone.c - a candidate that takes most of the time, where there is nothing else to try. */
#include "base/progress.h"
#include "tests/share_bed.h"

/* Tells the guide that all flips were tried but one choice of one site's class. */
static void try_all_but(struct hunt *h, uint32_t site, uint8_t choice)
{
	for (uint32_t i = 0; i < h->s->n_sites; i++)
		for (uint8_t k = 0; k < h->s->site[i].choices; k++)
			if (k != h->config[i] && (h->s->site[i].tie != h->s->site[site].tie || k != choice))
				guide_tell(h->guide, i, k, NAN);
}

/* Sets the pace so that the flip offered last takes between so many seconds. */
static bool pace_between(struct bed *b, double least, double most)
{
	for (double each = 1e-6; each < 1e3; each *= 1.3) {
		take_so_long(b, each);
		if (takes(&b->h) > least)
			return takes(&b->h) < most;
	}
	return false;
}

/*
 * Draws a flip, which is expected to take between so many seconds from now on, as if all others were tried before.
 * Returns its site.
 */
static uint32_t leave_one(struct bed *b, double least, double most)
{
	struct err err = {0};
	uint32_t site;
	uint8_t choice;

	CHECK_INT(hunt_offer(&b->h, &err), 1);
	site = b->h.flips[0];
	choice = b->h.candidate[site];
	CHECK(pace_between(b, least, most));
	hunt_undo(&b->h);
	try_all_but(&b->h, site, choice);
	b->h.evaluations++;
	return site;
}

static void it_may_take_most_of_what_is_left(void)
{
	static const struct {
		double least, most; /* seconds of 1,000 */
		bool offered;
	} t[] = {{100, 200, true}, {300, 600, true}, {5000, 8000, false}};

	for (size_t i = 0; i < sizeof t / sizeof *t; i++) {
		struct err err = {0};
		struct bed b;
		uint32_t site;

		if (!begin(&b, 1000, true))
			return;
		site = leave_one(&b, t[i].least, t[i].most);
		CHECK_INT(hunt_offer(&b.h, &err), t[i].offered);
		if (t[i].offered)
			CHECK(b.h.n_flips > 0 && b.h.s->site[b.h.flips[0]].tie == b.h.s->site[site].tie);
		else
			CHECK(b.h.too_dear);
		CHECK_INT(b.h.alone, t[i].offered && t[i].least > 250);
		end(&b);
	}
}

/* A scorer that promises a loss. */
static float promise_a_loss(void *ctx, uint32_t site, uint8_t choice)
{
	(void)ctx;
	(void)site;
	(void)choice;
	return -1;
}

/* Otherwise it is passed over, and the rest of the time is for something else. */
static void it_has_to_promise_something(void)
{
	struct err err = {0};
	struct bed b;

	if (!begin_by(&b, 1000, promise_a_loss))
		return;
	leave_one(&b, 300, 600);
	CHECK(hunt_offer(&b.h, &err) >= 0);
	CHECK(b.h.too_dear && !b.h.alone);
	end(&b);
}

/* What promises a million times as much as all others may be planned for half of what is left, and is cut later. */
static void what_promises_most_is_cut_too(void)
{
	struct err err = {0};
	struct bed b;
	double given;

	if (!begin(&b, 1000, true))
		return;
	CHECK_INT(hunt_offer(&b.h, &err), 1);
	favourite = b.h.flips[0];
	end(&b);
	if (!begin_by(&b, 1000, promise_one))
		return;
	CHECK_INT(hunt_offer(&b.h, &err), 1);
	CHECK_INT(b.h.flips[0], favourite);
	CHECK(pace_between(&b, 300, 450));
	hunt_undo(&b.h);
	b.h.evaluations++;
	b.h.focuses = false;
	guide_focus(b.h.guide, 1e-3); /* one site at a time, the best first */
	CHECK_INT(hunt_offer(&b.h, &err), 1);
	CHECK_INT(b.h.flips[0], favourite);
	CHECK(b.h.planned > 300 && b.h.great && !b.h.alone);
	hunt_allow(&b.h);
	given = b.d->until - now_seconds();
	CHECK(given > b.h.planned && given < 750);
	end(&b);
}

int main(void)
{
	RUN(it_may_take_most_of_what_is_left);
	RUN(it_has_to_promise_something);
	RUN(what_promises_most_is_cut_too);
	return test_done();
}
