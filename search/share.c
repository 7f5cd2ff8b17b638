/*
 * share.c - the time that a search with a limit of time gives to one candidate.
 *
 * --seconds is kept: what is under way when the time is over is cut (device_until), and what was cut is nobody's failure: it
 * is not counted, not stored, and tried again by whoever has more time. The last check of the whole program has its part of
 * the time kept for it.
 *
 * No candidate may have more than a share of what is left, for its price is a guess until it is paid: some modules take a
 * compiler a hundred times as long as others of their size. A cut costs a new worker, so no share is shorter than starting
 * one takes several times.
 */
#include <math.h>
#include "base/progress.h"
#include "search/hunt.h"

#define MOST 0.34   /* of what is left may go into one candidate */
#define LEAST 15.0  /* seconds: but no less than that, while there is time */

double hunt_end(const struct hunt *h)
{
	return h->o.seconds > 0 ? h->started + h->o.seconds - h->before : 0;
}

void hunt_allow(struct hunt *h)
{
	double now = now_seconds(), end = hunt_end(h), left = end - hunt_last_check(h) - now;

	if (h->lab->device)
		device_until(h->lab->device, end > 0 ? now + fmin(left, fmax(LEAST, MOST * left)) : 0);
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
