/*
 * measure.c - how two programs are timed against each other.
 *
 * What disturbs a timing on a real machine, and the answer to it:
 *
 *	drift (heat, frequency)	   pairs in the order ABBA, a random side first: what is linear in time cancels
 *				   in every four runs
 *	outliers (interrupts)	   a log ratio per pair; the 20% trimmed mean, winsorized standard error
 *	being preempted		   pairs during which the kernel counted an involuntary context switch are dropped
 *				   and counted; if hardly any pair is left, all are taken
 *	cold caches, lazy set-up   warm-up runs, not counted
 *	the clock's own cost	   runs shorter than SAMPLE are batched, equally many on both sides
 *	luck of one load	   two loads of one program differ by more than the noise within them: with several
 *				   instances the interval comes from what the instances differ by; with one, the
 *				   caller adds what is known of that luck (prior.h). Loading a large program takes
 *				   longer than running it, so only as many are loaded as there is time for
 *
 * Sequential stopping: after min_pairs the standard error is looked at each time the pairs have grown by a
 * quarter (looking after every pair would stop on lucky moments). It ends below `target`, at max_seconds of
 * running, or, with several instances, when more pairs could no longer help because the noise within is a
 * tenth of what the instances differ by. Early stop: nine in ten of the first pairs say that one side is
 * `give_up` times slower; if they are few, all do. (When all had to, one interruption in them made a run of
 * hours out of a hopeless pair.)
 *
 * Long runs: if the fewest pairs would run longer than they may (`most`), one run of each side is enough, after one to
 * warm up. More pairs are taken while there is time for them and the error of the difference still matters to the
 * caller (`enough`). Few pairs cannot show how far single pairs of long runs scatter. So a scatter is assumed
 * beforehand; each pair that is seen counts more against the assumption.
 *
 * A first run does not tell how long a run takes. The first run of a training step of 30,000 instructions takes four
 * times as long as any later one, because kernels are linked and memory is mapped during it. So a run that seems long
 * is repeated. A first run of COLD_RUN or more is not repeated; a wider scatter is assumed of it.
 *
 * A side that computes everything a million times over may run for an hour. So side a, which the caller is used to,
 * runs first, and the first run of side b is limited to `give_up` times as long, or SLOW if that is more. If that is
 * not enough for it, the limit is what is known of it, and the answer is as of an early stop.
 *
 * Standard errors from few values are widened by Student's t over the normal quantile, so that +-1.96 of them
 * is a 95% interval whatever they were made of.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "base/mem.h"
#include "device/worker/measure.h"

#define SAMPLE 100e-6 /* seconds a timing should last at least */
#define MAX_BATCH 500u
#define MAX_PAIRS 50000u /* of all instances, what memory and patience allow */
#define FIRST_PAIRS 64u	 /* after so many, a pair is not given up any more */
#define LEAST 4u	 /* pairs of an instance below which nothing can be said */
#define PATIENCE 3.0	 /* times max_seconds: so long undisturbed pairs are waited for, and further instances */
#define TRIM 0.2
#define LONG_RUN 1.0	/* seconds; of longer runs few pairs may be enough, */
#define COLD_RUN 10.0	/* ... and of these none is only to warm up */
#define SLOW 2.0		/* seconds that any first run may take */
#define SHORT_RUN 10e-3 /* seconds; for shorter runs nobody knows whether the scatter below holds */
/* The scatter assumed of long runs: the standard deviation of the log ratio of a pair; how many pairs it counts for. */
#define FEW_SPREAD 0.03
#define COLD_SPREAD 0.06 /* ... where they are first runs */
#define FEW_WEIGHT 4.0

struct pair {
	double a, b;
	bool disturbed;
};

struct series { /* pairs of one pair of instances */
	struct pair *v;
	size_t n, cap, clean;
};

struct run_state {
	const struct measure_subject *s;
	struct precision p;
	struct rng *r;
	struct measured *out;
	struct series *series; /* one per instance */
	double *scratch;
	size_t scratch_cap;
	bool few;   /* runs are long, so few pairs are taken */
	bool warm;  /* ... and each side has one to warm up */
	int first;  /* the side that an instance runs first */
	double cold;	/* how long the first run of all took, */
	double last[2]; /* and each side's last in the first instance, while warming up */
	uint32_t ran[2];
};

