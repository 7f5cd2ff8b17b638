/*
 * verdict.c - see the header; the arithmetic is that of device_pair.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include "base/stat.h"
#include "search/verdict.h"

#define VERDICT_WORKERS 6
#define VERDICT_INSTANCES 2 /* of each side, in each of them */

/* The compiler's own program against ours: two modules, two ways of compiling. */
static int time_against_compiler(struct lab *lab, const uint8_t *config, struct device *d,
	const struct precision *p, struct timing *t, struct err *err)
{
	const struct buf *original = &lab->subject.original;
	struct compiled a = {0}, b = {0};
	struct buf module = {0};
	int rc = -1;

	if (lab->space->ops->apply(lab->space, config, &module, err) < 0 ||
		device_compile(d, COMPILE_DEFAULT, "hlo", original->data, original->len, 0, &a, err) < 0 ||
		device_compile(d, COMPILE_APPLIED, "hlo", module.data, module.len, 0, &b, err) < 0)
		goto out;
	t->outcome = a.outcome != OUTCOME_OK ? a.outcome : b.outcome;
	if (t->outcome == OUTCOME_OK)
		rc = device_pair(d, &a, &b, p, t, err);
	else
		rc = 0;
out:
	compiled_release(&a);
	compiled_release(&b);
	buf_release(&module);
	return rc;
}

/* What the sentence says, best news last. */
static void put_into_words(struct verdict *v)
{
	char *s = v->sentence;
	size_t n = sizeof v->sentence;

	if (!v->measured)
		snprintf(s, n, "Nothing better than the default was found; the default is the answer.");
	else if (v->outcome != OUTCOME_OK)
		snprintf(s, n, "The tuned program could not be run to the end (%s); the default is the answer.",
			outcome_name(v->outcome));
	else if (v->numbers != OUTCOME_OK)
		snprintf(s, n, "The tuned program computes other numbers (relative difference %.2g, %.2g allowed); "
			       "the default is the answer.", v->difference, v->yardstick);
	else if (!v->tuned)
		snprintf(s, n, "The whole program shows no sure gain (%+.2f%%, %.0f%% interval %+.2f%% to %+.2f%%); "
			       "the default is the answer.", 100 * v->gain, 100 * VERDICT_COVERAGE, 100 * v->low,
			100 * v->high);
	else
		snprintf(s, n, "The tuned program takes %.2f%% less time than the compiler's default "
			       "(%.0f%% interval %.2f%% to %.2f%%, %s).", 100 * v->gain, 100 * VERDICT_COVERAGE,
			100 * v->low, 100 * v->high, cost_kind_name(v->kind));
}

/* What the workers said, one timing each. */
static void set_interval(struct verdict *v, const struct timing *t, size_t n)
{
	double ratio[VERDICT_WORKERS], half = 0;

	for (size_t i = 0; i < n; i++) {
		ratio[i] = t[i].ratio;
		v->default_seconds += t[i].seconds_a / (double)n;
		v->tuned_seconds += t[i].seconds_b / (double)n;
		v->instances += t[i].instances;
		v->pairs += t[i].pairs;
	}
	if (n > 1)
		half = stat_t(VERDICT_COVERAGE, (double)n - 1) * sqrt(stat_var(ratio, n) / (double)n);
	else if (t->ratio_se > 0)
		half = stat_t(VERDICT_COVERAGE, fmax(1, (double)t->instances - 1)) * t->ratio_se;
	v->gain = -expm1(stat_mean(ratio, n));
	v->low = -expm1(stat_mean(ratio, n) + half);
	v->high = -expm1(stat_mean(ratio, n) - half);
}

static int check_numbers(struct verdict *v, struct cost *c, const uint8_t *config, struct err *err)
{
	struct comparison diff = {0};

	if (cost_numbers(c, config, &diff, &v->yardstick, err) < 0)
		return -1;
	v->numbers = diff.outcome;
	v->difference = diff.max_rel;
	return 0;
}

/* The default against the tuned program on one worker; the first checks the numbers too. */
static int weigh(struct verdict *v, struct lab *lab, const uint8_t *config, struct device *d, const struct precision *p,
	bool first, struct timing *t, struct err *err)
{
	bool measured = d && device_info(d)->kind == COST_MEASURED;
	uint8_t *dflt = mem_alloc(lab->space->n_sites);
	struct cost_options co = {.policy = POLICY_WHOLE};
	struct cost *c = cost_new(lab->space, d, &co, err);
	int rc = -1;

	space_default(lab->space, dflt);
	if (c && measured)
		rc = time_against_compiler(lab, config, d, p, t, err);
	else if (c)
		rc = cost_whole(c, dflt, config, p, t, err);
	if (rc == 0) {
		v->outcome = t->outcome;
		v->kind = t->kind;
		if (first && measured && v->outcome == OUTCOME_OK)
			rc = check_numbers(v, c, config, err);
	}
	cost_free(c);
	mem_free(dflt);
	return rc;
}

/* Worker after worker, each a process of its own. Where nothing is measured, one knows all there is to know. */
static int weigh_all(struct verdict *v, struct lab *lab, const uint8_t *config, const struct device_options *o,
	double seconds, struct err *err)
{
	struct precision p = {.target = 0.0005, .max_seconds = seconds / VERDICT_WORKERS, .instances = VERDICT_INSTANCES,
		.min_pairs = 20, .give_up = -1};
	struct timing t[VERDICT_WORKERS] = {{0}};
	size_t n = 0, want = 1;
	int rc = 0;

	v->measured = true;
	while (rc == 0 && n < want && v->outcome == OUTCOME_OK && v->numbers == OUTCOME_OK) {
		struct device *d = NULL;
		if (o && !(d = device_open(o, err)))
			rc = -1;
		if (d && device_info(d)->kind == COST_MEASURED)
			want = VERDICT_WORKERS;
		if (rc == 0)
			rc = weigh(v, lab, config, d, &p, n == 0, &t[n], err);
		n++;
		device_close(d);
	}
	if (rc == 0 && v->outcome == OUTCOME_OK)
		set_interval(v, t, n);
	v->tuned = rc == 0 && v->outcome == OUTCOME_OK && v->numbers == OUTCOME_OK && v->low > 0;
	for (size_t i = 0; i < n; i++)
		timing_release(&t[i]);
	return rc;
}

int verdict_reach(struct verdict *v, struct lab *lab, const uint8_t *config, const struct device_options *o,
	double seconds, struct err *err)
{
	uint8_t *dflt = mem_alloc(lab->space->n_sites + 1);
	int rc = 0;

	*v = (struct verdict){0};
	space_default(lab->space, dflt);
	if (memcmp(dflt, config, lab->space->n_sites) != 0)
		rc = weigh_all(v, lab, config, o, seconds, err);
	mem_free(dflt);
	put_into_words(v);
	return rc;
}
