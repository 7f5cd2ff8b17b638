/*
 * verdict_interval.c - what the workers of a verdict say together, and how many of them there should be.
 *
 * The interval is that of the mean of log ratios, one from each worker. It has to hold on another occasion, too. So
 * what differs between occasions is added, as second opinions of an hour later have shown it. Few workers cannot show
 * how much workers differ. That is assumed then, and what is seen replaces the assumption step by step.
 */
#include <math.h>
#include "base/stat.h"
#include "device/prior.h"
#include "search/verdict.h"

/*
 * By how much the mean of six workers differs from the mean of ten other processes an hour later. The difference is the
 * standard deviation of a log ratio and has three terms: a share, seconds a run, and a part of the gain itself. These
 * are the likeliest values over 19 second opinions on five programs of 7 us to 110 ms a run (bench/again.py).
 */
#define OCCASION_SHARE 0.006
#define OCCASION_SECONDS 0.25e-6
#define OCCASION_OF_GAIN 0.07
#define OCCASIONS 19
/* With fewer workers than there should be: as how many workers the assumption counts about how much they differ. */
#define ASSUMED_WORKERS 4.0
#define IN_PROPORTION 60.0   /* seconds that the timing may always take */
#define UNSURE_TIMES 4.0     /* so many times as long, if few workers lean towards a gain but are not sure, */
#define CLAIMANTS 2	     /* ... or are fewer than that, however sure: one cannot see what another would */

/*
 * The variance, of a log ratio, that the workers cannot show: the machine differs on another occasion and, if all of
 * them loaded one compilation, another compilation differs.
 */
static double unseen(const struct verdict *v, size_t n, double seconds, double ratio)
{
	double occasion;

	if (seconds <= 0) /* one program twice: nothing was run */
		return 0;
	occasion = hypot(hypot(OCCASION_SHARE, OCCASION_SECONDS / seconds), OCCASION_OF_GAIN * ratio);
	return occasion * occasion + (v->compiled < n ? COMPILE_VARIANCE : 0);
}

/*
 * Half the interval from fewer workers than there should be. It assumes that workers differ by as much as the error
 * that each of them reports; what is seen replaces the assumption step by step.
 */
static double half_of_few(const struct verdict *v, const double *ratio, const struct timing *t, size_t n,
	double seconds)
{
	double mean = stat_mean(ratio, n), assumed = 0, seen = 0, weight = ASSUMED_WORKERS + (double)n - 1;

	for (size_t i = 0; i < n; i++) {
		assumed += t[i].ratio_se * t[i].ratio_se / (double)n;
		seen += (ratio[i] - mean) * (ratio[i] - mean);
	}
	return stat_t(VERDICT_COVERAGE, weight) *
	       sqrt((ASSUMED_WORKERS * assumed + seen) / weight / (double)n + unseen(v, n, seconds, mean));
}

struct weighed verdict_weigh(const struct verdict *v, const struct timing *t, size_t n, size_t wanted)
{
	struct weighed w = {.known = true, .kind = t->kind};
	double ratio[VERDICT_WORKERS] = {0}, mean, half = 0;

	for (size_t i = 0; i < n; i++) {
		ratio[i] = t[i].ratio;
		w.dflt += t[i].seconds_a / (double)n;
		w.tuned += t[i].seconds_b / (double)n;
	}
	mean = stat_mean(ratio, n);
	if (n < wanted)
		half = half_of_few(v, ratio, t, n, w.dflt);
	else if (n > 1)
		half = hypot(stat_t(VERDICT_COVERAGE, (double)n - 1) * sqrt(stat_var(ratio, n) / (double)n),
			stat_t(VERDICT_COVERAGE, OCCASIONS - 1) * sqrt(unseen(v, n, w.dflt, mean)));
	else if (t->ratio_se > 0)
		half = stat_t(VERDICT_COVERAGE, fmax(1, (double)t->instances - 1)) * t->ratio_se;
	w.exact = n == 1 && half == 0;
	w.change = expm1(mean);
	w.low = expm1(mean - half);
	w.high = expm1(mean + half);
	return w;
}

/* How many workers fit, if there may be so many times as much time as is in proportion. */
static size_t workers_within(const struct verdict_options *o, double each, double times)
{
	double all = VERDICT_WORKERS * each, time = o->seconds > 0 ? o->seconds : fmin(all, o->searched);

	time = times * fmax(time, IN_PROPORTION);
	return all <= time ? VERDICT_WORKERS : (size_t)fmax(1, time / each);
}

size_t verdict_workers(const struct verdict_options *o, double each)
{
	return workers_within(o, each, 1);
}

size_t verdict_more_workers(const struct verdict *v, const struct verdict_options *o, double each,
	const struct timing *t, size_t n)
{
	struct weighed w = verdict_weigh(v, t, n, VERDICT_WORKERS);
	size_t more = workers_within(o, each, UNSURE_TIMES);

	if (w.high < 0) /* sure of a gain */
		more = more < CLAIMANTS ? more : CLAIMANTS;
	return w.change < 0 && more > n ? more : n;
}