static struct precision with_defaults(const struct precision *p)
{
	struct precision q = *p;
	q.target = q.target > 0 ? q.target : 0.002;
	q.max_seconds = q.max_seconds > 0 ? q.max_seconds : 0.5;
	q.min_pairs = q.min_pairs ? q.min_pairs : 10;
	q.instances = q.instances ? q.instances : 1;
	q.slow = q.slow > 0 ? q.slow : SLOW;
	q.give_up = q.give_up > 0 ? q.give_up : q.give_up < 0 ? INFINITY : 1.5;
	return q;
}

/* Returns the trimmed mean, with a standard error that is widened for few values. */
static struct estimate trimmed(const double *x, size_t n)
{
	struct estimate e = stat_trimmed(x, n, TRIM);
	e.se *= stat_widening((double)n - 2 * floor(TRIM * (double)n) - 1);
	e.n = n;
	return e;
}

static int run_once(
	struct run_state *m, int side, uint32_t instance, uint32_t times, double *seconds)
{
	if (m->s->run(m->s->ctx, side, instance, times, seconds) < 0)
		return -1;
	m->out->running += *seconds;
	*seconds /= times;
	return 0;
}

/* One pair, `first` side first. */
static int take_pair(struct run_state *m, uint32_t instance, int first)
{
	struct series *s = &m->series[instance];
	double t[2] = {0, 0};
	long before = m->s->switches(m->s->ctx);
	for (int k = 0; k < m->s->sides; k++)
		if (run_once(m, first ^ k, instance, m->out->batch, &t[first ^ k]) < 0)
			return -1;
	MEM_GROW(&s->v, &s->cap, s->n + 1);
	s->v[s->n] = (struct pair){t[0], t[1], m->s->switches(m->s->ctx) != before};
	s->clean += !s->v[s->n].disturbed;
	s->n++;
	return 0;
}

/* Every instance twice, in random order, ABBA or BAAB. */
static int take_round(struct run_state *m, uint32_t *order)
{
	rng_shuffle(m->r, order, m->p.instances);
	for (uint32_t i = 0; i < m->p.instances; i++) {
		int first = m->s->sides == 2 ? (int)rng_below(m->r, 2) : 0;
		for (int k = 0; k < m->s->sides; k++)
			if (take_pair(m, order[i], first ^ k) < 0)
				return -1;
	}
	return 0;
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

uint32_t measure_affords(const struct precision *p, uint32_t have, double loading)
{
	struct precision q = with_defaults(p);
	double all = 1 + (loading > 0 ? floor(PATIENCE * q.max_seconds / loading) : INFINITY);

	return all >= q.instances ? q.instances : all > have ? (uint32_t)all : have;
}

enum what { SECONDS_A, SECONDS_B, RATIO, DELTA };

static double value_of(const struct pair *p, enum what w)
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
			m->scratch[n++] = value_of(&s->v[i], w);
	return trimmed(m->scratch, n);
}

/*
 * Returns the mean over all instances. Its standard error follows from how much they differ, and is never below what
 * the noise within instances gives. `between` gets the variance between instances, without the noise within; `within`
 * gets the part of that noise in the variance of the mean.
 */
static struct estimate over_instances(
	struct run_state *m, enum what w, double *between, double *within)
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

/* Do nine in ten of all pairs, which are at least `least`, say that the same side is slower by the give-up factor? */
static bool hopeless(const struct run_state *m, uint32_t least)
{
	uint32_t n = 0, slower[2] = {0, 0};

	if (m->s->sides < 2)
		return false;
	for (uint32_t i = 0; i < m->p.instances; i++)
		for (size_t k = 0; k < m->series[i].n; k++, n++) {
			double r = value_of(&m->series[i].v[k], RATIO);
			slower[r > 0] += fabs(r) >= log(m->p.give_up);
		}
	return n >= least && 10 * (slower[0] > slower[1] ? slower[0] : slower[1]) >= 9 * n;
}

static bool precise(struct run_state *m)
{
	double between, within;
	struct estimate e =
		over_instances(m, m->s->sides == 2 ? RATIO : SECONDS_A, &between, &within);
	double scale = m->s->sides == 2 ? 1 : e.value;
	if (e.se <= m->p.target * scale)
		return true;
	return m->p.instances > 1 && within < 0.1 * between / m->p.instances;
}

