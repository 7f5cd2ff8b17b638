/*
 * gibbs.c - see the header.
 *
 * Costs are measured as differences from the present configuration, whose own difference is exactly 0. They are
 * stored relative to the first choice that did not fail, so the error of that choice is added to the errors of all
 * others. The draw includes the charge for kernels (space/part.h); what is stored does not.
 */
#include <math.h>
#include <string.h>
#include "collect/gibbs.h"

double gibbs_tau(double noise, double seconds)
{
	double tau = seconds > 0 ? noise / (GIBBS_NOISE_PER_TAU * seconds) : 0;

	return tau > GIBBS_TAU ? tau : GIBBS_TAU;
}

bool gibbs_probabilities(const struct choice_cost *c, uint32_t n, double temperature, double *p)
{
	double low = INFINITY, sum = 0;

	for (uint32_t k = 0; k < n; k++)
		if (c[k].outcome == OUTCOME_OK && c[k].delta < low)
			low = c[k].delta;
	for (uint32_t k = 0; k < n; k++) {
		p[k] = c[k].outcome != OUTCOME_OK ? 0 : c[k].delta <= low ? 1 : exp(-(c[k].delta - low) / temperature);
		sum += p[k];
	}
	for (uint32_t k = 0; k < n; k++)
		p[k] = sum > 0 ? p[k] / sum : 0;
	return sum > 0;
}

/*
 * Prices all choices of a site against the present one: 0, 1 the time was over, -1 error. `added`: the charge for
 * kernels in each (space/part.h).
 */
static int price_choices(struct cost *cost, const struct space *s, const uint8_t *config, uint32_t site,
	struct sample *x, double *added, struct err *err)
{
	uint8_t *other = mem_alloc(s->n_sites);
	struct delta d;
	int rc = 0;

	memcpy(other, config, s->n_sites);
	for (uint8_t k = 0; k < s->site[site].choices && rc == 0; k++) {
		x->choice[k] = (struct choice_cost){.outcome = OUTCOME_OK};
		added[k] = 0;
		if (k == config[site])
			continue;
		other[site] = k;
		rc = cost_delta(cost, config, other, &d, err);
		if (rc == 0 && d.cut)
			rc = 1;
		if (rc != 0)
			break;
		x->choice[k] = (struct choice_cost){d.seconds, d.se, d.outcome, d.gave_up};
		x->kind = d.kind;
		if (d.outcome == OUTCOME_OK)
			added[k] = d.added;
	}
	mem_free(other);
	return rc;
}

/* Turns costs relative to the present choice into costs relative to the first choice that did not fail. */
static void make_relative(struct sample *x, uint8_t present)
{
	struct choice_cost first;
	uint8_t ref = 0;

	while (x->choice[ref].outcome != OUTCOME_OK) /* the present one is */
		ref++;
	first = x->choice[ref];
	for (uint8_t k = 0; k < x->n_choices; k++) {
		struct choice_cost *c = &x->choice[k];
		if (c->outcome != OUTCOME_OK)
			continue;
		c->delta -= first.delta;
		c->se = k == ref ? 0 : k == present ? first.se : hypot(c->se, first.se);
		c->bound = k != ref && (c->bound || first.bound);
	}
}

int gibbs_step(struct cost *cost, const struct space *s, const uint8_t *config, uint32_t site,
	double temperature, struct rng *r, struct sample *x, struct estimate *moved, struct err *err)
{
	double p[STORE_CHOICES], added[STORE_CHOICES];
	int rc;

	x->site = site;
	x->n_choices = s->site[site].choices;
	rc = price_choices(cost, s, config, site, x, added, err);
	if (rc != 0)
		return rc;
	gibbs_probabilities(x->choice, x->n_choices, temperature, p);
	x->chosen = (uint8_t)rng_pick(r, p, x->n_choices);
	*moved = (struct estimate){x->choice[x->chosen].delta, x->choice[x->chosen].se, 1};
	for (uint32_t k = 0; k < x->n_choices; k++)
		x->choice[k].delta -= added[k];
	make_relative(x, config[site]);
	return 0;
}
