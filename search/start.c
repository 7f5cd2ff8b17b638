/*
 * start.c - where a hunt begins.
 *
 * Steps are small: a flip changes a few kernels. Where the compiler's rule went wrong all over a program, every kernel
 * near a flip is dear, and the time is over after a few steps. (A solver of a flow, ten steps unrolled, takes XLA two
 * minutes to compile and two seconds to run. A search of a minute made one evaluation and found nothing. By the plain
 * greedy rule the same program is compiled in seconds, and runs 700 times as fast.) So unless the user says where to
 * begin, the program is run by each rule of the kind first (space_ops.starts), and the hunt begins by the best of them
 * if that is surely and much faster than the default. If it is a little faster, the hunt begins at the default, from
 * where steps find as much. (By a rule that saved 9% of a language model's step, a search of 40 s came to 14%, from the
 * default to 17%.)
 *
 * This is for programs that are timed. Where costs are estimated or modelled, steps are cheap, and the compiler's rule
 * goes by the same figures. With limits, the default is the one place that keeps them all. A kind from which others go
 * on has promises instead. A program that is expected to take long whatever is decided is not compiled once more for
 * this. What is under way when its share of the time is over is cut.
 */
#include <math.h>
#include <string.h>
#include "base/progress.h"
#include "base/stop.h"
#include "base/talk.h"
#include "search/fits.h"
#include "search/hunt.h"

#define PLANNED 0.03   /* of the search's time a rule may be expected to compile, */
#define PLANNED_LEAST 3.0 /* ... and so many seconds in any case; */
#define MOST 0.2       /* of it all rules may take, */
#define LEAST 8.0      /* ... and so many seconds in any case */
#define BLOWN_MOST 0.7 /* both shares, of a program that is blown up (ready/subject.h) */
#define PATIENCE 3.0   /* without --seconds: times what opening the program took */
#define EACH 1e-3      /* seconds to compile an instruction, in programs that the compiler takes no long over */
#define SURE 3.0       /* standard errors that a rule's program must be faster by, */
#define WORTH 0.2      /* ... and this share of the default: what saves less, steps find as well */
#define CLEAR 0.25     /* a share of the default that is saved beyond doubt, even if the two were not run in turns, */
#define CLEAR_LATER 0.5 /* ... nor on one day */
#define APART 0.1      /* how far a difference may be off, as a share of it, if the two were not run in turns */

/* The start does not fit on the device: the first scheme that does is the start, if there is one. */
static int start_elsewhere(struct hunt *h, const uint8_t *dflt, struct timing *t, struct err *err)
{
	uint32_t prices = 0;
	int rc = fits_find(h->lab, h->config, h->candidate, &prices, err);

	h->evaluations += prices;
	h->measured += rc > 0;
	h->failed[OUTCOME_OOM] += prices - (rc > 0);
	if (rc <= 0)
		return rc;
	talk("the start does not fit; the search begins at the first of %u others that does", prices);
	memcpy(h->config, h->candidate, h->s->n_sites);
	timing_release(t);
	return cost_whole(h->lab->cost, dflt, h->config, &hunt_whole, t, err);
}

/* Measures what h->config costs more than the default. */
static int price_start(struct hunt *h, const uint8_t *dflt, struct err *err)
{
	struct timing t = {0};
	int rc = cost_whole(h->lab->cost, dflt, h->config, &hunt_whole, &t, err);

	if (rc == 0 && t.outcome == OUTCOME_OOM && cost_exact(h->lab->cost))
		rc = start_elsewhere(h, dflt, &t, err);
	if (rc == 0 && t.outcome != OUTCOME_OK)
		rc = err_set(err, "the start cannot be run (%s); choose another --start or --seed",
			outcome_name(t.outcome));
	h->running = (struct estimate){t.delta, t.delta_se, 1};
	timing_release(&t);
	return rc < 0 ? -1 : hunt_weigh_limits(h, dflt, err);
}

static bool tries_rules(const struct hunt *h)
{
	bool alone = !h->o.handed && !h->s->ops->kind->leads; /* no other kind goes on from what it finds */

	return alone && h->s->ops->starts && !h->s->ops->by_hand && h->o.budget > 0 &&
	       h->quantity == QUANTITY_SECONDS && h->lab->kind == COST_MEASURED && h->lab->n_limits == 0 &&
	       !h->lab->parts_only;
}

/* So much of the search's time in seconds, and `least` in any case; infinite without --seconds. */
static double of_time(const struct hunt *h, double share, double least)
{
	return h->o.seconds > 0 ? fmax(least, share * h->o.seconds) : INFINITY;
}

/* Seconds to compile the program, if it is like most. */
static double plain_seconds(const struct hunt *h)
{
	return EACH * h->s->graph->n_nodes;
}

/*
 * Is there time to compile the program once more? Where the compiler blows it up, that may take much less than the
 * compiler's own; else about as long. In a program that is blown up no step is worth as much as another rule. (XLA
 * makes 15 times as many instructions of a ray marcher's 13,000. By another rule it takes 95% less time. Compiling it
 * so was expected to take 13 s of 60, and no more than 8 were planned, so the rule was not tried and nothing was found.
 * The step of a language model of 5,300 instructions, which is not blown up, takes 10 s. It was expected to take 5, and
 * was cut after 8, of the 15 s that the search had.)
 *
 * In other programs a rule is hardly ever the best start: it was in one of 274 searches. To try it, it must be
 * compiled. So the share is small.
 */
