/*
 * check_believed.c - what a search believes is right on average, on a device whose noise we make and whose truth we
 * know.
 *
 * The device is our performance model. We add noise to every pair that it times, and it reports the size of that noise.
 * The measurement by which a candidate was chosen is too good on average, so a search must not believe it.
 */
#include <math.h>
#include "base/rng.h"
#include "base/stat.h"
#include "device/ops.h"
#include "search/hunt.h"
#include "tests/test.h"

#define PROGRAM "examples/graphs/held-out/ranker.pb.zst"
#define FEW "examples/graphs/tiny/chain.pb.zst"
#define SEARCHES 16 /* enough: one that believes what it chose by is seven standard errors off */
#define NOISE 4e-6 /* seconds, of a region; a confirmation has half of it, whole programs ten times as much */

static const struct device_ops *quiet;
static struct rng noise;
static bool noisy;
static double loudness = 1; /* times the usual noise */
static double overstated = 1; /* so many times as large as it is, each region says a difference to be */
static double outliers = 1; /* so many times as far off as it states is one in four timings of whole programs */

/* Returns a roughly normal number with standard deviation 1. */
static double draw(void)
{
	double sum = -6;

	for (int i = 0; i < 12; i++)
		sum += rng_unit(&noise);
	return sum;
}

static int noisy_pair(struct device *d, uint32_t a, uint32_t b, const struct precision *p, struct timing *out,
	struct err *err)
{
	bool whole = p->give_up < 0;
	double se = loudness * (whole ? 10 * NOISE : p->instances > 1 ? NOISE / 2 : NOISE);
	int rc = quiet->pair(d, a, b, p, out, err);

	if (noisy) {
		double odd = whole && outliers > 1 && rng_unit(&noise) < 0.25 ? outliers : 1;
		out->delta = (whole ? 1 : overstated) * out->delta + odd * se * draw();
		out->delta_se = se;
	}
	return rc;
}

static struct device *open_noisy(struct device_ops *ops, struct err *err)
{
	struct device_options on = {.backend = "sim"};
	struct device *d = device_open(&on, err);

	if (d) {
		quiet = d->ops;
		*ops = *d->ops;
		ops->pair = noisy_pair;
		d->ops = ops;
		d->info.kind = COST_MEASURED;
	}
	return d;
}

/* Returns the seconds by which a search's configuration really differs from the default. */
static double truth(struct hunt *h)
{
	uint8_t *dflt = mem_alloc(h->s->n_sites);
	struct timing t = {0};
	struct err err = {0};

	space_default(h->s, dflt);
	noisy = false;
	CHECK(cost_whole(h->lab->cost, dflt, h->config, NULL, &t, &err) == 0 && t.outcome == OUTCOME_OK);
	noisy = true;
	mem_free(dflt);
	return t.delta;
}

/* Runs one search. Returns what it believes minus what is true, in seconds; `se` gets the error that it states. */
static double one_search(struct lab *lab, uint64_t seed, uint32_t checks, double *se, uint64_t *kept)
{
	struct hunt_options o = {.strategy = STRATEGY_RANDOM, .budget = 150, .seed = seed, .alpha = 10, .hops = 1,
		.tied = true, .drift_checks = checks, .part_known = true};
	struct err err = {0};
	struct hunt h;
	double off;

	CHECK(hunt_begin(&h, &o, lab, NULL, &err) == 0);
	h.before = 1e6; /* there is always time for a check, however fast this machine is */
	while (hunt_next(&h, &err) == 1)
		;
	*kept += h.kept;
	*se = h.running.se;
	off = h.running.value - truth(&h);
	hunt_release(&h);
	return off;
}

/*
 * The squares of what searches are off by must be less than `most` times those that they state. On the mean they are
 * right, unless regions overstate: then all are off the same way. Returns the mean.
 */
static double beliefs(uint32_t checks, double most)
{
	struct device_ops ops;
	struct err err = {0};
	struct device *d = open_noisy(&ops, &err);
	double off[SEARCHES], se[SEARCHES], mean, of_mean, squares = 0;
	uint64_t kept = 0;

	for (uint64_t i = 0; i < SEARCHES; i++) {
		struct cost_options co = {.seed = i};
		struct lab lab = {0};
		rng_seed2(&noise, i, checks);
		noisy = true;
		if (!CHECK(d && lab_open(&lab, PROGRAM, "fusion", d, &co, NULL, &err) == 0)) {
			printf("%s\n", err.text);
			return NAN;
		}
		off[i] = one_search(&lab, i, checks, &se[i], &kept);
		squares += off[i] * off[i] / (se[i] * se[i]) / SEARCHES;
		lab_release(&lab);
	}
	mean = stat_mean(off, SEARCHES);
	of_mean = sqrt(stat_var(off, SEARCHES) / SEARCHES);
	printf("%u checks, %.1f kept a search: believed less true %+.3f +- %.3f us; squares over those stated %.2f\n",
		checks, (double)kept / SEARCHES, 1e6 * mean, 1e6 * of_mean, squares);
	CHECK(kept > 5 * SEARCHES);
	CHECK(overstated > 1 || fabs(mean) < 2 * of_mean);
	CHECK(squares < most);
	device_close(d);
	return mean;
}

