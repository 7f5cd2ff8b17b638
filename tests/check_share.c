/*
 * check_share.c - how a search spends its time: how long a pair is expected to take, and which candidates are offered.
 *
 * The device is our performance model, pretending to measure, so that time counts. Nothing here waits: the tests set
 * the pace, which says how long candidates are expected to take.
 */
#include <math.h>
#include "base/progress.h"
#include "tests/share_bed.h"

/* The pace follows the times that were seen, each size of module by itself; a measurement given up does not count. */
static void pace_follows_what_was_seen(void)
{
	struct pace p = {.each = 1e-5}, before;
	double small = pace_of(&p, 1000), large = pace_of(&p, 1 << 20);

	CHECK(small > 0 && large > 5 * small);
	for (int i = 0; i < 20; i++)
		pace_add(&p, 1000, 0.05, false);
	CHECK(pace_of(&p, 1000) < 0.1);
	CHECK(pace_of(&p, 1 << 20) > 0.6 * large); /* ten classes away */
	for (int i = 0; i < 20; i++)
		pace_add(&p, 1 << 20, 300, false);
	CHECK(pace_of(&p, 1 << 20) > 150 && pace_of(&p, 1 << 20) < 400);
	CHECK(pace_of(&p, 1000) < 0.1);
	before = p;
	pace_add(&p, 1 << 20, 10, true);
	CHECK(pace_of(&p, 1 << 20) == pace_of(&before, 1 << 20));
	pace_add(&p, 1000, 60, true);
	CHECK(pace_of(&p, 1000) > 1.1 * pace_of(&before, 1000));
	CHECK(pace_of(&p, 0) > 0 && isfinite(pace_of(&p, (size_t)1 << 40)));
}

/* If every candidate fits, or there is no limit of time, the proposed candidate is offered. */
static void what_fits_is_taken_as_it_comes(void)
{
	static const double limit[] = {0, 3600};
	struct err err = {0};

	for (size_t i = 0; i < sizeof limit / sizeof *limit; i++) {
		struct bed b;
		if (!begin(&b, limit[i], true))
			return;
		for (int n = 0; n < 10; n++) {
			struct rng rng = b.h.rng;
			uint32_t site;
			CHECK(hunt_propose(&b.h));
			site = b.h.flips[0];
			hunt_undo(&b.h);
			b.h.rng = rng;
			CHECK_INT(hunt_offer(&b.h, &err), 1);
			CHECK_INT(b.h.flips[0], site);
			guide_tell(b.h.guide, site, b.h.candidate[site], NAN);
			hunt_undo(&b.h);
		}
		CHECK_INT(hunt_passed_over(&b.h), 0);
		end(&b);
	}
}

/* How many sites that were not tried promise more than this one? */
static uint32_t better_than(const struct hunt *h, uint32_t site)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < h->s->n_sites; i++)
		n += guide_worth(h->guide, i) > guide_worth(h->guide, site);
	return n;
}

/* Time for a few evaluations is spent on the best sites; with more of it, the budget decides how many there are. */
static void the_clock_narrows_the_choice(void)
{
	struct err err = {0};

	for (int focuses = 0; focuses < 2; focuses++) {
		struct bed b;
		uint32_t widest = 0;
		if (!begin(&b, 3600, true))
			return;
		b.h.focuses = focuses;
		b.h.started -= 3500; /* by the pace of the first, there is time for one or two more */
		b.h.evaluations = 30;
		for (int n = 0; n < 10; n++) {
			CHECK_INT(hunt_offer(&b.h, &err), 1);
			widest = better_than(&b.h, b.h.flips[0]) > widest ? better_than(&b.h, b.h.flips[0]) : widest;
			guide_tell(b.h.guide, b.h.flips[0], b.h.candidate[b.h.flips[0]], NAN);
			hunt_undo(&b.h);
		}
		CHECK((widest < 4) == focuses);
		end(&b);
	}
}

