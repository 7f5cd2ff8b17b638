/*
 * check_plan.c - which program makes the next step in a night of collecting: one with long steps takes no more than its
 * share of the time.
 *
 * The test plays a night on a clock of its own, on which each step takes as long as the steps of its program do.
 */
#include <math.h>
#include "collect/plan_own.h"
#include "tests/test.h"

#define PROGRAMS 5
#define NIGHT 28800.0

struct night {
	struct settings set;
	struct plan p;
	struct lab lab;
	struct worker w;
	struct chain chain[2 * PROGRAMS];
	double seconds[PROGRAMS], opening[PROGRAMS];
	uint64_t samples[PROGRAMS];
};

/* Steps of program i take step[i] seconds; if new[i] is not 0, all but the first new[i] of them measure nothing. */
static void play(struct night *n, double share, enum cost_kind kind, uint32_t chains, const double *step,
	const uint32_t *new)
{
	double spent = 0;
	struct night empty = {.lab.kind = kind, .set.share = share};

	memcpy(empty.opening, n->opening, sizeof empty.opening);
	*n = empty;
	n->w.lab = &n->lab;
	n->p = (struct plan){.set = &n->set, .worker = &n->w, .chain = n->chain, .n_workers = 1,
		.n_programs = PROGRAMS, .n_chains = chains, .opening = n->opening};
	for (uint32_t k = 0; k < chains * PROGRAMS; k++)
		n->chain[k].number = k;
	while (spent < NIGHT) {
		struct chain *c = plan_next(&n->p);
		uint32_t i = c->number / chains;
		c->at.steps++;
		c->spent += step[i];
		c->taken++;
		c->known = new[i] && n->samples[i] >= new[i] ? c->known + 1 : 0;
		n->seconds[i] += step[i];
		n->samples[i]++;
		spent += step[i];
	}
}

static void long_steps_take_no_more_than_their_share(void)
{
	static const double step[PROGRAMS] = {0.3, 5, 0.5, 60, 0.4};
	static const uint32_t new[PROGRAMS] = {0};
	struct night n = {0};

	for (uint32_t chains = 1; chains <= 2; chains++) {
		play(&n, 1.5, COST_MEASURED, chains, step, new);
		for (uint32_t i = 0; i < PROGRAMS; i++)
			if (!CHECK(n.seconds[i] <= 1.5 * NIGHT / PROGRAMS + 1))
				printf("  program %u had %.0f s\n", i, n.seconds[i]);
		CHECK(n.samples[3] > 100 && n.samples[1] > n.samples[3]);
		/* those with short steps are alike in samples, not in time */
		for (uint32_t i = 0; i < PROGRAMS; i += 2)
			CHECK(n.samples[i] >= n.samples[1] && n.samples[i] + 2 >= n.samples[0]);
		for (uint32_t i = 0; i < PROGRAMS && chains == 2; i++) {
			uint32_t a = n.chain[2 * i].at.steps, b = n.chain[2 * i + 1].at.steps;
			CHECK(a <= b + 1 && b <= a + 1);
		}
	}
}

/* Eight hours of thirty programs, whose steps take 0.05 s to a minute on the mean, and differ by factors. */
static void nobody_has_twice_his_share(void)
{
	enum { MANY = 30 };
	struct settings set = {.share = 1.5};
	struct lab lab = {.kind = COST_MEASURED};
	struct worker w = {.lab = &lab};
	struct chain chain[MANY] = {{0}};
	double opening[MANY], most = 0, spent = 0, worst = 0, each[MANY];
	struct plan p = {.set = &set, .worker = &w, .chain = chain, .n_workers = 1, .n_programs = MANY, .n_chains = 1,
		.opening = opening};
	struct rng r;

	for (uint64_t seed = 0; seed < 10; seed++, most = spent = 0) {
		rng_seed2(&r, seed, 1);
		for (uint32_t i = 0; i < MANY; i++) {
			chain[i] = (struct chain){.number = i};
			each[i] = 0.05 * exp(log(1200) * rng_unit(&r));
			spent += opening[i] = 4 * each[i];
		}
		while (spent < NIGHT) {
			struct chain *c = plan_next(&p);
			double took = each[c->number] * 0.5 * exp(1.5 * rng_unit(&r));
			c->at.steps++;
			c->taken++;
			c->spent += took;
			spent += took;
		}
		for (uint32_t i = 0; i < MANY; i++)
			most = fmax(most, (chain[i].spent + opening[i]) / (spent / MANY));
		worst = fmax(worst, most);
	}
	printf("the most that one of %d programs had in ten nights: %.2f fair shares\n", MANY, worst);
	CHECK(worst < 1.7);
}