static void steps_are_not_flattered(void)
{
	beliefs(0, 2);
}

static void whole_programs_do_not_flatter(void)
{
	beliefs(4, 2);
}

/*
 * What regions leave out goes one way in all steps: that must not average out in the error that is stated. Then the one
 * check of the whole program, whose error is smaller, takes back half of it. (If the errors of steps are taken for
 * independent, squares are 2.3 times those stated, and two fifths are taken back.)
 */
static void regions_that_overstate_are_no_surprise(void)
{
	double unchecked;

	overstated = 1.6;
	loudness = 0.1;
	unchecked = beliefs(0, 1.5);
	CHECK(fabs(beliefs(1, 1.5)) < 0.5 * fabs(unchecked));
	overstated = loudness = 1;
}

/*
 * Checks that are far off now and then make searches go back; what is believed then must not be the luckiest check. A
 * single one of these is off by ten times the square that it states.
 */
static void going_back_does_not_flatter(void)
{
	outliers = 6;
	loudness = 0.3;
	beliefs(12, 10);
	outliers = loudness = 1;
}

/* A search that its seconds end, long before its budget, is checked on the way, not only in the end. */
static void checks_are_spread_over_seconds(void)
{
	struct device_ops ops;
	struct err err = {0};
	struct device *d = open_noisy(&ops, &err);
	struct cost_options co = {.seed = 1};
	struct hunt_options o = {.strategy = STRATEGY_RANDOM, .budget = 1000000, .seconds = 150e3, .seed = 1,
		.alpha = 10, .hops = 1, .tied = true, .drift_checks = 4, .part_known = true};
	struct lab lab = {0};
	struct hunt h;

	noisy = true;
	CHECK(d && lab_open(&lab, PROGRAM, "fusion", d, &co, NULL, &err) == 0);
	CHECK(hunt_begin(&h, &o, &lab, NULL, &err) == 0);
	while (hunt_next(&h, &err) == 1)
		h.before += 1e3; /* every evaluation takes so long */
	printf("%llu evaluations, %zu checks\n", (unsigned long long)h.evaluations, h.n_check);
	CHECK(h.evaluations < 200 && h.n_check >= 3);
	hunt_release(&h);
	lab_release(&lab);
	device_close(d);
}

/* Returns how many evaluations a search makes in which nothing is left to try soon. */
static uint64_t until_used_up(int strategy, double patience)
{
	struct device_ops ops;
	struct err err = {0};
	struct device *d = open_noisy(&ops, &err);
	struct cost_options co = {.seed = 1};
	struct hunt_options o = {.strategy = strategy, .budget = 1000000, .seconds = 1e9, .seed = 1, .alpha = 100,
		.propose = PROPOSE_SIGNED, .hops = 1, .tied = true, .patience = patience, .part_known = true};
	struct lab lab = {0};
	struct hunt h;
	uint64_t n;

	noisy = false;
	CHECK(d && lab_open(&lab, FEW, "fusion", d, &co, NULL, &err) == 0);
	CHECK(hunt_begin(&h, &o, &lab, NULL, &err) == 0);
	while (hunt_next(&h, &err) == 1)
		h.before += 2e5; /* every evaluation takes so long */
	CHECK(h.used_up);
	CHECK(h.n_flips == 0 && memcmp(h.candidate, h.config, h.s->n_sites) == 0); /* what comes next adds flips */
	n = h.evaluations;
	hunt_release(&h);
	lab_release(&lab);
	device_close(d);
	return n;
}

/* What others wait for does not go through what it knows a thousand times. */
static void those_who_wait_get_their_turn(void)
{
	uint64_t alone = until_used_up(STRATEGY_RANDOM, 0), first = until_used_up(STRATEGY_RANDOM, 0.9);
	uint64_t guided = until_used_up(STRATEGY_GUIDED, 0.9);

	printf("%llu evaluations alone, %llu with others behind, %llu by what promises something\n",
		(unsigned long long)alone, (unsigned long long)first, (unsigned long long)guided);
	CHECK(alone > 1000 && 2 * first < alone);
	CHECK(2 * guided < first); /* nor does it draw many at random when each flip was tried */
}

int main(void)
{
	RUN(steps_are_not_flattered);
	RUN(whole_programs_do_not_flatter);
	RUN(regions_that_overstate_are_no_surprise);
	RUN(going_back_does_not_flatter);
	RUN(checks_are_spread_over_seconds);
	RUN(those_who_wait_get_their_turn);
	return test_done();
}
