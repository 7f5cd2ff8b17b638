/*
 * arrange_estimate.c - what is said of an arrangement for hardware that is not here.
 *
 * The compiler for that hardware states the bytes of temporary memory, which are exact. Nothing can be run, so bits are
 * not compared. An order changes none, because every instruction computes what it did. Time is what the compiler's
 * model says of both programs, and the limit is held against that.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include "search/arrange.h"

bool arrange_is_estimated(const struct arrange *a)
{
	return a->device && device_info(a->device)->kind == COST_ESTIMATED && !device_info(a->device)->can_run;
}

/* The seconds of a compiled program by the compiler's model; 0 if it has none. */
static int price(struct arrange *a, struct compiled *p, double *seconds, struct err *err)
{
	struct timing t = {0};
	int rc = device_run(a->device, p, NULL, &t, err);

	*seconds = t.outcome == OUTCOME_OK ? t.seconds_a : 0;
	timing_release(&t);
	return rc;
}

int arrange_estimate(struct arrange *a, struct compiled *own, struct compiled *tuned, struct err *err)
{
	if (own->outcome != OUTCOME_OK || tuned->outcome != OUTCOME_OK)
		return 0;
	snprintf(a->estimator, sizeof a->estimator, "%s", device_info(a->device)->estimator);
	if (price(a, own, &a->seconds_default, err) < 0 || price(a, tuned, &a->seconds_tuned, err) < 0)
		return -1;
	return 0;
}

void arrange_judge_estimate(struct arrange *a, double saved, const char *dflt, const char *less)
{
	size_t n = sizeof a->sentence;
	double more = a->seconds_default > 0 ? 100 * (a->seconds_tuned / a->seconds_default - 1) : 0;
	bool known = a->seconds_default > 0 && a->seconds_tuned > 0;
	struct buf limit = {0};

	a->tuned = known && (!a->limited || limit_excess(&a->limit, a->seconds_default, a->seconds_tuned) == 0);
	limit_text(&a->limit, &limit);
	if (a->tuned)
		snprintf(a->sentence, n,
			"The tuned program needs %.2f%% less temporary memory than the compiler's default (%s instead "
			"of %s), as the compiler for that hardware states, and by %s it takes %.1f%% %s time. It was "
			"not run.", 100 * saved, less, dflt, a->estimator, fabs(more), more < 0 ? "less" : "more");
	else if (known)
		snprintf(a->sentence, n,
			"The tuned program needs %.2f%% less temporary memory, but by %s it takes %.1f%% more time, "
			"which is beyond what %s allows; the default is the answer.",
			100 * saved, a->estimator, more, limit.data);
	else
		snprintf(a->sentence, n,
			"The tuned program needs %.2f%% less temporary memory, but nothing says how long it takes; the "
			"default is the answer.", 100 * saved);
	buf_release(&limit);
}
