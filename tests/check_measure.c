/*
 * check_measure.c - how pairs are measured, on a machine whose disturbances are formulas.
 */
#include <stdlib.h>
#include "base/mem.h"
#include "device/prior.h"
#include "tests/measure_machine.h"
#include "tests/test.h"

static void finds_the_ratio(void)
{
	static const struct {
		double a, b;
	} cases[] = {
		{1e-3, 1.02e-3}, {1e-3, 0.9e-3}, {5e-6, 5.1e-6}, {50e-3, 55e-3}, {20e-9, 21e-9}};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct machine m = machine_of(cases[i].a, cases[i].b, i);
		struct precision p = {.max_seconds = 5};
		struct measured out;
		CHECK(go(&m, 2, &p, &out) == 0);
		double want = log(cases[i].b / cases[i].a);
		CHECK_NEAR(out.ratio.value, want, 4 * out.ratio.se);
		CHECK(out.ratio.se <= 0.0035);
		CHECK_NEAR(out.delta.value, cases[i].b - cases[i].a, 4 * out.delta.se);
		CHECK_NEAR(out.a.value / cases[i].a, 1, 0.01);
		CHECK_INT(out.dropped, 0);
		measured_release(&out);
	}
}

static void stops_when_precise_enough(void)
{
	struct machine m = machine_of(1e-3, 1e-3, 1);
	struct precision rough = {.target = 0.005, .max_seconds = 10},
			 fine = {.target = 0.0005, .max_seconds = 10};
	struct measured a, b;
	CHECK(go(&m, 2, &rough, &a) == 0 && go(&m, 2, &fine, &b) == 0);
	/* 1% a run: about 1.5% / sqrt(pairs). */
	CHECK(a.pairs >= 10 && a.pairs < 40);
	CHECK(b.pairs > 400 && b.pairs < 2000);
	CHECK(b.running < 4);
	measured_release(&a);
	measured_release(&b);
}

static void respects_the_time(void)
{
	struct machine m = machine_of(10e-3, 10e-3, 1);
	struct precision p = {.target = 1e-9, .max_seconds = 0.3};
	struct measured out;
	CHECK(go(&m, 2, &p, &out) == 0);
	CHECK(out.running >= 0.3 && out.running < 0.36);
	measured_release(&out);
	/* A run longer than all the time there is still gives a few pairs; one of seconds, a single one. */
	m = machine_of(0.9, 0.9, 1);
	CHECK(go(&m, 2, &p, &out) == 0);
	CHECK_INT(out.pairs, 4);
	measured_release(&out);
	m = machine_of(2, 2, 1);
	CHECK(go(&m, 2, &p, &out) == 0);
	CHECK_INT(out.pairs, 1);
	measured_release(&out);
}

static void batches_short_runs(void)
{
	struct machine m = machine_of(5e-6, 5e-6, 1);
	struct precision p = {.raw = true};
	struct measured out;
	CHECK(go(&m, 2, &p, &out) == 0);
	CHECK(out.batch >= 19 && out.batch <= 22);
	CHECK_NEAR(out.a.value, 5e-6, 1e-7);
	CHECK_INT(out.raw.len, out.pairs * 8);
	measured_release(&out);
	m = machine_of(1e-3, 1e-3, 1);
	CHECK(go(&m, 2, &p, &out) == 0);
	CHECK_INT(out.batch, 1);
	measured_release(&out);
}

static void drift_cancels(void)
{
	double sum = 0;
	for (uint64_t i = 0; i < 50; i++) {
		struct machine m = machine_of(1e-3, 1e-3, i);
		struct precision p = {.target = 0.0001, .max_seconds = 0.1};
		struct measured out;
		m.drift = 20; /* three times as slow at the end */
		m.noise = 0.001;
		CHECK(go(&m, 2, &p, &out) == 0);
		sum += out.ratio.value / 50;
		CHECK(fabs(out.ratio.value) < 4 * out.ratio.se + 1e-4);
		measured_release(&out);
	}
	CHECK_NEAR(sum, 0, 0.0005);
}

static void outliers_do_not_count(void)
{
	struct machine m = machine_of(1e-3, 1.01e-3, 3);
	struct precision p = {.max_seconds = 2};
	struct measured out;
	m.spike = 0.05;
	CHECK(go(&m, 2, &p, &out) == 0);
	CHECK_NEAR(out.ratio.value, log(1.01), 0.01);
	measured_release(&out);
}

