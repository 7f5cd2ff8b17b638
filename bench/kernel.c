/*
 * kernel.c - measures what a kernel costs in a program beyond what its region shows.
 *
 *	build/release/bench/kernel [--core N] [--device NAME] [--rounds N] [--flips N] [--instances N] [--seconds S] \
 *		GRAPH...
 *
 * A region runs alone, again and again; in a program its kernels come after hundreds of others. In each round some
 * values that the default absorbs are kept in memory instead, which makes new kernels and changes little else. The
 * whole program is measured against the default, with several instances of both. What this differs by from the sum of
 * the regions, divided by the number of new kernels, is the figure: one line per round, and the mean for the program.
 * schemas/backend.def holds it.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include "base/stat.h"
#include "bench/each.h"
#include "cost/cost.h"
#include "ready/subject.h"

#define MOST_ROUNDS 1000

struct settings {
	struct each_on on;
	int64_t rounds, flips, instances, seed;
	double seconds;
};

/* Keeps some of what the default absorbs. */
static void unfuse(const struct space *s, int64_t flips, struct rng *r, uint8_t *config)
{
	space_default(s, config);
	for (int64_t tries = 100 * flips; flips > 0 && tries > 0; tries--) {
		uint32_t site = (uint32_t)rng_below(r, s->n_sites);
		flips -= config[site] != 0;
		config[site] = 0;
	}
}

/* One round: seconds a kernel, into *each; 1 if it could be told, 0 if not. */
static int one_round(struct subject *s, struct cost *c, const struct settings *set, struct rng *r, double *each,
	struct err *err)
{
	struct precision p = {.target = 0.0005, .max_seconds = set->seconds, .instances = (uint32_t)set->instances,
		.give_up = -1};
	uint8_t *dflt = mem_alloc(s->space->n_sites), *config = mem_alloc(s->space->n_sites);
	struct timing t = {0};
	struct delta d = {0};
	int rc;

	space_default(s->space, dflt);
	unfuse(s->space, set->flips, r, config);
	rc = cost_delta(c, dflt, config, &d, err);
	if (rc == 0)
		rc = cost_whole(c, dflt, config, &p, &t, err);
	if (rc == 0 && d.outcome == OUTCOME_OK && t.outcome == OUTCOME_OK && d.parts > 0) {
		*each = (t.delta - d.seconds) / d.parts;
		printf("  %+.0f kernels: %+.1f +- %.1f us by regions, %+.1f +- %.1f us whole: %.2f +- %.2f us each\n",
			d.parts, 1e6 * d.seconds, 1e6 * d.se, 1e6 * t.delta, 1e6 * t.delta_se, 1e6 * *each,
			1e6 * hypot(t.delta_se, d.se) / d.parts);
		rc = 1;
	}
	timing_release(&t);
	mem_free(dflt);
	mem_free(config);
	return rc;
}

static int try_program(const char *path, struct device *d, const void *settings, struct err *err)
{
	const struct settings *set = settings;
	struct cost_options co = {.policy = POLICY_REGION, .region = {.target = 0.002, .max_seconds = 0.2},
		.part_seconds = -1};
	struct cost *c = NULL;
	struct subject s = {0};
	double each[MOST_ROUNDS];
	struct rng r;
	size_t n = 0;
	int rc = subject_open(&s, path, "fusion", d, err);

	rng_seed(&r, (uint64_t)set->seed);
	if (rc == 0 && !(c = cost_new(s.space, d, &co, err)))
		rc = -1;
	for (int64_t i = 0; i < set->rounds && rc == 0 && s.space->n_sites; i++) {
		int told = one_round(&s, c, set, &r, &each[n], err);
		rc = told < 0 ? -1 : 0;
		n += told > 0;
		fflush(stdout);
	}
	if (rc == 0 && n)
		printf("%s: %.2f +- %.2f us a kernel beyond its region, %zu rounds\n", s.name, 1e6 * stat_mean(each, n),
			n > 1 ? 1e6 * sqrt(stat_var(each, n) / (double)n) : 0, n);
	cost_free(c);
	subject_release(&s);
	return rc;
}

int main(int argc, char **argv)
{
	struct settings set = {.on = EACH_ON, .rounds = 4, .flips = 40, .instances = 4, .seed = 1, .seconds = 4};
	const struct opt table[] = {OPT_EACH_ON(&set.on),
		OPT_INT(0, "rounds", &set.rounds, 1, MOST_ROUNDS, "choices of sites"),
		OPT_INT(0, "flips", &set.flips, 1, 100000, "sites in a round"),
		OPT_INT(0, "instances", &set.instances, 1, 100, "of each side of a whole program"),
		OPT_INT('s', "seed", &set.seed, 0, INT64_MAX, "random seed"),
		OPT_NUM(0, "seconds", &set.seconds, 0.1, 600, "of running whole programs at most"), OPT_END};
	const struct opt_program prog = {"kernel", "[OPTIONS] GRAPH...",
		"Measures what a kernel costs in a program beyond what its region shows.", table};

	return each_program(&prog, argc, argv, &set.on, try_program, &set);
}