static bool is_affordable(const struct hunt *h)
{
	double own = h->lab->subject.extract_seconds;

	return subject_is_blown(&h->lab->subject) ? fmin(own, plain_seconds(h)) < of_time(h, BLOWN_MOST, LEAST)
						 : own < of_time(h, PLANNED, PLANNED_LEAST);
}

/*
 * When all rules must be done with, as a time of now_seconds(). Without --seconds, a rule's program gets a few times
 * what the compiler's own took up to here: nobody knows that it ends.
 */
static double last_moment(const struct hunt *h)
{
	double most = h->o.seconds > 0 ? of_time(h, subject_is_blown(&h->lab->subject) ? BLOWN_MOST : MOST, LEAST)
				       : LEAST + PATIENCE * (h->lab->subject.extract_seconds + h->default_wall);

	return now_seconds() + most;
}

/*
 * A rule's program was run alone. Does that say enough: that it failed, is slower than the default, or so much faster
 * that it cannot be the machine? What the default takes may be known from another day.
 */
static bool is_clear(const struct hunt *h, const struct timing *t, struct estimate *whole)
{
	double change = t->seconds_a - h->default_seconds;
	double clear = h->lab->subject.known || hunt_vague(h) ? CLEAR_LATER : CLEAR;

	if (t->outcome != OUTCOME_OK || change >= 0)
		return true;
	if (-change < clear * h->default_seconds)
		return false;
	*whole = (struct estimate){change, hypot(APART * change, hypot(t->delta_se, h->default_se)), 1};
	return true;
}

/*
 * Measures what h->config costs more than the default: nothing, if it did not run. Where the compiler's own program is
 * dear to compile, a rule's is run alone first, since it may not be.
 */
static int weigh_rule(struct hunt *h, struct estimate *whole, struct err *err)
{
	struct timing t = {0};
	bool clear = false;
	int rc = 0;

	if (h->lab->subject.extract_seconds >= SPARE_DEAR) {
		rc = cost_alone(h->lab->cost, h->config, &t, err);
		clear = rc < 0 || stop_asked() || is_clear(h, &t, whole);
		timing_release(&t);
	}
	if (!clear) {
		rc = hunt_weigh_whole(h, &t, whole, err);
		timing_release(&t);
	}
	return rc;
}

/* Runs the program by a rule, from h->config: is it surely faster than the default, and than `best`? */
static int try_rule(struct hunt *h, const struct space_start *rule, const uint8_t *dflt, struct estimate *best,
	bool *better, struct err *err)
{
	struct estimate whole = {0};
	int rc;

	*better = false;
	rule->fill(h->s, h->config);
	if (memcmp(h->config, dflt, h->s->n_sites) == 0)
		return 0;
	rc = weigh_rule(h, &whole, err);
	*better = rc == 0 && whole.value < best->value && whole.value < -SURE * whole.se &&
		  whole.value < -WORTH * h->default_seconds;
	if (*better)
		*best = whole;
	return rc;
}

/*
 * Begins by the best of the kind's rules, or at the default. Once a rule is good and a share of the time is used, the
 * rest is for steps and not for another rule.
 */
static int begin_by_rule(struct hunt *h, const uint8_t *dflt, struct err *err)
{
	const struct space_start *rule = tries_rules(h) ? h->s->ops->starts : NULL, *taken = NULL;
	double enough = now_seconds() + of_time(h, MOST, LEAST);
	struct estimate best = {0};
	int rc = 0;

	if (rule) {
		device_until(h->lab->device, last_moment(h));
		device_heed_stop(h->lab->device, true);
	}
	for (; rule && rule->name && rc == 0 && is_affordable(h) && !stop_asked(); rule++) {
		bool better;

		if (taken && now_seconds() > enough)
			break;
		rc = try_rule(h, rule, dflt, &best, &better, err);
		taken = better ? rule : taken;
	}
	if (h->lab->device)
		device_until(h->lab->device, 0);
	memcpy(h->config, dflt, h->s->n_sites);
	h->o.start = HUNT_DEFAULT;
	h->running = best;
	if (!taken)
		return rc;
	taken->fill(h->s, h->config);
	h->o.start = HUNT_NAMED + (int)(taken - h->s->ops->starts);
	talk("by the rule \"%s\" the program takes %.1f%% less time than by the compiler's default: the search begins "
	     "there", taken->name, 100 * hunt_gain(h));
	return rc;
}

const char *hunt_start_name(const struct hunt *h)
{
	int start = h->o.start;

	return start >= HUNT_NAMED ? h->s->ops->starts[start - HUNT_NAMED].name : start == HUNT_GIVEN ? "given"
		: start == HUNT_RANDOM ? "random" : "default";
}

int hunt_set_start(struct hunt *h, struct err *err)
{
	uint8_t *dflt = mem_alloc(h->s->n_sites);
	int rc = 0;

	space_default(h->s, dflt);
	memcpy(h->config, dflt, h->s->n_sites);
	if (h->o.start == HUNT_RANDOM)
		space_random(h->s, 0.1 + 0.8 * rng_unit(&h->rng), &h->rng, h->config);
	if (h->o.start == HUNT_GIVEN)
		memcpy(h->config, h->o.given, h->s->n_sites);
	if (h->o.start >= HUNT_NAMED)
		h->s->ops->starts[h->o.start - HUNT_NAMED].fill(h->s, h->config);
	if (h->o.start == HUNT_BETTER)
		rc = begin_by_rule(h, dflt, err);
	else if (memcmp(h->config, dflt, h->s->n_sites) != 0)
		rc = price_start(h, dflt, err);
	mem_free(dflt);
	return rc;
}