/* Flips that are measured by region are tried one by one, however well it goes; a count of evaluations bundles them. */
static void the_clock_bundles_nothing_that_is_measured(void)
{
	struct err err = {0};

	for (int timed = 0; timed < 2; timed++) {
		struct bed b;
		if (!begin(&b, timed ? 3600 : 0, true))
			return;
		b.h.o.bundles = true;
		b.h.bundle = 8;
		CHECK_INT(hunt_offer(&b.h, &err), 1);
		CHECK(hunt_is_flip(&b.h) == timed);
		end(&b);
	}
}

/*
 * If every candidate takes more than its share, the search takes the one that promises most for a second. It takes none
 * that needs more time than is left, except as its very first.
 */
static void dear_candidates_wait(void)
{
	struct err err = {0};
	struct bed b;
	double first;

	if (!begin(&b, 1000, true))
		return;
	take_so_long(&b, 0.05); /* a module of 1,000 bytes takes 50 s, a candidate should take 17 */
	for (int n = 0; n < 10; n++) {
		CHECK_INT(hunt_offer(&b.h, &err), 1);
		if (n > 0)
			CHECK(takes(&b.h) <= 250);
		guide_tell(b.h.guide, b.h.flips[0], b.h.candidate[b.h.flips[0]], NAN);
		hunt_undo(&b.h);
		b.h.evaluations++;
	}
	CHECK(hunt_passed_over(&b.h) > 0 && b.h.dearest > 17);
	end(&b);
	if (!begin(&b, 1000, false))
		return;
	take_so_long(&b, 50);
	CHECK_INT(hunt_offer(&b.h, &err), 1);
	first = takes(&b.h);
	hunt_undo(&b.h);
	CHECK(first > 250); /* nobody knows yet whether it is true */
	b.h.evaluations++;
	CHECK_INT(hunt_offer(&b.h, &err), 0);
	CHECK(b.h.too_dear && b.h.n_flips == 0);
	CHECK_INT(hunt_affords(&b.h, &err), 1); /* what is the same costs nothing */
	CHECK_INT(hunt_next(&b.h, &err), 0);
	CHECK(!b.h.used_up && hunt_could_go_on(&b.h));
	end(&b);
}

/* Times whole programs as a crowded machine would: the means are wild, the ratios of pairs are right. */
static double ratio_se;
static int wild_pair(struct device *d, uint32_t a, uint32_t b, const struct precision *p, struct timing *out,
	struct err *err)
{
	(void)d;
	(void)a;
	(void)b;
	(void)p;
	(void)err;
	*out = (struct timing){.kind = COST_MEASURED, .seconds_a = 5e-3, .seconds_b = 1e-3, .delta = -40e-3,
		.delta_se = 30e-3, .ratio = 0.1, .ratio_se = ratio_se, .pairs = 20};
	return 0;
}

/* A device that times pairs wildly, by the operations that the caller keeps. */
static struct device *wild_device(struct device_ops *ops)
{
	struct device *d = device_open(&(struct device_options){.backend = "sim"}, NULL);

	*ops = *d->ops;
	ops->pair = wild_pair;
	d->ops = ops;
	d->info.kind = COST_MEASURED;
	return d;
}

static const struct hunt_options wild_hunt = {.strategy = STRATEGY_RANDOM, .budget = 60, .seed = 3,
	.part_known = true};

static void no_gain_is_beyond_sense(void)
{
	static const double se[] = {0.01, 3};

	for (size_t i = 0; i < sizeof se / sizeof *se; i++) {
		struct device_ops ops;
		struct device *d = wild_device(&ops);
		struct err err = {0};
		struct lab lab;
		struct hunt h;

		ratio_se = se[i];
		if (!CHECK(lab_open(&lab, PROGRAM, "fusion", d, &(struct cost_options){0}, NULL, &err) == 0 &&
			    hunt_begin(&h, &wild_hunt, &lab, NULL, &err) == 0)) {
			printf("%s\n", err.text);
			return;
		}
		CHECK_NEAR(hunt_gain(&h), -expm1(0.1), 1e-9); /* as read back, it takes so much more */
		CHECK_INT(hunt_vague(&h), se[i] > 1);
		hunt_release(&h);
		lab_release(&lab);
		device_close(d);
	}
}

