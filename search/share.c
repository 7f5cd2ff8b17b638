/*
 * share.c - the time that a search with a limit of time gives to one candidate.
 *
 * --seconds is kept: what is under way when the time is over is cut (device_until), and what was cut is nobody's
 * failure: it is not counted, not stored, and tried again by whoever has more time. The last check of the whole
 * program has its part of the time kept for it. No candidate may have more than a share of what is left, for its
 * price is a guess until it is paid: some modules take a compiler a hundred times as long as others of their size. A
 * cut costs a new worker, so no share is shorter than starting one takes several times.
 *
 * In a large program candidates differ in what it takes to price them: a second for one more kernel, minutes for a
 * move of fifty sites around the largest kernels. Spent in the order of their promises, all of the time may go into
 * the first. So a candidate that is expected (cost_takes) to need more than its share is set beside the next best
 * ones, and the one that promises most for each second is tried; where nothing is promised, the cheapest. What is
 * passed over is offered again, and may come when cheaper ones are used up. In a program of which every candidate
 * fits, the first is taken as ever.
 */
#include <math.h>
#include <string.h>
#include "base/progress.h"
#include "base/stop.h"
#include "search/hunt.h"

#define MOST 0.34      /* of what is left may go into one candidate, */
#define PLANNED 0.25   /* ... if it was planned at all */
#define LEAST 15.0     /* seconds: but no less than that, while there is time */
#define SHARES 60.0    /* what is left is for so many candidates at most */
#define SMALL 1.0      /* seconds that any candidate may take */
#define OFFERS 12      /* candidates that are set beside each other, */
#define OFFERS_MOST 200 /* ... or more, while none of them can be had */
#define LOOKING 0.1    /* of what is left may go into looking for one */

struct offer { /* all zero: none */
	struct flip *flip;
	uint32_t n;
	double seconds, worth;
};

double hunt_end(const struct hunt *h)
{
	return h->o.seconds > 0 ? h->started + h->o.seconds - h->before : 0;
}

/* Seconds that are left for candidates. */
static double left(const struct hunt *h)
{
	return hunt_end(h) - hunt_last_check(h) - now_seconds();
}

void hunt_allow(struct hunt *h)
{
	if (h->lab->device)
		device_until(h->lab->device, h->o.seconds > 0 ? now_seconds() + fmin(left(h), fmax(LEAST, MOST * left(h))) : 0);
}

void hunt_allow_check(struct hunt *h)
{
	if (h->lab->device)
		device_until(h->lab->device, hunt_end(h));
}

void hunt_allow_all(struct hunt *h)
{
	if (h->lab->device)
		device_until(h->lab->device, 0);
}

/* Does it matter how long a candidate takes? What is modelled does not depend on the speed of this machine. */
static bool counts(const struct hunt *h)
{
	return h->o.seconds > 0 && h->lab->kind == COST_MEASURED;
}

/* Seconds that the next candidate should take, and that it may. */
static double share_of(const struct hunt *h)
{
	double candidates = fmin(SHARES, (double)(h->o.budget - h->evaluations));

	return fmax(SMALL, left(h) / fmax(1, candidates));
}

static double most_of(const struct hunt *h)
{
	return fmax(share_of(h), PLANNED * left(h));
}

/* Is the candidate a flip that leads what the guide knows of a site? */
static bool of_one_site(const struct hunt *h)
{
	return h->n_flips == 1 || h->o.tied;
}

/*
 * What the candidate is expected to take. To cut out the regions of one that is nearly the whole program takes seconds by itself, so
 * how large they were is kept until something is kept.
 */
static int expected(struct hunt *h, double *seconds, struct err *err)
{
	struct hunt_size *known = &h->size[h->flips[0]];
	uint8_t choice = h->candidate[h->flips[0]];
	size_t bytes;

	if (of_one_site(h) && known->bytes && known->kept == h->kept && known->choice == choice &&
		(*seconds = cost_takes_of(h->lab->cost, known->bytes)) > most_of(h))
		return 0;
	if (cost_takes(h->lab->cost, h->config, h->candidate, seconds, &bytes, err) < 0)
		return -1;
	if (of_one_site(h))
		*known = (struct hunt_size){bytes, h->kept, choice};
	return 0;
}

