/*
 * weigh.c - the whole program of a hunt: what it costs, when there is time to ask, and what was vouched for.
 *
 * The whole program and the default are timed side by side, where that can be had. A program that runs for many seconds
 * is run alone, and what the default took before stands for the default: seconds or minutes lie between the two, so
 * the difference has a large error, and great gains are told all the same. (A mixer in bfloat16 runs for 11 s. Of the
 * 30 s in which it was to be rewritten, 15 were kept for a pair, which then took 29; what was left was too short for
 * the products that take 95% of it.) Only where the compiler reads nothing back, for a pair also proves that choices
 * were honoured.
 */
#include <math.h>
#include <string.h>
#include "search/hunt.h"

#define CHECK_DEFAULTS 1 /* as long as weighing the default took at the start, until one was made */
#define TELLS 0.2     /* of what is believed: the error of a check */
#define TAKES 0.1     /* of the search's seconds, and at most so many: a check runs, if it needs that */
#define LONGEST 6.0
#define RUNS 100 /* that fit into it; where fewer do, more time would load more instances, and run each a few times */
#define LONG_PAIR 0.2 /* of the search's seconds: if running both sides once takes more, one is enough */
#define APART 0.1     /* of the default: the standard deviation of two runs that are not of one pair */
#define LOADING 0.5 /* weighing the default took less than this share of compiling it: it was compiled before */

void hunt_vouch(struct hunt *h, const struct estimate *cost)
{
	memcpy(h->sure, h->config, h->s->n_sites);
	h->sure_cost = *cost;
	hunt_vouch_limits(h);
	h->sure_steps = (uint32_t)h->n_steps;
	h->n_trail = 0;
}

/* What the whole program costs more than the default. */
static struct estimate whole_cost(const struct hunt *h, const struct timing *t)
{
	double base = h->default_seconds;

	if (h->quantity != QUANTITY_SECONDS || base <= 0 || t->ratio_se <= 0)
		return (struct estimate){t->delta, t->delta_se, t->pairs};
	return (struct estimate){base * expm1(t->ratio), base * exp(t->ratio) * t->ratio_se, t->pairs};
}

/*
 * It is to be told whether what is believed of the program is so: to within a share of that. On a quiet machine a
 * moment is enough; where others run, it takes as long as it may. (Two seconds of a program on two busy cores said
 * 6% +- 5, and what had been promised stayed; six said 5% +- 0.8.)
 */
static struct precision told_apart(const struct hunt *h)
{
	struct precision p = hunt_in_time(h);

	if (h->default_seconds > 0)
		p.target = fmax(p.target, TELLS * fabs(h->running.value) / h->default_seconds);
	if (h->o.seconds > 0 && RUNS * h->default_seconds <= LONGEST)
		p.max_seconds = fmax(p.max_seconds, fmin(LONGEST, TAKES * h->o.seconds));
	return p;
}

/* Is the whole program run alone? */
static bool is_alone(const struct hunt *h)
{
	return hunt_is_timed(h) && h->quantity == QUANTITY_SECONDS && !h->s->ops->decode && !hunt_vague(h) &&
	       2 * h->default_seconds > LONG_PAIR * h->o.seconds;
}

/* Runs the whole program alone; *t says what a pair would have said, as far as that is known. */
static int weigh_alone(struct hunt *h, struct timing *t, struct estimate *whole, struct err *err)
{
	int rc = cost_alone(h->lab->cost, h->config, t, err);

	t->cut = rc == 0 && t->outcome == OUTCOME_TIMEOUT && device_late(h->lab->device);
	if (rc < 0 || t->outcome != OUTCOME_OK)
		return rc;
	*whole = (struct estimate){t->seconds_a - h->default_seconds,
		hypot(t->delta_se, APART * h->default_seconds), 1};
	t->seconds_b = t->seconds_a;
	t->seconds_a = h->default_seconds;
	t->delta = whole->value;
	t->delta_se = whole->se;
	return 0;
}

static int weigh_pair(struct hunt *h, struct timing *t, struct estimate *whole, struct err *err)
{
	struct precision p = told_apart(h);
	uint8_t *dflt = mem_alloc(h->s->n_sites);
	int rc;

	space_default(h->s, dflt);
	rc = cost_whole(h->lab->cost, hunt_own_stands(h) ? NULL : dflt, h->config, &p, t, err);
	if (rc == 0 && t->outcome == OUTCOME_OK)
		*whole = whole_cost(h, t);
	mem_free(dflt);
	return rc;
}

int hunt_weigh_whole(struct hunt *h, struct timing *t, struct estimate *whole, struct err *err)
{
	return is_alone(h) ? weigh_alone(h, t, whole, err) : weigh_pair(h, t, whole, err);
}

/* What compiling the program and running it alone takes, if it is as much faster than the default as is believed. */
static double seconds_alone(const struct hunt *h)
{
	return h->lab->subject.extract_seconds + fmax(h->default_seconds + h->running.value, 0) +
	       hunt_in_time(h).max_seconds;
}

/*
 * The seconds that a check is expected to take: the mean of those before, or as long as weighing the default. If that
 * compiled nothing, because the default was known, compiled already, or stands for itself: compiling one, loading both
 * as often as is measured, which takes about as long again, and running.
 */
double hunt_check_seconds(const struct hunt *h)
{
	bool loaded = h->default_wall < LOADING * h->lab->subject.extract_seconds;
	bool compiled = !h->lab->subject.known && !hunt_own_stands(h) && !loaded;
	double anew = 2 * (h->lab->subject.extract_seconds + h->default_seconds) + hunt_in_time(h).max_seconds;

	if (is_alone(h))
		return seconds_alone(h);
	return h->n_check ? h->checking / (double)h->n_check : fmax(CHECK_DEFAULTS * h->default_wall,
		compiled ? 0 : anew);
}

bool hunt_check_fits(const struct hunt *h, double more)
{
	if (h->o.handed)
		more += hunt_check_seconds(h) - h->o.seconds; /* beyond the search it may take as long again */
	else
		more += h->checking + hunt_check_seconds(h) - HUNT_CHECKS * h->o.seconds;
	return h->lab->kind == COST_MODELLED || h->o.seconds <= 0 || more <= 0;
}