/*
 * The compiler's own program stands for the default, and the default is not compiled again to be measured, if compiling
 * takes long and every group was read back.
 */
static void own_program_stands_for_the_default(void)
{
	static const struct {
		double extract;
		uint32_t parts, equal;
		bool stands;
	} t[] = {{60, 3, 3, true}, {60, 3, 2, false}, {1, 3, 3, false}, {60, 0, 0, false}};

	ratio_se = 0.01;
	for (size_t i = 0; i < sizeof t / sizeof *t; i++) {
		struct device_ops ops;
		struct device *d = wild_device(&ops);
		struct err err = {0};
		struct lab lab;
		struct hunt h;

		if (!CHECK(lab_open(&lab, PROGRAM, "fusion", d, &(struct cost_options){0}, NULL, &err) == 0))
			return;
		lab.subject.extract_seconds = t[i].extract;
		lab.space->account.parts = t[i].parts;
		lab.space->account.equal = t[i].equal;
		if (!CHECK(hunt_begin(&h, &wild_hunt, &lab, NULL, &err) == 0))
			printf("%s\n", err.text);
		CHECK_INT(hunt_own_stands(&h), t[i].stands);
		if (t[i].stands) { /* the pair that a machine times wildly was not asked for */
			CHECK(h.decoded.value == 0 && h.decoded.se > 0 && h.decoded.se < 0.1 * h.default_seconds);
			CHECK(h.default_seconds != 1e-3);
		} else {
			CHECK(h.decoded.value != 0 && h.default_seconds == 1e-3);
		}
		CHECK(h.default_seconds > 0);
		hunt_release(&h);
		lab_release(&lab);
		device_close(d);
	}
}

/* Compiles at once, and says that it took so many seconds. */
#define SLOW 8.0
static struct device_ops quick;
static int slow_compile(struct device *d, enum compile_how how, const char *format, const void *p, size_t n,
	unsigned want, struct compiled *out, struct err *err)
{
	int rc = quick.compile(d, how, format, p, n, want, out, err);

	out->seconds = SLOW;
	if (rc == 0 && want & WANT_SERIALISED)
		buf_adds(&out->serialised, "compiled");
	return rc;
}

/* Where the own program stands for the default, the first block of rewritten places is one compilation, not two. */
static void the_own_program_is_not_compiled_for_a_block(void)
{
	struct device_ops ops;
	struct device *d = wild_device(&ops);
	struct err err = {0};
	struct lab lab;
	struct hunt h;

	quick = ops;
	ops.compile = slow_compile;
	if (!CHECK(lab_open(&lab, PROGRAM, "rewrite", d, &(struct cost_options){0}, NULL, &err) == 0)) {
		printf("%s\n", err.text);
		return;
	}
	lab.subject.extract_seconds = SLOW;
	if (!CHECK(hunt_begin(&h, &wild_hunt, &lab, NULL, &err) == 0))
		printf("%s\n", err.text);
	CHECK(hunt_own_stands(&h));
	CHECK(h.s->ops->scheme(h.s, h.config, 0, h.candidate));
	CHECK(takes(&h) > SLOW && takes(&h) < 1.1 * SLOW);
	memcpy(h.config, h.candidate, h.s->n_sites); /* from there on both sides are new */
	CHECK(h.s->ops->scheme(h.s, h.config, 1, h.candidate));
	CHECK(takes(&h) > 2 * SLOW);
	hunt_release(&h);
	lab_release(&lab);
	device_close(d);
}

/* Ten offers, none of which is taken; is one of them the favourite? */
static bool offers_favourite(struct bed *b)
{
	struct err err = {0};
	bool any = false;

	take_so_long(b, 0.05);
	for (int n = 0; n < 10; n++) {
		CHECK_INT(hunt_offer(&b->h, &err), 1);
		any |= b->h.flips[0] == favourite;
		guide_tell(b->h.guide, b->h.flips[0], b->h.candidate[b->h.flips[0]], NAN);
		hunt_undo(&b->h);
		b->h.evaluations++;
	}
	return any;
}