static void preempted_pairs_are_dropped(void)
{
	struct machine m = machine_of(1e-3, 1e-3, 4);
	struct precision p = {.target = 1e-9, .max_seconds = 0.5, .raw = true};
	struct measured out;
	m.preempt = 0.2;
	m.noise = 0.001;
	CHECK(go(&m, 2, &p, &out) == 0);
	CHECK(out.dropped > 30 && out.pairs > 60);
	CHECK_NEAR(out.a.value, 1e-3, 1e-5);
	CHECK_INT(out.raw.len, out.pairs * 8);
	measured_release(&out);
	/* Where every pair is preempted, all of them are better than none. */
	m = machine_of(1e-3, 1e-3, 4);
	m.preempt = 1;
	CHECK(go(&m, 2, &p, &out) == 0);
	CHECK_INT(out.dropped, 0);
	CHECK(out.pairs > 100);
	CHECK(out.running < 0.6); /* what does not come is not waited for */
	measured_release(&out);
}

/* Of the instances as many as there is time to run, but never two. */
static void instances_are_run_while_there_is_time(void)
{
	static const struct {
		double run;
		uint32_t instances;
	} t[] = {{10e-3, 4}, {80e-3, 3}, {120e-3, 1}, {250e-3, 1}};
	struct precision p = {.instances = 4, .max_seconds = 0.9, .target = 1e-9, .give_up = -1};

	for (size_t i = 0; i < sizeof t / sizeof *t; i++) {
		struct machine m = machine_of(t[i].run, t[i].run, i);
		struct measured out;
		CHECK(go(&m, 2, &p, &out) == 0);
		CHECK_INT(out.instances, t[i].instances);
		CHECK(out.running < 3.5 * p.max_seconds);
		measured_release(&out);
	}
}

/* Where a side may be given up, a runs first; if b does not end, it is known to take longer than its limit. */
static void limits_the_first_run_of_b(void)
{
	static const struct {
		double a, b, limit;
	} cases[] = {{1e-3, 1e-3, 2}, {1, 1.1, 2}, {20, 5, 30}};
	struct precision p = {.max_seconds = 0.2}, never = {.max_seconds = 0.2, .give_up = -1}, own = {.slow = 0.5};
	struct measured out;

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct machine m = machine_of(cases[i].a, cases[i].b, i);
		m.noise = 0;
		CHECK(go(&m, 2, &p, &out) == 0);
		CHECK_INT(m.limits, 1);
		CHECK(m.before[0] >= 1 && m.before[1] == 0);
		CHECK_NEAR(m.limit, cases[i].limit, 1e-9);
		CHECK(m.bound.gave_up && m.bound.delta.se > 0);
		CHECK_NEAR(m.bound.a.value, cases[i].a, 1e-9);
		CHECK_NEAR(m.bound.b.value, m.limit, 1e-9);
		CHECK_NEAR(m.bound.delta.value, m.limit - cases[i].a, 1e-9);
		CHECK_INT(m.bound.pairs, 1);
		measured_release(&out);
	}
	struct machine m = machine_of(1e-3, 1e-3, 5);
	CHECK(go(&m, 2, &never, &out) == 0 && m.limits == 0);
	measured_release(&out);
	CHECK(go(&m, 1, &p, &out) == 0 && m.limits == 0);
	measured_release(&out);
	m = machine_of(1e-3, 1e-3, 5);
	CHECK(go(&m, 2, &own, &out) == 0);
	CHECK_NEAR(m.limit, 0.5, 1e-9);
	measured_release(&out);
}

static void gives_up_on_the_slow(void)
{
	struct machine m = machine_of(1e-3, 2e-3, 5);
	struct precision p = {.max_seconds = 10, .target = 1e-6},
			 never = {.max_seconds = 0.2, .target = 1e-6, .give_up = -1};
	struct measured out;
	CHECK(go(&m, 2, &p, &out) == 0);
	CHECK(out.gave_up);
	CHECK_INT(out.pairs, 4);
	CHECK_NEAR(out.ratio.value, log(2), 0.1);
	measured_release(&out);
	CHECK(go(&m, 2, &never, &out) == 0);
	CHECK(!out.gave_up && out.pairs > 40);
	measured_release(&out);
	m = machine_of(1e-3, 1.3e-3, 5);
	CHECK(go(&m, 2, &p, &out) == 0);
	CHECK(!out.gave_up);
	measured_release(&out);
}

