/*
 * verdict.c - see the header; the arithmetic is that of device_pair.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include "base/stat.h"
#include "device/prior.h"
#include "search/verdict.h"

#define VERDICT_WORKERS 6
#define VERDICT_INSTANCES 2 /* of each side, in each of them */
/*
 * What the mean of six workers differs by from the mean of ten other processes an hour later, as the standard deviation
 * of a log ratio: a share, seconds a run, and a part of the gain itself. Likeliest values over nineteen second opinions
 * on five programs, between 7 us and 110 ms a run (bench/again.py).
 */
#define OCCASION_SHARE 0.006
#define OCCASION_SECONDS 0.25e-6
#define OCCASION_OF_GAIN 0.07
#define OCCASIONS 19

/* What one worker leaves to the next. */
struct kept {
	struct buf side[2]; /* executables of what is too dear to compile in each; empty otherwise */
	bool decided;	    /* whether there are to be any */
	bool compared;	    /* the numbers were, by one of them */
};

/* One side: the compiler's own program, or ours, compiled as each of them is, or loaded. */
static int make_side(struct lab *lab, const uint8_t *config, struct device *d, int side, struct kept *k,
	struct compiled *out, struct err *err)
{
	const struct buf *original = &lab->subject.original;
	struct buf *kept = &k->side[side], module = {0};
	unsigned want = k->decided ? 0 : WANT_SERIALISED;
	int rc;

	if (kept->len) {
		rc = device_compile(d, COMPILE_DEFAULT, FORMAT_EXECUTABLE, kept->data, kept->len, 0, out, err);
		if (rc < 0 || out->outcome == OUTCOME_OK)
			return rc;
		compiled_release(out);
		*out = (struct compiled){0};
		buf_release(kept); /* no use to anybody */
	}
	if (side == 0)
		return device_compile(d, COMPILE_DEFAULT, "hlo", original->data, original->len, want, out, err);
	rc = lab->space->ops->apply(lab->space, config, &module, err);
	if (rc == 0)
		rc = device_compile(d, COMPILE_APPLIED, "hlo", module.data, module.len, want, out, err);
	buf_release(&module);
	return rc;
}

/*
 * Memory that the allocator gives back after every run and maps in again at the next: with glibc what is taken at once
 * and larger than 32 MB, whose every page then costs a fault. No decision of ours, and worth more than most: it was
 * 30% of a recommender's training step of 69 ms, and the whole of what 60 evaluations had gained on it, whose only
 * effect had been to come below the limit.
 */
#define FAULT_SECONDS 0.5e-6 /* a page at least; 2.3 us were seen */
#define FAULT_SHARE 0.01     /* of a run, from which on it is worth a word */

static void advise(struct verdict *v)
{
	double faults = fmax(v->default_faults, v->tuned_faults);

	if (faults * FAULT_SECONDS > FAULT_SHARE * v->default_seconds && v->default_seconds > 0)
		snprintf(v->advice, sizeof v->advice,
			"A run of the default maps %.0f pages of memory anew, one of the tuned program %.0f. Where memory stays "
			"mapped, both are faster, and the gain is another: with glibc, run them with "
			"MALLOC_MMAP_THRESHOLD_=1000000000 MALLOC_TRIM_THRESHOLD_=2000000000 in the environment.",
			v->default_faults, v->tuned_faults);
}

/* The compiler's own program against ours: two modules, two ways of compiling. */
static int time_against_compiler(struct verdict *v, struct lab *lab, const uint8_t *config, struct device *d,
	const struct precision *p, struct kept *k, struct timing *t, struct err *err)
{
	struct compiled c[2] = {{0}, {0}};
	double seconds = 0;
	int rc = 0;

	for (int side = 0; side < 2 && rc == 0; side++) {
		rc = make_side(lab, config, d, side, k, &c[side], err);
		seconds += c[side].seconds;
		if (t->outcome == OUTCOME_OK)
			t->outcome = c[side].outcome;
	}
	if (rc == 0 && t->outcome == OUTCOME_OK)
		rc = device_pair(d, &c[0], &c[1], p, t, err);
	if (rc == 0 && t->outcome == OUTCOME_OK && !k->compared) {
		struct numbers_job job = {d, lab->space, &lab->subject.original, config, &c[0], &c[1]};
		k->compared = true;
		rc = numbers_check(&v->numbers, &job, err);
	}
	v->compiled += k->side[0].len == 0;
	for (int side = 0; side < 2; side++) {
		if (!k->decided && seconds > COMPILE_SHARE * p->max_seconds)
			buf_add(&k->side[side], c[side].serialised.data, c[side].serialised.len);
		compiled_release(&c[side]);
	}
	k->decided = true;
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
	else if (v->numbers.silent)
		snprintf(s, n, "Nobody can tell whether the tuned program computes what the compiler's own does (%s); "
			       "the default is the answer.", v->numbers.detail);
	else if (v->numbers.outcome == OUTCOME_WRONG_NUMBERS)
		snprintf(s, n, "The tuned program computes other numbers than the compiler's own (%s); "
			       "the default is the answer.", v->numbers.detail);
	else if (v->numbers.outcome != OUTCOME_OK)
		snprintf(s, n, "The tuned program does not run on everything that the compiler's own does (%s); "
			       "the default is the answer.", v->numbers.detail);
	else if (!v->tuned)
		snprintf(s, n, "The whole program shows no sure gain (%+.2f%%, %.0f%% interval %+.2f%% to %+.2f%%); "
			       "the default is the answer.", 100 * v->gain, 100 * VERDICT_COVERAGE, 100 * v->low,
			100 * v->high);
	else
		snprintf(s, n, "The tuned program takes %.2f%% less time than the compiler's default "
			       "(%.0f%% interval %.2f%% to %.2f%%, %s).", 100 * v->gain, 100 * VERDICT_COVERAGE,
			100 * v->low, 100 * v->high, cost_kind_name(v->kind));
}

