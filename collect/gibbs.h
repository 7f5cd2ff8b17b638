/*
 * gibbs.h - one step of Gibbs sampling over a space.
 *
 * A step prices every choice k of a site while all other sites stay, and draws the next choice with
 *
 *	p(k) proportional to exp(-(cost_k - cost_min) / T)
 *
 * where T, the temperature in seconds, is tau times the cost of the default. A choice that failed has
 * no cost and probability 0. The step says nothing about where costs come from. A default may cost nothing, as a
 * program without temporary memory does; then T is 0, and one of the cheapest choices is drawn.
 *
 * Noise in the costs acts like a temperature of its own. If its standard deviation is below 0.3 T, it changes
 * the sampled distribution by less than sampling itself does. So gibbs_tau never sets tau lower than the
 * measured noise allows.
 */
#ifndef COLLECT_GIBBS_H
#define COLLECT_GIBBS_H

#include "base/rng.h"
#include "base/stat.h"
#include "cost/cost.h"
#include "store/run.h"

#define GIBBS_TAU 0.001		/* the least temperature, as a share of the default's cost */
#define GIBBS_NOISE_PER_TAU 0.3 /* the most noise, as a share of the temperature */

/* Probabilities of the n choices; all 0 (and false) when every choice failed. */
bool gibbs_probabilities(const struct choice_cost *c, uint32_t n, double temperature, double *p);

/* tau for a default of `seconds`, with costs known to `noise` seconds. */
double gibbs_tau(double noise, double seconds);

/*
 * Fills x->choice with the cost of every choice of the site in `config` relative to the reference,
 * x->kind, and x->chosen with the draw (the present choice if all others failed). The costs in x are as measured; the
 * draw, and `moved`, the difference of the chosen to the present choice, count the charge for kernels (space/part.h),
 * too. 0; 1 if the time was over (device_until) before it was done: then nothing of it counts; -1 error.
 */
int gibbs_step(struct cost *cost, const struct space *s, const uint8_t *config, uint32_t site,
	double temperature, struct rng *r, struct sample *x, struct estimate *moved, struct err *err);

#endif
