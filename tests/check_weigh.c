/*
 * check_weigh.c - the whole program of a hunt: when there is time to ask what it costs, how it is asked, and what
 * follows from the answer.
 */
#include <math.h>
#include "base/progress.h"
#include "tests/share_bed.h"

/*
 * Time is kept for the last check of the whole program, unless checks would take more than a quarter of it all; then it
 * is made only if the search ended early enough. Where others go on from what was found, the check is made however long
 * it takes, and up to half of the search's time is kept for it.
 */
static void a_last_check_fits_or_is_none(void)
{
	static const struct {
		double extract, before, checks, left; /* seconds; left of 100 for candidates */
		double spent; /* seconds, when it ends */
		bool handed;
	} t[] = {{10, 0, 1, 100 - 12.5, 99, false}, {10, 14, 1, 100 - 12.5, 99, false}, {10, 16, 0, 100, 99, false},
		{30, 0, 0, 100, 70, false}, {30, 0, 1, 100, 20, false}, {10, 16, 1, 100, 60, false},
		{1000, 0, 1, 50, 99, true}, {10, 0, 1, 100 - 12.5, 99, true}};

	for (size_t i = 0; i < sizeof t / sizeof *t; i++) {
		struct err err = {0};
		struct bed b;

		if (!begin(&b, 100, true))
			return;
		b.h.o.drift_checks = 1;
		b.h.o.handed = t[i].handed;
		b.h.default_wall = t[i].extract;
		b.h.checking = t[i].before;
		CHECK_NEAR(hunt_last_check(&b.h), 0, 0); /* nothing was kept that it could check */
		b.h.kept = 1;
		CHECK_NEAR(100 - hunt_last_check(&b.h), t[i].left, 1e-9);
		b.h.started -= t[i].spent;
		CHECK_INT(hunt_check(&b.h, true, &err), 0);
		CHECK_INT(b.h.n_check, t[i].checks);
		end(&b);
	}
}

static int dying_pair(struct device *d, uint32_t a, uint32_t b, const struct precision *p, struct timing *out,
	struct err *err)
{
	(void)d, (void)a, (void)b, (void)p, (void)err;
	*out = (struct timing){.outcome = OUTCOME_CRASHED};
	return 0;
}

/* A sum too vague to be contradicted is given up if the whole is surely worse, or if the whole does not run. */
static void what_is_vague_and_worse_is_gone_back_from(void)
{
	for (int dies = 0; dies < 2; dies++) {
		struct device_ops ops;
		struct err err = {0};
		struct bed b;
		uint8_t *dflt;

		if (!begin(&b, 100, true))
			return;
		dflt = mem_alloc(b.h.s->n_sites);
		space_default(b.h.s, dflt);
		memset(b.h.config, 0, b.h.s->n_sites); /* nothing is fused */
		b.h.o.drift_checks = 1;
		b.h.kept = 1;
		b.h.running = (struct estimate){-0.5 * b.h.default_seconds, b.h.default_seconds, 1};
		ops = *b.d->ops;
		ops.pair = dies ? dying_pair : ops.pair;
		b.d->ops = &ops;
		CHECK_INT(hunt_check(&b.h, true, &err), 0);
		CHECK_INT(b.h.drifts, 1);
		CHECK(memcmp(b.h.config, dflt, b.h.s->n_sites) == 0 && b.h.running.value >= 0);
		mem_free(dflt);
		end(&b);
	}
}

static uint32_t pairs;

static int counted_pair(struct device *d, uint32_t a, uint32_t b, const struct precision *p, struct timing *out,
	struct err *err)
{
	(void)d, (void)a, (void)b, (void)p, (void)err;
	pairs++;
	*out = (struct timing){.outcome = OUTCOME_CRASHED};
	return 0;
}

/* Where running both sides takes a good part of the search, one of them is run, and the default is what it was. */
static void a_long_program_is_run_alone(void)
{
	for (int is_long = 0; is_long < 2; is_long++) {
		struct space_ops space;
		struct device_ops ops;
		struct estimate whole = {0};
		struct timing t = {0};
		struct err err = {0};
		double dflt;
		struct bed b;

		if (!begin(&b, 100, true))
			return;
		dflt = b.h.default_seconds;
		space = *b.h.s->ops;
		space.decode = NULL; /* so nothing has to be proved */
		b.h.s->ops = &space;
		ops = *b.d->ops;
		ops.pair = counted_pair;
		b.d->ops = &ops;
		b.h.o.seconds = is_long ? 5 * dflt : 100;
		memset(b.h.config, 0, b.h.s->n_sites); /* nothing is fused */
		pairs = 0;
		CHECK_INT(hunt_weigh_whole(&b.h, &t, &whole, &err), 0);
		CHECK_INT(pairs > 0, !is_long);
		if (is_long && CHECK_INT(t.outcome, OUTCOME_OK)) {
			CHECK(t.seconds_b > 0);
			CHECK_NEAR(whole.value, t.seconds_b - dflt, 1e-9 * dflt);
			CHECK_NEAR(whole.se, 0.1 * dflt, 0.02 * dflt);
			CHECK_NEAR(t.seconds_a, dflt, 0);
		}
		b.h.running.value = -0.9 * dflt; /* what runs fast is soon checked */
		b.h.lab->subject.extract_seconds = 0;
		if (is_long)
			CHECK(hunt_check_seconds(&b.h) < 0.2 * dflt + hunt_in_time(&b.h).max_seconds);
		timing_release(&t);
		end(&b);
	}
}

int main(void)
{
	RUN(a_last_check_fits_or_is_none);
	RUN(what_is_vague_and_worse_is_gone_back_from);
	RUN(a_long_program_is_run_alone);
	return test_done();
}
