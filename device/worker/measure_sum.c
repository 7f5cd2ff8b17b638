/*
 * measure_sum.c - what pairs tell: means, and how far they may be off.
 *
 * The mean of many pairs is the 20% trimmed one, with the winsorized standard error. Pairs that the kernel interrupted
 * do not count, unless hardly any other is left. Few pairs cannot show how far single pairs of long runs scatter. So a
 * scatter is assumed beforehand; each pair that is seen counts more against the assumption.
 *
 * Standard errors from few values are widened by Student's t over the normal quantile, so that +-1.96 of them
 * is a 95% interval whatever they were made of.
 */
#include <math.h>
#include "base/mem.h"
#include "device/worker/measure_own.h"

#define TRIM 0.2
/* The scatter assumed of long runs: the standard deviation of the log ratio of a pair; how many pairs it counts for. */
#define FEW_SPREAD 0.03
#define COLD_SPREAD 0.06 /* ... where they are first runs */
#define FEW_WEIGHT 4.0

/* Returns the trimmed mean, with a standard error that is widened for few values. */
static struct estimate trimmed(const double *x, size_t n)
{
	struct estimate e = stat_trimmed(x, n, TRIM);
	e.se *= stat_widening((double)n - 2 * floor(TRIM * (double)n) - 1);
	e.n = n;
	return e;
}

/* Pairs are used if undisturbed, unless too few are. */
static bool use_all(const struct series *s)
{
	return s->clean < LEAST || s->clean * 10 < s->n;
}
static bool used(const struct series *s, size_t i)
{
	return !s->v[i].disturbed || use_all(s);
}

double pair_value(const struct pair *p, enum what w)
{
	switch (w) {
	case SECONDS_A:
		return p->a;
	case SECONDS_B:
		return p->b;
	case RATIO:
		return log(fmax(p->b, 1e-12) / fmax(p->a, 1e-12));
	default:
		return p->b - p->a;
	}
}

static struct estimate of_series(struct run_state *m, const struct series *s, enum what w)
{
	size_t n = 0;
	MEM_GROW(&m->scratch, &m->scratch_cap, s->n);
	for (size_t i = 0; i < s->n; i++)
		if (used(s, i))
			m->scratch[n++] = pair_value(&s->v[i], w);
	return trimmed(m->scratch, n);
}

/* Its standard error follows from how much instances differ, and is never below what the noise within them gives. */
struct estimate over_instances(struct run_state *m, enum what w, double *between, double *within)
{
	uint32_t n = m->p.instances;
	double *x = MEM_NEW(n, double), noise = 0;
	struct estimate e = {0};
	for (uint32_t i = 0; i < n; i++) {
		e = of_series(m, &m->series[i], w);
		x[i] = e.value;
		noise += e.se * e.se / n;
	}
	*between = 0;
	*within = noise / n;
	if (n > 1) {
		double var = stat_var(x, n);
		*between = var - noise;
		e.value = stat_mean(x, n);
		e.se = fmax(sqrt(var / n) * stat_widening(n - 1), sqrt(noise / n));
		e.n = n;
	}
	mem_free(x);
	return e;
}

/* From few pairs: the mean, and an error that the scatter assumed beforehand and the one seen give together. */
struct estimate over_few(const struct run_state *m, enum what w)
{
	const struct series *s = &m->series[0];
	double mean = 0, seen = 0, level = 0, scatter, weight = FEW_WEIGHT + (double)s->n - 1;

	for (size_t i = 0; i < s->n; i++) {
		mean += pair_value(&s->v[i], w) / (double)s->n;
		level += (s->v[i].a + s->v[i].b) / m->s->sides / (double)s->n;
	}
	for (size_t i = 0; i < s->n; i++)
		seen += pow(pair_value(&s->v[i], w) - mean, 2);
	scatter = (m->warm ? FEW_SPREAD : COLD_SPREAD) * (w == RATIO ? 1 : level);
	return (struct estimate){mean,
		sqrt((FEW_WEIGHT * scatter * scatter + seen) / weight / (double)s->n) * stat_widening(weight), s->n};
}

void sum_up_few(struct run_state *m)
{
	struct measured *o = m->out;

	o->a = over_few(m, SECONDS_A);
	if (m->s->sides == 2) {
		o->b = over_few(m, SECONDS_B);
		o->delta = over_few(m, DELTA);
		o->ratio = over_few(m, RATIO);
	}
	o->instances = 1;
	o->pairs = (uint32_t)m->series[0].n;
	for (size_t k = 0; m->p.raw && k < m->series[0].n; k++) {
		float v[2] = {(float)m->series[0].v[k].a, (float)m->series[0].v[k].b};
		buf_add(&o->raw, v, sizeof v);
	}
}

void sum_up(struct run_state *m)
{
	struct measured *o = m->out;
	double ignore, within;
	o->a = over_instances(m, SECONDS_A, &ignore, &within);
	if (m->s->sides == 2) {
		o->b = over_instances(m, SECONDS_B, &ignore, &within);
		o->delta = over_instances(m, DELTA, &ignore, &within);
		o->ratio = over_instances(m, RATIO, &o->between, &within);
	}
	o->instances = m->p.instances;
	for (uint32_t i = 0; i < m->p.instances; i++)
		for (size_t k = 0; k < m->series[i].n; k++) {
			const struct pair *p = &m->series[i].v[k];
			float v[2] = {(float)p->a, (float)p->b};
			if (!used(&m->series[i], k)) {
				o->dropped++;
				continue;
			}
			o->pairs++;
			if (m->p.raw)
				buf_add(&o->raw, v, sizeof v);
		}
}