/* Something else may run in between, whenever it likes. */
static void one_hiccup_hides_nothing(void)
{
	struct precision p = {.max_seconds = 1000, .target = 1e-6};

	for (int run = 1; run <= 12; run++) {
		struct machine m = machine_of(1e-3, 200e-3, 5);
		struct measured out;
		m.hiccup = run;
		CHECK(go(&m, 2, &p, &out) == 0);
		if (!CHECK(out.gave_up && out.pairs <= 12))
			printf("\thiccup in run %d: %u pairs\n", run, (unsigned)out.pairs);
		measured_release(&out);
	}
}

static void first_side_is_random(void)
{
	/* The first run of every pair is slower: with random order and ABBA it does not matter who
	 * is a. */
	struct machine m = machine_of(1e-3, 1e-3, 6);
	struct precision p = {0};
	struct measured out;
	CHECK(go(&m, 2, &p, &out) == 0);
	CHECK(labs(m.runs[0] - m.runs[1]) <= 1);
	measured_release(&out);
}

static void runs_one_alone(void)
{
	struct machine m = machine_of(1e-3, 0, 7);
	struct precision p = {.target = 0.001, .max_seconds = 5};
	struct measured out;
	CHECK(go(&m, 1, &p, &out) == 0);
	CHECK_INT(m.runs[1], 0);
	CHECK_NEAR(out.a.value, 1e-3, 4e-6);
	CHECK(out.a.se <= 1.01e-6);
	measured_release(&out);
}

static void reports_failing_runs(void)
{
	for (int after = 1; after < 30; after++) {
		struct machine m = machine_of(1e-3, 1e-3, 8);
		struct precision p = {.instances = 2, .target = 1e-9};
		struct measured out;
		m.fail_after = after;
		CHECK(go(&m, 2, &p, &out) < 0);
		measured_release(&out);
	}
}

/* Returns how often the interval covers 0 if both sides are the same program. */
static double coverage(uint32_t instances, double load, bool with_prior)
{
	const int rounds = 400;
	int covered = 0;
	struct prior prior = {0};
	for (int i = 0; i < rounds; i++) {
		struct machine m = machine_of(1e-3, 1e-3, 1000 + (uint64_t)i);
		struct precision p = {.instances = instances, .target = 0.002, .max_seconds = 0.3};
		struct measured out;
		m.load = load;
		load_anew(&m);
		CHECK(go(&m, 2, &p, &out) == 0);
		double extra = with_prior ? prior_variance(&prior, 1e-3) : 0;
		covered +=
			fabs(out.ratio.value) <= 1.96 * sqrt(out.ratio.se * out.ratio.se + extra);
		prior_add(&prior, 1e-3,
			out.ratio.value * out.ratio.value - out.ratio.se * out.ratio.se, 1);
		measured_release(&out);
	}
	return (double)covered / rounds;
}

static void intervals_cover(void)
{
	CHECK_NEAR(coverage(1, 0, false), 0.95, 0.04);
	CHECK_NEAR(coverage(8, 0.01, false), 0.95, 0.035);
	CHECK_NEAR(coverage(3, 0.03, false), 0.95, 0.035);
	/* One pair of instances alone is too sure of itself; the prior mends that, whatever the
	 * machine is like. */
	CHECK(coverage(1, 0.01, false) < 0.5);
	CHECK_NEAR(coverage(1, 0.01, true), 0.95, 0.035);
	CHECK_NEAR(coverage(1, 0.03, true), 0.95, 0.035);
	CHECK(coverage(1, 0.001, true) > 0.95);
}

static void several_instances_tell_one_percent(void)
{
	int told = 0;
	for (uint64_t i = 0; i < 100; i++) {
		struct machine m = machine_of(1e-3, 1.01e-3, i);
		struct precision p = {.instances = 8, .max_seconds = 1};
		struct measured out;
		m.load = 0.004;
		load_anew(&m);
		CHECK(go(&m, 2, &p, &out) == 0);
		told += out.ratio.value > 1.96 * out.ratio.se;
		measured_release(&out);
	}
	CHECK(told >= 95);
}

/*
 * If one run takes longer than all the running that was asked for, each side runs once, or as many pairs are taken as
 * fit; the interval still covers the truth.
 */