/*
 * What the workers cannot see of each other, as the variance of a log ratio: that another occasion is another phase of
 * the machine and, where they all loaded one compilation, that another is another.
 */
static double unseen(const struct verdict *v, size_t n, double ratio)
{
	double occasion;

	if (v->default_seconds <= 0) /* one program twice: nothing was run */
		return 0;
	occasion = hypot(hypot(OCCASION_SHARE, OCCASION_SECONDS / v->default_seconds), OCCASION_OF_GAIN * ratio);
	return occasion * occasion + (v->compiled < n ? COMPILE_VARIANCE : 0);
}

/* What the workers said, one timing each. */
static void set_interval(struct verdict *v, const struct timing *t, size_t n)
{
	double ratio[VERDICT_WORKERS], mean, half = 0;

	for (size_t i = 0; i < n; i++) {
		ratio[i] = t[i].ratio;
		v->default_seconds += t[i].seconds_a / (double)n;
		v->tuned_seconds += t[i].seconds_b / (double)n;
		v->default_faults += t[i].faults_a / (double)n;
		v->tuned_faults += t[i].faults_b / (double)n;
		v->instances += t[i].instances;
		v->pairs += t[i].pairs;
	}
	mean = stat_mean(ratio, n);
	if (n > 1)
		half = hypot(stat_t(VERDICT_COVERAGE, (double)n - 1) * sqrt(stat_var(ratio, n) / (double)n),
			stat_t(VERDICT_COVERAGE, OCCASIONS - 1) * sqrt(unseen(v, n, mean)));
	else if (t->ratio_se > 0)
		half = stat_t(VERDICT_COVERAGE, fmax(1, (double)t->instances - 1)) * t->ratio_se;
	v->gain = -expm1(mean);
	v->low = -expm1(mean + half);
	v->high = -expm1(mean - half);
}

/* On which inputs the numbers were compared, and how near they were. */
static void tell_numbers(struct verdict *v)
{
	struct buf kinds = {0};
	double difference, allowed;

	numbers_kinds(&v->numbers, &kinds);
	numbers_worst(&v->numbers, &difference, &allowed);
	if (v->numbers.outcome == OUTCOME_OK && kinds.len)
		snprintf(v->compared, sizeof v->compared,
			"Its numbers are those of the compiler's own program on %s inputs: at most %.2g apart, relative, where rounding "
			"allows %.2g.", kinds.data, difference, allowed);
	buf_release(&kinds);
}

/* The default against the tuned program on one worker; the first checks the numbers too. */
static int weigh(struct verdict *v, struct lab *lab, const uint8_t *config, struct device *d, const struct precision *p,
	struct kept *k, struct timing *t, struct err *err)
{
	bool measured = d && device_info(d)->kind == COST_MEASURED;
	uint8_t *dflt = mem_alloc(lab->space->n_sites);
	struct cost_options co = {.policy = POLICY_WHOLE};
	struct cost *c = cost_new(lab->space, d, &co, err);
	int rc = -1;

	space_default(lab->space, dflt);
	if (c && measured)
		rc = time_against_compiler(v, lab, config, d, p, k, t, err);
	else if (c)
		rc = cost_whole(c, dflt, config, p, t, err);
	if (rc == 0) {
		v->outcome = t->outcome;
		v->kind = t->kind;
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
	struct kept k = {0};
	size_t n = 0, want = 1;
	int rc = 0;

	v->measured = true;
	while (rc == 0 && n < want && v->outcome == OUTCOME_OK && v->numbers.outcome == OUTCOME_OK) {
		struct device *d = NULL;
		if (o && !(d = device_open(o, err)))
			rc = -1;
		if (d && device_info(d)->kind == COST_MEASURED && !quantity_deterministic(device_info(d)->quantity))
			want = VERDICT_WORKERS;
		if (rc == 0)
			rc = weigh(v, lab, config, d, &p, &k, &t[n], err);
		n++;
		device_close(d);
	}
	if (rc == 0 && v->outcome == OUTCOME_OK)
		set_interval(v, t, n);
	v->tuned = rc == 0 && v->outcome == OUTCOME_OK && v->numbers.outcome == OUTCOME_OK && v->low > 0;
	for (size_t i = 0; i < n; i++)
		timing_release(&t[i]);
	for (int side = 0; side < 2; side++)
		buf_release(&k.side[side]);
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
	tell_numbers(v);
	advise(v);
	return rc;
}