int hunt_affords(struct hunt *h, struct err *err)
{
	double seconds;

	if (!counts(h))
		return 1;
	return expected(h, &seconds, err) < 0 ? -1 : seconds <= most_of(h);
}

/* Is x to be tried before y? */
static bool better(const struct offer *x, const struct offer *y)
{
	if (x->worth > 0 && y->worth > 0)
		return x->worth / x->seconds > y->worth / y->seconds;
	if (x->worth > 0 || y->worth > 0)
		return x->worth > 0;
	return x->seconds < y->seconds;
}

/* What the candidate promises; its flips are not copied. */
static struct offer offer_of(const struct hunt *h, double seconds)
{
	return (struct offer){NULL, h->n_flips, seconds, of_one_site(h) ? guide_worth(h->guide, h->flips[0]) : 0};
}

/* Notes the candidate in place of *o. */
static void note(const struct hunt *h, struct offer *o, const struct offer *now)
{
	mem_free(o->flip);
	*o = *now;
	o->flip = mem_alloc((h->n_flips + 1) * sizeof *o->flip);
	for (uint32_t i = 0; i < o->n; i++)
		o->flip[i] = (struct flip){h->flips[i], h->candidate[h->flips[i]]};
}

/* Makes the offer the candidate. */
static void take(struct hunt *h, const struct offer *o)
{
	h->n_flips = o->n;
	for (uint32_t i = 0; i < o->n; i++) {
		h->flips[i] = o->flip[i].site;
		h->candidate[o->flip[i].site] = o->flip[i].choice;
	}
}

/* The candidate is as good as tried, until guide_recall. */
static void set_aside(struct hunt *h)
{
	if (of_one_site(h))
		guide_suppose(h->guide, h->flips[0], h->candidate[h->flips[0]]);
	hunt_undo(h);
}

/* Weighs one candidate that does not fit, and sets it aside. */
static void weigh(struct hunt *h, double seconds, struct offer *best, struct offer *cheapest)
{
	struct offer now = offer_of(h, seconds);

	h->dear[h->flips[0]] = 1;
	h->dearest = fmax(h->dearest, seconds);
	if (seconds > most_of(h))
		h->too_dear = true;
	else if (!best->n || better(&now, best))
		note(h, best, &now);
	if (!cheapest->n || seconds < cheapest->seconds)
		note(h, cheapest, &now);
	set_aside(h);
}

/*
 * Looks for a candidate that fits: 1 there is one; 0 none, and *best is the best of those that can be had, *cheapest the
 * cheapest of all.
 */
static int look(struct hunt *h, struct offer *best, struct offer *cheapest, struct err *err)
{
	double until = now_seconds() + LOOKING * left(h), seconds;

	for (int n = 0; n < (best->n ? OFFERS : OFFERS_MOST) && hunt_propose(h); n++) {
		if (expected(h, &seconds, err) < 0)
			return -1;
		if (seconds <= share_of(h)) {
			struct offer now = offer_of(h, seconds);
			if (!best->n || better(&now, best))
				return 1;
			set_aside(h);
			return 0;
		}
		weigh(h, seconds, best, cheapest);
		if ((best->n && now_seconds() > until) || left(h) <= 0 || stop_asked())
			break;
	}
	return 0;
}

int hunt_offer(struct hunt *h, struct err *err)
{
	struct offer best = {0}, cheapest = {0}, *taken;
	int rc;

	if (!counts(h))
		return hunt_propose(h);
	h->too_dear = false;
	rc = look(h, &best, &cheapest, err);
	guide_recall(h->guide);
	taken = best.n || h->evaluations + h->cut > 0 ? &best : &cheapest; /* at the very first, nobody knows what takes long here */
	if (rc == 0 && taken->n) {
		take(h, taken);
		rc = 1;
	}
	if (rc == 1)
		h->dear[h->flips[0]] = 0;
	mem_free(best.flip);
	mem_free(cheapest.flip);
	return rc;
}

uint32_t hunt_passed_over(const struct hunt *h)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < h->s->n_sites && h->dear; i++)
		n += h->dear[i];
	return n;
}