static void long_runs_need_few(void)
{
	static const struct {
		double run, max_seconds, noise;
		uint32_t instances;
		long runs; /* a side */
	} t[] = {{20, 1, 0.005, 1, 1}, {20, 1, 0.02, 4, 1}, {2, 4, 0.02, 4, 2}, {0.4, 0.1, 0.02, 1, 5}};

	for (size_t i = 0; i < sizeof t / sizeof *t; i++) {
		int covered = 0;
		for (uint64_t seed = 0; seed < 200; seed++) {
			struct machine m = machine_of(t[i].run, t[i].run * 1.1, 5000 + seed);
			struct precision p = {.instances = t[i].instances, .max_seconds = t[i].max_seconds,
				.give_up = -1};
			struct measured out;
			m.noise = t[i].noise;
			CHECK(go(&m, 2, &p, &out) == 0);
			if (!CHECK_INT(m.runs[0], t[i].runs) || !CHECK_INT(m.runs[1], t[i].runs))
				printf("  of %g s where %g s were asked for\n", t[i].run, t[i].max_seconds);
			CHECK(isfinite(out.ratio.se) && out.ratio.se > 0 && isfinite(out.delta.se));
			CHECK_INT(out.batch, 1);
			covered += fabs(out.ratio.value - log(1.1)) <= 1.96 * out.ratio.se &&
				   fabs(out.delta.value - 0.1 * t[i].run) <= 1.96 * out.delta.se;
			measured_release(&out);
		}
		if (!CHECK(covered >= 184))
			printf("  row %zu: %d of 200 covered\n", i, covered);
	}
}

/*
 * A caller may say how much time an answer is worth and which error is small enough. Then there are no more runs than
 * the time allows, and no more than that error needs.
 */
static void runs_follow_what_they_are_worth(void)
{
	static const struct {
		double run, enough, most, noise;
		uint32_t instances;
		long least, runs; /* a side, the one to warm up among them */
	} t[] = {
		{0.4, 1, 10, 0.02, 3, 2, 2},	  /* a second's error: the first pair will do */
		{0.4, 0.01, 10, 0.02, 3, 3, 13},  /* 2.5% of a run: some more */
		{0.4, 1e-6, 3, 0.02, 3, 3, 4},	  /* what there is time for */
		{0.4, 1e-6, 1.0, 0.02, 1, 2, 2},
		{2, 0.01, 1, 0.02, 3, 2, 2},	  /* seconds: one to warm up */
		{12, 0.01, 1, 0.02, 3, 1, 1},	  /* longer: not even that */
		{0.02, 1e-6, 1, 0.02, 1, 8, 12},  /* ten runs fit: as ever */
		{0.009, 1, 0.1, 0.02, 3, 11, 50}, /* too short to be scattered as is assumed */
	};

	for (size_t i = 0; i < sizeof t / sizeof *t; i++) {
		int covered = 0;
		for (uint64_t seed = 0; seed < 200; seed++) {
			struct machine m = machine_of(t[i].run, t[i].run * 1.1, 7000 + seed);
			struct precision p = {.instances = t[i].instances, .max_seconds = 0.3, .target = 0.001,
				.give_up = -1,
				.enough = t[i].enough, .most = t[i].most};
			struct measured out;
			m.noise = t[i].noise;
			CHECK(go(&m, 2, &p, &out) == 0);
			if (!CHECK(m.runs[0] >= t[i].least && m.runs[0] <= t[i].runs))
				printf("  row %zu: %ld runs a side, not %ld to %ld\n", i, m.runs[0], t[i].least,
					t[i].runs);
			CHECK_INT(m.runs[1], m.runs[0]);
			covered += fabs(out.ratio.value - log(1.1)) <= 1.96 * out.ratio.se &&
				   fabs(out.delta.value - 0.1 * t[i].run) <= 1.96 * out.delta.se;
			measured_release(&out);
		}
		if (!CHECK(covered >= 182))
			printf("  row %zu: %d of 200 covered\n", i, covered);
	}
}