/* Has every instance enough undisturbed pairs, or, late, enough of any? */
static bool enough(const struct run_state *m)
{
	bool late = m->out->running >= PATIENCE * m->p.max_seconds;
	for (uint32_t i = 0; i < m->p.instances; i++)
		if ((late ? m->series[i].n : m->series[i].clean) < LEAST)
			return false;
	return true;
}

static int take_pairs(struct run_state *m)
{
	uint32_t *order = MEM_NEW(m->p.instances, uint32_t), taken = 0, look = m->p.min_pairs;
	int rc = 0;
	for (uint32_t i = 0; i < m->p.instances; i++)
		order[i] = i;
	for (;;) {
		if ((rc = take_round(m, order)) < 0)
			break;
		taken += m->p.instances * (uint32_t)m->s->sides;
		m->out->gave_up = taken <= FIRST_PAIRS && hopeless(m, 3);
		if (m->out->gave_up || taken >= MAX_PAIRS)
			break;
		if (!enough(m))
			continue;
		if (m->out->running >= m->p.max_seconds)
			break;
		if (taken >= look) {
			if (precise(m))
				break;
			look = taken + taken / 4 + 1;
		}
	}
	mem_free(order);
	return rc;
}

/* From few pairs: the mean, and an error that the scatter assumed beforehand and the one seen give together. */
static struct estimate of_few(const struct run_state *m, enum what w)
{
	const struct series *s = &m->series[0];
	double mean = 0, seen = 0, level = 0, scatter, weight = FEW_WEIGHT + (double)s->n - 1;

	for (size_t i = 0; i < s->n; i++) {
		mean += value_of(&s->v[i], w) / (double)s->n;
		level += (s->v[i].a + s->v[i].b) / m->s->sides / (double)s->n;
	}
	for (size_t i = 0; i < s->n; i++)
		seen += pow(value_of(&s->v[i], w) - mean, 2);
	scatter = (m->warm ? FEW_SPREAD : COLD_SPREAD) * (w == RATIO ? 1 : level);
	return (struct estimate){mean,
		sqrt((FEW_WEIGHT * scatter * scatter + seen) / weight / (double)s->n) * stat_widening(weight), s->n};
}

static bool few_are_precise(const struct run_state *m)
{
	struct estimate e = of_few(m, m->s->sides == 2 ? RATIO : SECONDS_A);

	return e.se <= m->p.target * (m->s->sides == 2 ? 1 : e.value) ||
	       of_few(m, m->s->sides == 2 ? DELTA : SECONDS_A).se <= m->p.enough;
}

static void summarise_few(struct run_state *m)
{
	struct measured *o = m->out;

	o->a = of_few(m, SECONDS_A);
	if (m->s->sides == 2) {
		o->b = of_few(m, SECONDS_B);
		o->delta = of_few(m, DELTA);
		o->ratio = of_few(m, RATIO);
	}
	o->instances = 1;
	o->pairs = (uint32_t)m->series[0].n;
	for (size_t k = 0; m->p.raw && k < m->series[0].n; k++) {
		float v[2] = {(float)m->series[0].v[k].a, (float)m->series[0].v[k].b};
		buf_add(&o->raw, v, sizeof v);
	}
}

/* Are runs that do not end to be expected, and given up? Then side a runs first, and b has a limit. */
static bool limited(const struct run_state *m)
{
	return m->s->limit && m->s->sides == 2 && isfinite(m->p.give_up);
}

/* The first run of all of the other side, after one that took m->cold. */
static int run_other(struct run_state *m, double *seconds)
{
	double most = fmax(m->p.slow, m->p.give_up * m->cold);
	struct run_state as_if = *m;
	struct series one = {.n = 1};
	struct measured bound = {.gave_up = true, .batch = 1};
	int rc;

	if (!limited(m))
		return run_once(m, !m->first, 0, 1, seconds);
	MEM_GROW(&one.v, &one.cap, 1);
	one.v[0] = (struct pair){m->cold, most, false};
	as_if.series = &one;
	as_if.out = &bound;
	summarise_few(&as_if);
	m->s->limit(m->s->ctx, most, &bound);
	rc = run_once(m, !m->first, 0, 1, seconds);
	m->s->limit(m->s->ctx, 0, NULL);
	mem_free(one.v);
	measured_release(&bound);
	return rc;
}

