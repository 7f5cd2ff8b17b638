/*
 * honoured.c - tests random configurations on the real compiler: are they honoured, and are the numbers right?
 *
 *	build/release/bench/honoured [--configs N] [--core N] [--device NAME] GRAPH...
 *
 * For each program it applies and compiles N random configurations, with densities from 0.1 to 0.9. It compares the
 * groups of the optimised program with those of the configuration, and the outputs with those of the compiler's own
 * program, as a verdict does (search/numbers.h). It prints one line per program, and one for each difference.
 */
#include <stdio.h>
#include "base/progress.h"
#include "bench/each.h"
#include "ready/subject.h"
#include "search/numbers.h"

struct settings {
	struct each_on on;
	int64_t configs, seed;
};

struct count {
	uint32_t compiled, kept, right, tried;
	uint32_t outcome[OUTCOME_COUNT];
	double compile_seconds, nearest; /* nearest: the largest difference, as a share of what was allowed */
};

static int try_one(struct subject *s, struct device *d, struct compiled *own, const uint8_t *config, double density,
	struct count *n, struct err *err)
{
	struct buf module = {0};
	struct compiled out = {0};
	struct check_result check = {0};
	struct numbers numbers = {0};
	struct compiled tuned = {0};
	struct numbers_job job = {.device = d, .space = s->space, .original = &s->original, .config = config,
		.own = own, .tuned = &tuned};
	double difference, allowed;
	int rc = -1;

	n->tried++;
	if (s->space->ops->apply(s->space, config, &module, err) < 0 ||
		device_compile(d, COMPILE_APPLIED, "hlo", module.data, module.len, WANT_OPTIMISED, &out, err) < 0)
		goto out;
	n->outcome[out.outcome]++;
	n->compile_seconds += out.seconds;
	if (out.outcome != OUTCOME_OK) {
		printf("  density %.2f: %s: %.300s\n", density, outcome_name(out.outcome), out.detail);
		rc = 0;
		goto out;
	}
	n->compiled++;
	if (s->space->ops->check(s->space, config, out.optimised.data, out.optimised.len, &check, err) < 0 ||
		device_drop(d, &out, err) < 0 || numbers_check(&numbers, &job, err) < 0 ||
		device_drop(d, &tuned, err) < 0)
		goto out;
	n->kept += check.equal == check.asked && check.found == check.asked;
	if (check.detail[0])
		printf("  density %.2f: %s\n", density, check.detail);
	n->right += numbers.outcome == OUTCOME_OK;
	numbers_worst(&numbers, &difference, &allowed);
	if (difference > n->nearest * allowed)
		n->nearest = difference / allowed;
	if (numbers.outcome != OUTCOME_OK)
		printf("  density %.2f: numbers: %s: %s\n", density, outcome_name(numbers.outcome), numbers.detail);
	rc = 0;
out:
	compiled_release(&tuned);
	compiled_release(&out);
	buf_release(&module);
	return rc;
}

static int try_program(const char *path, struct device *d, const void *settings, struct err *err)
{
	const struct settings *set = settings;
	struct subject s = {0};
	struct compiled own = {0};
	struct count n = {0};
	uint8_t *config = NULL;
	double began = now_seconds();
	struct rng r;
	int rc = -1;

	rng_seed(&r, (uint64_t)set->seed);
	if (subject_open(&s, path, "fusion", d, err) < 0)
		goto out;
	config = mem_alloc(s.space->n_sites + 1);
	for (int64_t i = 0; i < set->configs; i++) {
		double density = 0.1 + 0.8 * (set->configs > 1 ? (double)i / (double)(set->configs - 1) : 0.5);
		space_random(s.space, density, &r, config);
		if (try_one(&s, d, &own, config, density, &n, err) < 0)
			goto out;
		fflush(stdout);
	}
	printf("%s: %u sites, %u configurations: %u compiled, %u with exactly the groups asked, %u with "
		"right numbers, %.2g of what is allowed at most; "
	       "%.2f s to compile, %.0f s in all\n", s.name, s.space->n_sites, n.tried, n.compiled, n.kept, n.right,
	       n.nearest,
		n.compiled ? n.compile_seconds / n.compiled : 0, now_seconds() - began);
	rc = 0;
out:
	mem_free(config);
	device_drop(d, &own, NULL);
	compiled_release(&own);
	subject_release(&s);
	return rc;
}

int main(int argc, char **argv)
{
	struct settings set = {.configs = 50, .on = EACH_ON, .seed = 1};
	const struct opt table[] = {
		OPT_INT('n', "configs", &set.configs, 1, 100000, "random configurations of each program"),
		OPT_EACH_ON(&set.on),
		OPT_INT('s', "seed", &set.seed, 0, INT64_MAX, "random seed"), OPT_END};
	const struct opt_program prog = {"honoured", "[OPTIONS] GRAPH...",
		"Compiles random configurations and checks that the compiler keeps them.", table};

	return each_program(&prog, argc, argv, &set.on, try_program, &set);
}