/* A first run may take many times as long as any later one, and differs from side to side. It says nothing. */
static void cold_runs_do_not_count(void)
{
	static const struct {
		double run, most;
		uint32_t fewest;
	} t[] = {{0.5, 2, 1}, {0.5, 20, 2}, {0.09, 1, 4}};

	for (size_t i = 0; i < sizeof t / sizeof *t; i++)
		for (uint64_t seed = 0; seed < 50; seed++) {
			struct machine m = machine_of(t[i].run, t[i].run, 9000 + seed);
			struct precision p = {.max_seconds = 0.3, .enough = 1e-6, .most = t[i].most, .give_up = 1.5};
			struct measured out;
			m.cold = 1 + 6 * rng_unit(&m.rng);
			CHECK(go(&m, 2, &p, &out) == 0);
			CHECK(!out.gave_up && out.pairs >= t[i].fewest);
			CHECK_NEAR(out.a.value / t[i].run, 1, 0.05);
			CHECK_NEAR(out.ratio.value, 0, 4 * out.ratio.se);
			measured_release(&out);
		}
}

/* Further instances are loaded while there is time for that, three times as much as for running. */
static void instances_are_loaded_while_there_is_time(void)
{
	static const struct {
		double loading; /* of one of each side */
		uint32_t instances;
	} t[] = {{0.01, 4}, {0.3, 4}, {0.5, 2}, {2, 1}};

	for (size_t i = 0; i < sizeof t / sizeof *t; i++) {
		struct machine m = machine_of(1e-3, 1e-3, i);
		struct precision p = {.max_seconds = 0.3, .instances = 4};
		struct measured out;
		m.loading = t[i].loading;
		CHECK(go(&m, 2, &p, &out) == 0);
		CHECK_INT(out.instances, t[i].instances);
		CHECK(out.ratio.se > 0 && isfinite(out.ratio.se));
		measured_release(&out);
	}
}

/* Two pairs are enough if both say that one side takes many times as long. */
static void few_runs_give_up_too(void)
{
	struct machine m = machine_of(0.5, 2.5, 1);
	struct precision p = {.instances = 3, .max_seconds = 0.3, .give_up = 4, .enough = 1e-6, .most = 10};
	struct measured out;

	CHECK(go(&m, 2, &p, &out) == 0);
	CHECK(out.gave_up);
	CHECK_INT(out.pairs, 2);
	measured_release(&out);
}

static void a_long_run_alone(void)
{
	struct machine m = machine_of(30, 0, 3);
	struct precision p = {.max_seconds = 1, .patient = true};
	struct measured out;

	CHECK(go(&m, 1, &p, &out) == 0);
	CHECK_INT(m.runs[0], 1);
	CHECK_INT(m.runs[1], 0);
	CHECK(fabs(out.a.value - 30) < 2 && out.a.se > 0.1 && out.a.se < 3);
	measured_release(&out);
}

static void prior_learns(void)
{
	struct prior p = {0};
	CHECK(prior_variance(&p, 5e-6) > 2 * prior_variance(&p, 1e-3));
	CHECK_NEAR(prior_weight(&p, 1e-3), 0, 0);
	for (int i = 0; i < 200; i++)
		prior_add(&p, 1e-3, 0.02 * 0.02, 1);
	CHECK_NEAR(sqrt(prior_variance(&p, 1e-3)), 0.02, 0.001);
	/* Neighbours hear of it, far durations hardly. */
	CHECK(sqrt(prior_variance(&p, 2e-3)) > 0.015);
	CHECK(prior_weight(&p, 1) < 1);
	/* Observed variance can come out negative; the prior never does. */
	for (int i = 0; i < 1000; i++)
		prior_add(&p, 1e-3, -0.01, 1);
	CHECK(prior_variance(&p, 1e-3) > 0);
}

int main(void)
{
	RUN(finds_the_ratio);
	RUN(stops_when_precise_enough);
	RUN(respects_the_time);
	RUN(batches_short_runs);
	RUN(drift_cancels);
	RUN(outliers_do_not_count);
	RUN(preempted_pairs_are_dropped);
	RUN(instances_are_run_while_there_is_time);
	RUN(gives_up_on_the_slow);
	RUN(one_hiccup_hides_nothing);
	RUN(limits_the_first_run_of_b);
	RUN(first_side_is_random);
	RUN(runs_one_alone);
	RUN(reports_failing_runs);
	RUN(intervals_cover);
	RUN(several_instances_tell_one_percent);
	RUN(long_runs_need_few);
	RUN(runs_follow_what_they_are_worth);
	RUN(cold_runs_do_not_count);
	RUN(instances_are_loaded_while_there_is_time);
	RUN(few_runs_give_up_too);
	RUN(a_long_run_alone);
	RUN(prior_learns);
	return test_done();
}
