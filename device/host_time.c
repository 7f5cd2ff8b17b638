/*
 * host_time.c - the measurements a worker makes, and what they cannot see by themselves.
 *
 * A backend that only compiles runs nothing: a pair is then the compiler's own estimates of both programs.
 *
 * Two loads of one program differ in time by luck (measure.h). One pair of instances cannot show by how much,
 * so its interval takes that from a prior, which is kept up to date here: a program is loaded a second time and
 * measured against itself (an A/A pair). This is done three times before the first interval for a duration is
 * given, then after each measurement until a few are known, and later for a twentieth of the time spent. The
 * second load is compiled anew, because compilations differ more than loads do. All that takes many times as long as
 * the measurement where programs take long to compile, so a difference that no luck explains does without. Where
 * programs run long, a few A/A pairs take as long as the measurement. So there they get a quarter of the measuring
 * time.
 */
#include <math.h>
#include <stdio.h>
#include "base/progress.h"
#include "base/stat.h"
#include "device/host.h"

#define AA_BEFORE 3.0 /* observations of a duration before the first interval is given */
#define AA_FIRST 6.0  /* ... before A/A pairs become rare; */
#define AA_LUCKY 16.0 /* ... the same where luck is large, which few observations tell badly */
#define LARGE_LUCK 0.02
#define AA_BEYOND 8.0  /* standard errors of what is known, luck included, that are no luck */
#define AA_SHARE 0.05  /* of the measuring time, after that */
#define AA_SECONDS 0.1 /* of one A/A pair, */
#define AA_RUNS 10.0   /* ... which are so many runs at the least */
#define AA_DEAR 0.25   /* of the measuring time at the most, if that takes longer */
#define AA_COMPILE 0.3 /* seconds of compiling above which its second load is not compiled anew */
#define AA_LOAD 1.0    /* seconds of loading above which there is no second load */

/* The worker's measurement: estimates of a, b, ratio, delta without any prior. */
struct raw_timing {
	struct estimate a, b, ratio, delta;
	double between;
};

static double compile_seconds(struct host *h, uint32_t handle)
{
	struct known *k = handle ? host_known(h, handle) : NULL;
	return k ? k->compile : 0;
}

/* Returns the seconds that compiling so many instances takes; those that were compiled ahead take none. */
static double instances_compile(struct host *h, uint32_t handle, uint32_t instances)
{
	struct known *k = handle ? host_known(h, handle) : NULL;

	return !k || k->ready >= instances ? 0 : (instances - k->ready) * k->compile;
}

static int measure_request(struct host *h, uint32_t a, uint32_t b, const struct precision *p,
	bool anew, struct timing *out, struct raw_timing *raw, struct err *err)
{
	struct answer ans = {
		.detail = out->detail, .detail_size = sizeof out->detail, .signal = &out->signal};
	struct estimate *each[] = {&raw->a, &raw->b, &raw->ratio, &raw->delta};
	struct buf *q = &h->request;
	struct cursor c;
	bool over = false;
	double start = now_seconds(), again = anew ? instances_compile(h, a, p->instances) + instances_compile(h, b,
		p->instances) : 0;
	h->work = work_of_measuring(h, p, again);
	buf_reset(q);
	buf_u32(q, a);
	buf_u32(q, b);
	buf_f64(q, p->target);
	buf_f64(q, p->max_seconds);
	buf_u32(q, p->min_pairs);
	buf_u32(q, p->instances);
	buf_f64(q, p->give_up);
	buf_f64(q, p->slow);
	buf_f64(q, p->enough);
	buf_f64(q, p->most);
	buf_u8(q, p->raw);
	buf_u8(q, p->part);
	buf_u8(q, anew);
	buf_u64(q, rng_u64(&h->rng));
	int rc = host_ask(h, WIRE_MEASURE, &ans, &c, err);
	if (rc > 0) {
		out->gave_up = cursor_u8(&c);
		for (int i = 0; i < 4; i++) {
			each[i]->value = cursor_f64(&c);
			each[i]->se = cursor_f64(&c);
		}
		raw->between = cursor_f64(&c);
		out->pairs = cursor_u32(&c);
		out->dropped = cursor_u32(&c);
		out->instances = cursor_u32(&c);
		out->batch = cursor_u32(&c);
		out->inside = cursor_f64(&c);
		out->faults_a = cursor_f64(&c);
		out->faults_b = cursor_f64(&c);
		wire_blob(&c, &out->raw);
		over = cursor_u8(&c);
		host_distrust(h, &c, &ans);
	}
	if (over && ans.outcome == OUTCOME_OK) /* nonsense has ended it already */
		host_bury(h);
	out->outcome = ans.outcome;
	out->wall = now_seconds() - start;
	if (rc > 0 && out->outcome == OUTCOME_OK) /* of the faster side: what is slow on purpose teaches no patience */
		h->longest_run = fmax(h->longest_run, b ? fmin(raw->a.value, raw->b.value) : raw->a.value);
	return rc < 0 ? -1 : 0;
}

/*
 * Learns by how much loads differ: measures program a against another load of itself. A failure does not concern the
 * caller.
 */
