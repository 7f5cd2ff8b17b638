/*
 * verdict.c - see the header; the arithmetic is that of device_pair.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include "base/stat.h"
#include "search/verdict.h"

#define VERDICT_INSTANCES 10

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

static void set_interval(struct verdict *v, const struct timing *t)
{
	double df = t->instances > 1 ? (double)t->instances - 1 : 1;
	double half = t->ratio_se > 0 ? stat_t(VERDICT_COVERAGE, df) * t->ratio_se : 0;

	v->gain = -expm1(t->ratio);
	v->low = -expm1(t->ratio + half);
	v->high = -expm1(t->ratio - half);
	v->default_seconds = t->seconds_a;
	v->tuned_seconds = t->seconds_b;
	v->instances = t->instances;
	v->pairs = t->pairs;
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

static int weigh(struct verdict *v, struct lab *lab, const uint8_t *config, struct device *d, double seconds,
	struct err *err)
{
	struct precision p = {.target = 0.0005, .max_seconds = seconds, .instances = VERDICT_INSTANCES,
		.min_pairs = 20, .give_up = -1};
	uint8_t *dflt = mem_alloc(lab->space->n_sites);
	struct cost_options co = {.policy = POLICY_WHOLE};
	struct cost *c = cost_new(lab->space, d, &co, err);
	struct timing t = {0};
	int rc = -1;

	space_default(lab->space, dflt);
	if (!c)
		goto out;
	v->measured = true;
	if (d && device_info(d)->kind == COST_MEASURED)
		rc = time_against_compiler(lab, config, d, &p, &t, err);
	else
		rc = cost_whole(c, dflt, config, &p, &t, err);
	if (rc < 0)
		goto out;
	v->outcome = t.outcome;
	v->kind = t.kind;
	set_interval(v, &t);
	if (v->outcome == OUTCOME_OK && d && device_info(d)->kind == COST_MEASURED)
		rc = check_numbers(v, c, config, err);
	v->tuned = rc == 0 && v->outcome == OUTCOME_OK && v->numbers == OUTCOME_OK && v->low > 0;
out:
	timing_release(&t);
	cost_free(c);
	mem_free(dflt);
	return rc;
}

int verdict_reach(struct verdict *v, struct lab *lab, const uint8_t *config, const struct device_options *o,
	double seconds, struct err *err)
{
	uint8_t *dflt = mem_alloc(lab->space->n_sites + 1);
	struct device *d = NULL;
	int rc = 0;

	*v = (struct verdict){0};
	space_default(lab->space, dflt);
	if (memcmp(dflt, config, lab->space->n_sites) != 0) {
		rc = o && !(d = device_open(o, err)) ? -1 : weigh(v, lab, config, d, seconds, err);
		device_close(d);
	}
	mem_free(dflt);
	put_into_words(v);
	return rc;
}