/* A candidate that was passed over, as it takes more than a fair part of the time, is tried if it promises enough. */
static void a_great_promise_may_be_dear(void)
{
	struct bed b;

	favourite = NONE;
	if (!begin_by(&b, 1000, promise_one))
		return;
	offers_favourite(&b);
	for (uint32_t i = 0; i < b.h.s->n_sites; i++)
		favourite = b.h.dear[i] ? i : favourite;
	end(&b);
	CHECK(favourite != NONE);
	if (!begin_by(&b, 1000, promise_one))
		return;
	CHECK(offers_favourite(&b));
	end(&b);
}

/* To learn that a move takes too long it is not cut out to its end; what was cut out once is known. */
static void what_is_too_large_is_not_cut_out(void)
{
	struct err err = {0};
	double known, beyond, all;
	size_t bytes, part;
	struct bed b;

	if (!begin(&b, 1000, true))
		return;
	take_so_long(&b, 0.05);
	space_random(b.h.s, 0.5, &b.h.rng, b.h.candidate);
	CHECK(cost_takes(b.lab.cost, b.h.config, b.h.candidate, 1, &beyond, &part, &err) == 0);
	CHECK(beyond > 1);
	CHECK(cost_takes(b.lab.cost, b.h.config, b.h.candidate, INFINITY, &all, &bytes, &err) == 0);
	CHECK(bytes > part && all > beyond);
	CHECK(cost_takes(b.lab.cost, b.h.config, b.h.candidate, 1, &known, &part, &err) == 0);
	CHECK(part == bytes && known == all);
	end(&b);
}

/* Prices candidates until one saves between a least and a most share of the default. Is it one? */
static bool price_one(struct bed *b, double least, double most, bool *better)
{
	struct err err = {0};
	struct delta d = {0};
	bool found = false;

	for (int n = 0; n < 300 && !found; n++) {
		CHECK_INT(hunt_offer(&b->h, &err), 1);
		b->h.started = now_seconds(); /* so pricing took all of the time so far */
		CHECK(hunt_price(&b->h, &d, better, &err) == 0);
		found = d.outcome == OUTCOME_OK && d.measured && -d.seconds > least * b->h.default_seconds &&
			-d.seconds + d.se < most * b->h.default_seconds;
		guide_tell(b->h.guide, b->h.flips[0], b->h.candidate[b->h.flips[0]], d.seconds);
		hunt_undo(&b->h);
	}
	return found;
}

/*
 * What saves next to nothing, and less than the search finds in the time of its price, is not measured again; a budget
 * is no clock.
 */
static void trifles_are_left(void)
{
	static const struct {
		/* of the search; better already, and what is priced saves, as shares of the default */
		double seconds, found, least, most;
		bool kept;
	} t[] = {{1000, 0, 0, 0.001, true}, {1000, 0.4, 0, 0.001, false}, {0, 0.4, 0, 0.001, true},
		{1000, 0.95, 0.0002, 0.01, true}};

	for (size_t i = 0; i < sizeof t / sizeof *t; i++) {
		bool better = false;
		struct bed b;

		if (!begin(&b, t[i].seconds, true))
			return;
		b.h.running.value -= t[i].found * b.h.default_seconds;
		if (CHECK(price_one(&b, t[i].least, t[i].most, &better)) && !CHECK_INT(better, t[i].kept))
			printf("# row %zu\n", i);
		end(&b);
	}
}

int main(void)
{
	RUN(pace_follows_what_was_seen);
	RUN(what_fits_is_taken_as_it_comes);
	RUN(the_clock_narrows_the_choice);
	RUN(the_clock_bundles_nothing_that_is_measured);
	RUN(dear_candidates_wait);
	RUN(a_great_promise_may_be_dear);
	RUN(what_is_too_large_is_not_cut_out);
	RUN(trifles_are_left);
	RUN(no_gain_is_beyond_sense);
	RUN(own_program_stands_for_the_default);
	RUN(the_own_program_is_not_compiled_for_a_block);
	return test_done();
}
