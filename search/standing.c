/*
 * standing.c - where a hunt stands: what the default takes, and how much better the configuration is by now.
 *
 * The default as it was read back is not quite the compiler's own program. The difference is measured once, when the
 * program is opened, and every gain is counted from the compiler's own program.
 */
#include <math.h>
#include "base/progress.h"
#include "search/hunt.h"

/*
 * Of the time that the search has, measuring a whole program runs for such a share, but no shorter than that, or than
 * compiling the program took: it is compiled for it, and loaded four times. (Of a search of 30 s a check took 8 s and
 * ran for 0.6, which said 7% +- 7. Running for as long as compiling takes, two said 11% +- 1.4 and 7% +- 2.)
 */
#define WEIGH_SHARE 0.02
#define WEIGH_LEAST 0.3
#define VAGUE 0.25 /* a default that is known no better than this, as a share of it, says nothing of gains */

const struct precision hunt_whole = {.target = 0.001, .max_seconds = 3, .instances = 4, .give_up = -1};

struct precision hunt_in_time(const struct hunt *h)
{
	struct precision p = hunt_whole;
	double least = fmax(WEIGH_LEAST, h->lab->subject.extract_seconds);

	if (h->o.seconds > 0 && !h->deciding)
		p.max_seconds = fmin(p.max_seconds, fmax(least, WEIGH_SHARE * h->o.seconds));
	return p;
}

double hunt_seconds(const struct hunt *h)
{
	return h->before + (h->ended > 0 ? h->ended : now_seconds()) - h->started;
}

double hunt_own_seconds(const struct hunt *h)
{
	return h->default_seconds - h->decoded.value;
}

bool hunt_vague(const struct hunt *h)
{
	bool known = hunt_own_seconds(h) > 0 && isfinite(h->default_se) && isfinite(h->decoded.se);

	return h->default_seconds > 0 && h->lab->kind == COST_MEASURED &&
		(!known || hypot(h->decoded.se, h->default_se) > VAGUE * hunt_own_seconds(h));
}

double hunt_gain(const struct hunt *h)
{
	return hunt_own_seconds(h) > 0 ? -(h->running.value + h->decoded.value) / hunt_own_seconds(h) : 0;
}

double hunt_gain_se(const struct hunt *h)
{
	return hunt_own_seconds(h) > 0 ? hypot(h->running.se, h->decoded.se) / hunt_own_seconds(h) : 0;
}

void hunt_add_point(struct hunt *h)
{
	MEM_GROW(&h->curve, &h->cap_curve, h->n_curve + 1);
	h->curve[h->n_curve++] =
		(struct hunt_point){h->evaluations, hunt_seconds(h), h->running.value, h->running.se};
}

bool hunt_own_stands(const struct hunt *h)
{
	return !h->lab->derived && lab_own_stands(h->lab);
}

int hunt_weigh_default(struct hunt *h, struct cost *c, struct estimate *out, struct err *err)
{
	bool kept = c == h->lab->cost && h->quantity == QUANTITY_SECONDS; /* may it be known from an earlier opening? */
	const struct opened *o = &h->lab->subject.opened;
	struct precision p = hunt_in_time(h);
	struct timing t = {0};
	int rc;

	if (cost_kind(c) != COST_MEASURED)
		return 0;
	if (!h->s->ops->decode && !h->lab->derived && !hunt_own_stands(h))
		return 0; /* the compiler shows no choices, so the default is its own program */
	if (kept && h->lab->subject.known && !h->lab->derived && o->run > 0) {
		cost_set_default(c, o->run, o->run_se);
		*out = (struct estimate){o->more, o->more_se, 1};
		return 0;
	}
	if (kept && hunt_own_stands(h)) {
		rc = cost_own_alone(c, &t, err);
		goto out; /* where that dies, to run it beside its like would tell nothing */
	}
	rc = cost_own(c, &p, &t, err);
out:
	if (rc == 0 && t.outcome == OUTCOME_OK)
		*out = (struct estimate){t.delta, t.delta_se, t.pairs};
	if (rc == 0 && kept)
		lab_remember(h->lab, &t);
	timing_release(&t);
	return rc;
}