/* Would the fewest pairs that there are otherwise take longer than anybody asked for? */
static bool too_long(const struct run_state *m, double run)
{
	double fewest = run * m->s->sides * m->p.instances * (1.0 + LEAST);

	if (m->p.most > 0 && run > SHORT_RUN && fewest > fmax(m->p.most, PATIENCE * m->p.max_seconds))
		return true;
	return run > LONG_RUN && fewest > PATIENCE * m->p.max_seconds;
}

/* One run to warm up; the first of all of the side that is not the first has a limit. */
static int run_cold(struct run_state *m, int side, uint32_t instance, double *seconds)
{
	bool others = instance == 0 && side != m->first && m->ran[side] == 0;

	if ((others ? run_other(m, seconds) : run_once(m, side, instance, 1, seconds)) < 0)
		return -1;
	m->cold = m->ran[0] + m->ran[1] ? m->cold : *seconds;
	if (instance == 0) {
		m->last[side] = *seconds;
		m->ran[side]++;
	}
	return 0;
}

/* Is one more run to warm up, after `k`, worth its time? One that seems too long may only have been cold. */
static bool warms_up(const struct run_state *m, uint32_t k, double run)
{
	return run * m->p.instances <= m->p.max_seconds / 20 || (k == 1 && too_long(m, run));
}

/* Runs everything once or more, and finds the batch size; or stops as soon as a run is long. */
static int warm_up(struct run_state *m)
{
	double least = INFINITY, t = 0;
	for (uint32_t i = 0; i < m->p.instances; i++) {
		m->first = m->s->sides == 2 && (i || !limited(m)) ? (int)rng_below(m->r, 2) : 0;
		for (int n = 0; n < m->s->sides; n++)
			for (uint32_t k = 0; k < 3 && (k == 0 || warms_up(m, k, t)); k++) {
				if (run_cold(m, n ^ m->first, i, &t) < 0)
					return -1;
				least = t < least ? t : least;
				m->warm = k > 0;
				m->few = too_long(m, t) && (k || t > COLD_RUN);
				if (m->few)
					return 0;
			}
		if (m->s->loading)
			m->p.instances = measure_affords(&m->p, i + 1, m->s->loading(m->s->ctx));
	}
	double batch = ceil(SAMPLE / (least > 1e-9 ? least : 1e-9));
	m->out->batch = batch > MAX_BATCH ? MAX_BATCH : batch < 1 ? 1 : (uint32_t)batch;
	return 0;
}

/* The first pair is of the last runs to warm up, of which each side has two, or one if it is cold. */
static int first_pair(struct run_state *m)
{
	struct series *s = &m->series[0];
	double t;

	for (int n = 0; n < m->s->sides; n++)
		while (m->ran[n ^ m->first] < (m->warm ? 2 : 1))
			if (run_cold(m, n ^ m->first, 0, &t) < 0)
				return -1;
	MEM_GROW(&s->v, &s->cap, 1);
	s->v[s->n++] = (struct pair){m->last[0], m->last[1], false};
	return 0;
}

/* Takes one run of each side, and further pairs while there is time; the sides take turns to be first. */
static int take_few(struct run_state *m)
{
	const struct series *s = &m->series[0];
	double room = fmax(m->p.most, PATIENCE * m->p.max_seconds);

	m->out->batch = 1;
	if (first_pair(m) < 0)
		return -1;
	for (int next = !m->first; !few_are_precise(m); next = !next) {
		m->out->gave_up = hopeless(m, 2);
		if (m->out->gave_up || m->out->running + s->v[0].a + s->v[0].b > room)
			return 0;
		if (take_pair(m, 0, m->s->sides == 2 ? next : 0) < 0)
			return -1;
	}
	return 0;
}

static void summarise(struct run_state *m)
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

int measure(const struct measure_subject *s, const struct precision *p, struct rng *r,
	struct measured *out)
{
	struct run_state m = {.s = s, .p = with_defaults(p), .r = r, .out = out};
	*out = (struct measured){0};
	m.series = MEM_NEW(m.p.instances, struct series);
	int rc = warm_up(&m);
	if (rc == 0)
		rc = m.few ? take_few(&m) : take_pairs(&m);
	if (rc == 0)
		(m.few ? summarise_few : summarise)(&m);
	for (uint32_t i = 0; i < m.p.instances; i++)
		mem_free(m.series[i].v);
	mem_free(m.series);
	mem_free(m.scratch);
	return rc;
}

void measured_release(struct measured *m)
{
	buf_release(&m->raw);
}
