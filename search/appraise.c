/*
 * appraise.c - what one candidate of a hunt costs, and whether it is better: the first measurement, the confirmation,
 * the credit, and the limits (hunt.h says what each is for).
 *
 * Against the clock, a confirmation has to be worth its time. To confirm takes as long as to price, or three times as
 * long. If what a candidate saves is next to nothing, and less than what this search found on average in as much time
 * as pricing it took, it is left. A price that a helper measured takes the hunt no time; the time of the worker counts,
 * shared among all workers. In a large program most gains are such trifles: of the 80 candidates that 52 s of a
 * training step's search priced, 45 were better, 30 of them by less than a hundred-thousandth of the run, and
 * confirming took more than half of the time. (The second condition alone left a program of one sort with a form that
 * saves 73% of it, found in two seconds, though another saves 96%.)
 */
#include <math.h>
#include "base/progress.h"
#include "base/talk.h"
#include "search/hunt.h"
#include "search/trust.h"

/* A candidate is kept if its confirmed gain exceeds so many standard errors; 8% of candidates without any gain do. */
#define KEEP_SIGMAS 1.0
/*
 * A confirmed gain of so many standard errors is its own credit. Few such gains would have been dropped had luck been
 * against them, so keeping it can hardly have made its figure too good: by 0.4% of its error on the mean.
 */
#define CREDIT_SIGMAS 4.0
/* What is next to nothing, as a share of what the program takes by now. */
#define TRIFLE 0.002
/*
 * How many seconds are spent on one measurement: until its error is a small share of the program's run, at most a share
 * of the time that is left for each evaluation (compiling and measuring again take the rest), but always some.
 */
#define WORTH_ERROR 1e-3  /* the error, as a share of the program's run */
#define WORTH_SHARE 0.25  /* of an evaluation's share of the time that is left */
/*
 * A pair of whole programs for one candidate may take this share of the search, where the whole program is asked at the
 * end in any case. (A training step of K-FAC takes 36 s to compile. Two convolutions that only whole programs could
 * tell are two thirds of its time, and a search of 30 s did not try them. With a tenth, a flow that compiles in a few
 * seconds lost its gain.)
 */
#define WORTH_PAIR 0.5
#define WORTH_SECONDS 1.0 /* any candidate gets this much; it decides nothing for regions of less than a tenth of it */

static void count(struct hunt *h, const struct delta *d)
{
	h->evaluations++;
	h->idle++;
	h->known = d->measured ? 0 : h->known + 1;
	h->fresh = d->measured ? hunt_seconds(h) : h->fresh;
	if (d->outcome != OUTCOME_OK)
		h->failed[d->outcome]++;
	else if (d->measured == 0)
		h->cached++;
	else
		h->measured++;
}

/*
 * Says what it is worth to know the candidate's cost. Nobody keeps a step for a thousandth of the program's run.
 * Running regions need not take longer than running the program. If time is short, each candidate gets its share, and
 * places have to do where whole programs would take too much of it.
 */
void hunt_say_worth(struct hunt *h)
{
	struct worth w = {.error = WORTH_ERROR * h->default_seconds,
		.seconds = h->lab->parts_only ? INFINITY : h->default_seconds};
	double left = h->o.seconds - hunt_seconds(h) - hunt_last_check(h);

	if (cost_kind(h->lab->cost) != COST_MEASURED || h->quantity != QUANTITY_SECONDS)
		return;
	if (h->o.handed)
		w.pair = WORTH_PAIR * h->o.seconds;
	if (h->o.seconds > 0) {
		w.whole = hunt_in_time(h).max_seconds;
		w.seconds = fmin(w.seconds, WORTH_SHARE * left / (double)(h->o.budget - h->evaluations));
	}
	w.seconds = fmax(w.seconds, WORTH_SECONDS);
	cost_set_worth(h->lab->cost, &w);
}

/*
 * Measures what a kept candidate is credited with. This measurement had no part in keeping it. `better` becomes false
 * if the candidate does not run this time.
 */
