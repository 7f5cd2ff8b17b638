/*
 * measure.c - how two programs are timed against each other.
 *
 * What disturbs a timing on a real machine, and the answer to it:
 *
 *	drift (heat, frequency)	   pairs in the order ABBA, a random side first: what is linear in time cancels
 *				   in every four runs
 *	outliers (interrupts)	   a log ratio per pair; the 20% trimmed mean, winsorized standard error
 *	being preempted		   pairs during which the kernel counted an involuntary context switch are dropped
 *				   and counted; if hardly any pair is left, all are taken. Undisturbed ones are
 *				   waited for, but not where there are next to none: a program that runs for a
 *				   tenth of a second on all cores is interrupted each time
 *	cold caches, lazy set-up   warm-up runs, not counted
 *	the clock's own cost	   runs shorter than SAMPLE are batched, equally many on both sides
 *	luck of one load	   two loads of one program differ by more than the noise within them: with several
 *				   instances the interval comes from what the instances differ by; with one, the
 *				   caller adds what is known of that luck (prior.h). Loading a large program takes
 *				   longer than running it, so only as many are loaded as there is time for, and
 *				   only as many are run; two would hardly show how they differ, so then it is one
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
 * caller (`enough`).
 *
 * A first run does not tell how long a run takes. The first run of a training step of 30,000 instructions takes four
 * times as long as any later one, because kernels are linked and memory is mapped during it. So a run that seems long
 * is repeated. A first run of COLD_RUN or more is not repeated; a wider scatter is assumed of it (measure_sum.c).
 *
 * A side that computes everything a million times over may run for an hour. So side a, which the caller is used to,
 * runs first, and the first run of side b is limited to `give_up` times as long, or SLOW if that is more. If that is
 * not enough for it, the limit is what is known of it, and the answer is as of an early stop.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "base/mem.h"
#include "device/worker/measure_own.h"

#define SAMPLE 100e-6 /* seconds a timing should last at least */
#define MAX_BATCH 500u
#define MAX_PAIRS 50000u /* of all instances, what memory and patience allow */
#define FIRST_PAIRS 64u	 /* after so many, a pair is not given up any more */
#define SEVERAL 3u	 /* instances below which nothing can be said of how they differ */
#define PATIENCE 3.0	 /* times max_seconds: so long undisturbed pairs are waited for, and further instances */
#define LONG_RUN 1.0	/* seconds; of longer runs few pairs may be enough, */
#define COLD_RUN 10.0	/* ... and of these none is only to warm up */
#define SLOW 2.0		/* seconds that any first run may take */
#define SHORT_RUN 10e-3 /* seconds; for shorter runs nobody knows whether the scatter that is assumed holds */

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

uint32_t measure_affords(const struct precision *p, uint32_t have, double loading)
{
	struct precision q = with_defaults(p);
	double all = 1 + (loading > 0 ? floor(PATIENCE * q.max_seconds / loading) : INFINITY);

	return all >= q.instances ? q.instances : all > have ? (uint32_t)all : have;
}

/* Do nine in ten of all pairs, which are at least `least`, say that the same side is slower by the give-up factor? */
static bool hopeless(const struct run_state *m, uint32_t least)
{
	uint32_t n = 0, slower[2] = {0, 0};

	if (m->s->sides < 2)
		return false;
	for (uint32_t i = 0; i < m->p.instances; i++)
		for (size_t k = 0; k < m->series[i].n; k++, n++) {
			double r = pair_value(&m->series[i].v[k], RATIO);
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

/*
 * Has every instance enough undisturbed pairs? Or enough of any, if the time is over, and there will not be enough
 * undisturbed ones even late?
 */
static bool enough(const struct run_state *m)
{
	bool late = m->out->running >= PATIENCE * m->p.max_seconds, over = m->out->running >= m->p.max_seconds;

	for (uint32_t i = 0; i < m->p.instances; i++) {
		const struct series *s = &m->series[i];
		bool any = late || (over && PATIENCE * (double)s->clean < LEAST);
		if ((any ? s->n : s->clean) < LEAST)
			return false;
	}
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

static bool few_are_precise(const struct run_state *m)
{
	struct estimate e = over_few(m, m->s->sides == 2 ? RATIO : SECONDS_A);

	return e.se <= m->p.target * (m->s->sides == 2 ? 1 : e.value) ||
	       over_few(m, m->s->sides == 2 ? DELTA : SECONDS_A).se <= m->p.enough;
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
	sum_up_few(&as_if);
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

/* Of the instances that are wanted, as many as there is time to run, where a run takes so long. */
static uint32_t runs_afford(const struct run_state *m, double run)
{
	double all = PATIENCE * m->p.max_seconds / (run * m->s->sides * (1.0 + LEAST));

	return all >= m->p.instances ? m->p.instances : all >= SEVERAL ? (uint32_t)all : 1;
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
		if (i == 0)
			m->p.instances = runs_afford(m, t);
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
		(m.few ? sum_up_few : sum_up)(&m);
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
