/*
 * within.c - keeps a hunt within its limits.
 *
 * Each limit is on a quantity with a cost of its own (lab.h), which is followed like the objective: the changes from
 * the default are added up step by step. The sum is exact if the figure is exact; if it is measured, checks of the
 * whole program correct it. A limit is relative to the compiler's own program, or absolute.
 *
 * A candidate that breaks a limit is not kept. If the configuration itself breaks a limit, because the default needs
 * more memory than is allowed, then a candidate that comes nearer to the limits is kept, whatever it does to the
 * objective.
 */
#include <math.h>
#include "search/hunt.h"

/* How far the limit is broken if the configuration costs `more` than now. */
static double excess(const struct hunt_limit *l, double more)
{
	return limit_excess(&l->of->limit, l->own, l->base + l->running.value + more);
}

double hunt_excess(const struct hunt *h)
{
	double sum = 0;

	for (uint32_t i = 0; i < h->n_limits; i++)
		sum += excess(&h->limit[i], 0);
	return sum;
}

int hunt_begin_limits(struct hunt *h, struct err *err)
{
	for (uint32_t i = 0; i < h->lab->n_limits; i++) {
		struct hunt_limit *l = &h->limit[h->n_limits++];
		struct estimate decoded = {0};

		*l = (struct hunt_limit){.of = &h->lab->limit[i]};
		if (hunt_weigh_default(h, l->of->cost, &decoded, err) < 0 ||
			cost_default_seconds(l->of->cost, &l->base, NULL, err) < 0)
			return -1;
		l->own = l->base - decoded.value;
	}
	return 0;
}

int hunt_price_limits(struct hunt *h, double *sum, enum outcome *outcome, struct err *err)
{
	*sum = 0;
	for (uint32_t i = 0; i < h->n_limits; i++) {
		struct hunt_limit *l = &h->limit[i];
		struct delta d;

		if (cost_delta(l->of->cost, h->config, h->candidate, &d, err) < 0)
			return -1;
		if (d.outcome != OUTCOME_OK) {
			*outcome = d.outcome;
			return 0;
		}
		l->next = (struct estimate){d.seconds, d.se, 1};
		*sum += excess(l, d.seconds);
	}
	return 0;
}

void hunt_keep_limits(struct hunt *h)
{
	for (uint32_t i = 0; i < h->n_limits; i++)
		h->limit[i].running = stat_sum((struct estimate[]){h->limit[i].running, h->limit[i].next}, 2);
}

void hunt_vouch_limits(struct hunt *h)
{
	for (uint32_t i = 0; i < h->n_limits; i++)
		h->limit[i].sure = h->limit[i].running;
}

void hunt_restore_limits(struct hunt *h)
{
	for (uint32_t i = 0; i < h->n_limits; i++)
		h->limit[i].running = h->limit[i].sure;
}

int hunt_weigh_limits(struct hunt *h, const uint8_t *dflt, struct err *err)
{
	for (uint32_t i = 0; i < h->n_limits; i++) {
		struct hunt_limit *l = &h->limit[i];
		struct timing t = {0};
		int rc = 0;

		if (!cost_whole_exact(l->of->cost) || h->evaluations == 0)
			rc = cost_whole(l->of->cost, dflt, h->config, &hunt_whole, &t, err);
		else
			t = (struct timing){.delta = l->running.value};
		if (rc == 0 && t.outcome == OUTCOME_OK)
			l->running = (struct estimate){t.delta, t.delta_se, 1};
		timing_release(&t);
		if (rc < 0)
			return -1;
	}
	return 0;
}

bool hunt_limits_broken(const struct hunt *h)
{
	bool any = false;

	for (uint32_t i = 0; i < h->n_limits; i++) {
		const struct hunt_limit *l = &h->limit[i];
		double before = limit_excess(&l->of->limit, l->own, l->base + l->sure.value);
		any |= excess(l, -2 * l->running.se) > before;
	}
	return any;
}

bool hunt_inexact_limits(const struct hunt *h)
{
	bool any = false;

	for (uint32_t i = 0; i < h->n_limits; i++)
		any |= !cost_whole_exact(h->limit[i].of->cost);
	return any;
}