static int credit(struct hunt *h, struct delta *d, bool *better, struct err *err)
{
	if (hunt_expect_credit(h, err) < 0 ||
		cost_confirm(h->lab->cost, h->config, h->candidate, &h->confirm, d, err) < 0)
		return -1;
	trust_discount(h, d);
	*better = d->outcome == OUTCOME_OK;
	return 0;
}

/* Is the confirmed gain such that measuring it once more would say the same? */
static bool settled(const struct delta *d)
{
	return d->seconds < -CREDIT_SIGMAS * d->se;
}

/*
 * The candidate was priced, and then could not be measured again. It counts as one that failed, and the first such one
 * is told, because it may be how it is measured that is wrong, and not the candidate.
 */
static void count_lost(struct hunt *h, const struct delta *d, bool cached)
{
	*(cached ? &h->cached : &h->measured) -= 1;
	h->failed[d->outcome]++;
	if (!h->told_lost)
		talk("a candidate was priced, and could then not be measured again (%s: %s)",
			outcome_name(d->outcome), d->detail);
	h->told_lost = true;
}

/* Is the gain beyond doubt, and dear to measure again? */
static bool certain(const struct delta *d)
{
	return hunt_certain(d->seconds, d->se, d->inside);
}

/* Is what the candidate saves at best next to nothing, and less than was found in as many seconds on average? */
static bool is_trifle(const struct hunt *h, const struct delta *d, double seconds)
{
	double found = h->n_curve ? h->curve[0].best - h->running.value : 0, most = d->se - d->seconds;

	return hunt_is_timed(h) && most < TRIFLE * (h->default_seconds + h->running.value) &&
		most < found * seconds / fmax(hunt_seconds(h), seconds);
}

/* Finds what the candidate costs in the objective, and whether it is better by that. */
static int price_objective(struct hunt *h, struct delta *d, bool *better, struct err *err)
{
	uint32_t helpers = h->lab->device ? device_info(h->lab->device)->helpers : 0;
	double start = now_seconds();
	bool cached;

	if (hunt_expect(h, 0, err) < 0 || cost_delta(h->lab->cost, h->config, h->candidate, d, err) < 0)
		return -1;
	trust_discount(h, d);
	*better = false;
	if (d->cut)
		return 0;
	count(h, d);
	*better = d->outcome == OUTCOME_OK && d->seconds < 0;
	if (!*better || cost_exact(h->lab->cost) || certain(d))
		return 0;
	if (is_trifle(h, d, fmax(now_seconds() - start, d->inside / (helpers + 1)))) {
		*better = false;
		return 0;
	}
	h->confirm.copies = d->compiling > 0 ? device_copies(&h->confirm, d->compiling) : 1;
	cached = d->measured == 0;
	if (hunt_expect(h, h->confirm.copies, err) < 0 ||
		cost_confirm(h->lab->cost, h->config, h->candidate, &h->confirm, d, err) < 0)
		return -1;
	trust_discount(h, d);
	*better = d->outcome == OUTCOME_OK && d->seconds < -KEEP_SIGMAS * d->se && d->seconds < 0;
	if (d->outcome != OUTCOME_OK && !d->cut)
		count_lost(h, d, cached);
	else
		h->refuted += !*better && !d->cut;
	return 0;
}

/*
 * If all limits are kept now, it has to be better. If a limit is broken now, it has to come nearer to the limits, or be
 * as near and better.
 */
int hunt_price(struct hunt *h, struct delta *d, bool *better, struct err *err)
{
	double beyond = hunt_excess(h), then = 0;
	enum outcome outcome = OUTCOME_OK;

	if (price_objective(h, d, better, err) < 0)
		return -1;
	if (d->outcome == OUTCOME_OK && (*better || beyond > 0)) {
		if (hunt_price_limits(h, &then, &outcome, err) < 0)
			return -1;
		d->cut |= outcome == OUTCOME_TIMEOUT && h->lab->device && device_late(h->lab->device);
		if (d->cut) {
			*better = false;
		} else if (*better && (outcome != OUTCOME_OK || then > beyond)) {
			*better = false;
			h->beyond++;
		} else if (outcome == OUTCOME_OK && then < beyond) {
			*better = true;
		}
	}
	return *better && !cost_exact(h->lab->cost) && !settled(d) ? credit(h, d, better, err) : 0;
}