/* Programs that have nothing new to say leave their time to the others, which share it. */
static void what_is_left_is_shared(void)
{
	static const double step[PROGRAMS] = {0.001, 20, 0.001, 5, 1};
	static const uint32_t new[PROGRAMS] = {30, 0, 30, 0, 0};
	struct night n = {0};

	play(&n, 1.5, COST_MEASURED, 1, step, new);
	for (uint32_t i = 0; i < PROGRAMS; i++)
		if (!CHECK(n.seconds[i] < 1.5 * NIGHT / 3))
			printf("  program %u had %.0f s\n", i, n.seconds[i]);
}

/* What opening took is part of a program's time. */
static void opening_counts(void)
{
	static const double step[PROGRAMS] = {1, 1, 1, 1, 20};
	static const uint32_t new[PROGRAMS] = {0};
	struct night n = {.opening = {0, 0, 0, 0, 6000}};

	play(&n, 1.5, COST_MEASURED, 1, step, new);
	if (!CHECK(n.seconds[4] + 6000 <= 1.5 * (NIGHT + 6000) / PROGRAMS + 1))
		printf("  it had %.0f s\n", n.seconds[4]);
}

/* A program whose regions are all priced already gets no time of the night. */
static void what_is_used_up_is_no_reason_to_wait(void)
{
	static const double step[PROGRAMS] = {0.001, 20, 0.001, 0.001, 0.001};
	static const uint32_t new[PROGRAMS] = {30, 0, 30, 30, 30};
	struct night n = {0};

	play(&n, 1.5, COST_MEASURED, 1, step, new);
	CHECK(n.seconds[1] > 0.9 * NIGHT);
}

/* If costs are modelled, only samples count, so a run does not depend on the speed of the machine. */
static void models_count_samples(void)
{
	static const double step[PROGRAMS] = {1, 50, 1, 1, 1};
	static const uint32_t new[PROGRAMS] = {0};
	struct night n = {0};

	play(&n, 1.5, COST_MODELLED, 1, step, new);
	for (uint32_t i = 1; i < PROGRAMS; i++)
		CHECK(n.samples[i] + 1 >= n.samples[0] && n.samples[i] <= n.samples[0]);
}

/* Without shares only samples count, so a night that is interrupted has the samples of one that is not. */
static void without_shares_samples_count(void)
{
	static const double step[PROGRAMS] = {1, 50, 1, 1, 1};
	static const uint32_t new[PROGRAMS] = {0};
	struct night n = {0};

	play(&n, 0, COST_MEASURED, 1, step, new);
	for (uint32_t i = 1; i < PROGRAMS; i++)
		CHECK(n.samples[i] + 1 >= n.samples[0] && n.samples[i] <= n.samples[0]);
}

int main(void)
{
	RUN(long_steps_take_no_more_than_their_share);
	RUN(nobody_has_twice_his_share);
	RUN(what_is_left_is_shared);
	RUN(opening_counts);
	RUN(what_is_used_up_is_no_reason_to_wait);
	RUN(models_count_samples);
	RUN(without_shares_samples_count);
	return test_done();
}