static void learn_prior(struct host *h, uint32_t a, double seconds, bool part)
{
	struct precision p = {.target = 0.002, .max_seconds = AA_SECONDS, .give_up = -1, .part = part};
	struct timing t = {0};
	struct raw_timing raw = {0};
	struct err ignored;
	bool anew = compile_seconds(h, a) <= AA_COMPILE;
	if (measure_request(h, a, a, &p, anew, &t, &raw, &ignored) == 0 &&
		t.outcome == OUTCOME_OK && isfinite(raw.ratio.se))
		prior_add(&h->prior, seconds,
			raw.ratio.value * raw.ratio.value - raw.ratio.se * raw.ratio.se, 1);
	h->measured_aa += t.wall;
	timing_release(&t);
}

/* Should one more A/A pair be made for a program, which takes so long to run? */
static bool worth_learning(struct host *h, uint32_t a, double seconds)
{
	const struct known *k = host_known(h, a);

	double n = prior_weight(&h->prior, seconds);
	bool lucky = prior_variance(&h->prior, seconds) > LARGE_LUCK * LARGE_LUCK;
	double takes = AA_RUNS * seconds;
	if (!h->child.pid || seconds > AA_SECONDS || (k && k->load > AA_LOAD))
		return false;
	if (takes > AA_SECONDS && h->measured_aa + takes > AA_DEAR * h->measured)
		return false;
	return n < (lucky ? AA_LUCKY : AA_FIRST) || h->measured_aa < AA_SHARE * h->measured;
}

/*
 * Should several instances be compiled, and not loaded? Yes, if that takes at most twice the running. Compiling a
 * program twice may give different code, and all instances of the same serialised bytes have the same code. Loading
 * mostly takes a tenth of the time; the variance that it cannot show is then added (COMPILE_VARIANCE).
 */
static bool affordable(struct host *h, uint32_t a, uint32_t b, const struct precision *p)
{
	double budget = COMPILE_SHARE * p->max_seconds;

	if (h->deadline > 0)
		budget = fmin(budget, h->deadline / 4);

	return instances_compile(h, a, p->instances) + instances_compile(h, b, p->instances) <= budget;
}

/* Is the difference so large that it is no luck, as far as luck is known? */
static bool beyond_luck(const struct host *h, const struct raw_timing *raw, double seconds)
{
	double se = raw->ratio.se, variance = se * se + prior_variance(&h->prior, seconds);

	return fabs(raw->ratio.value) > AA_BEYOND * sqrt(variance);
}

/* Returns the variance that the worker could not see: how much instances, or compilations, differ. */
static double unseen(struct host *h, uint32_t a, const struct timing *t,
	const struct raw_timing *raw, bool anew, double seconds, bool part)
{
	if (t->instances < 2) {
		for (int i = 0; i < AA_BEFORE && prior_weight(&h->prior, seconds) < AA_BEFORE &&
				!beyond_luck(h, raw, seconds) && worth_learning(h, a, seconds);
			i++)
			learn_prior(h, a, seconds, part);
		return prior_variance(&h->prior, seconds);
	}
	if (!anew)
		return COMPILE_VARIANCE;
	prior_add(&h->prior, seconds, raw->between, t->instances - 1);
	return 0;
}

int host_pair(struct device *d, uint32_t a, uint32_t b, const struct precision *p,
	struct timing *out, struct err *err)
{
	struct host *h = host_of(d);
	struct raw_timing raw = {0};
	if (*h->target)
		return host_estimate(h, a, b, out);
	bool anew = affordable(h, a, b, p);
	if (measure_request(h, a, b, p, anew, out, &raw, err) < 0)
		return -1;
	if (out->outcome != OUTCOME_OK)
		return 0;
	h->measured += out->wall;
	double middle = (raw.a.value + raw.b.value) / 2,
	       more = unseen(h, a, out, &raw, anew, middle, p->part);
	out->seconds_a = raw.a.value;
	out->seconds_b = raw.b.value;
	out->ratio = raw.ratio.value;
	out->delta = raw.delta.value;
	out->ratio_se = sqrt(raw.ratio.se * raw.ratio.se + more);
	out->delta_se = sqrt(raw.delta.se * raw.delta.se + more * middle * middle);
	if (out->instances < 2 && !out->gave_up && !beyond_luck(h, &raw, middle) && worth_learning(h, a, raw.a.value))
		learn_prior(h, a, raw.a.value, p->part);
	return 0;
}

int host_run(struct device *d, uint32_t a, const struct precision *p, struct timing *out,
	struct err *err)
{
	struct host *h = host_of(d);
	struct raw_timing raw = {0};
	if (*h->target)
		return host_estimate(h, a, 0, out);
	bool anew = affordable(h, a, 0, p);
	if (measure_request(h, a, 0, p, anew, out, &raw, err) < 0)
		return -1;
	if (out->outcome != OUTCOME_OK)
		return 0;
	/* Half of the variance between two loads is that of one. */
	double more = out->instances < 2 ? prior_variance(&h->prior, raw.a.value) / 2
		      : anew		 ? 0
					 : COMPILE_VARIANCE / 2;
	out->seconds_a = raw.a.value;
	out->delta_se = sqrt(raw.a.se * raw.a.se + more * raw.a.value * raw.a.value);
	return 0;
}
