/*
 * measure_machine.h - a machine on which two programs are measured, and whose disturbances are formulas.
 */
#ifndef TESTS_MEASURE_MACHINE_H
#define TESTS_MEASURE_MACHINE_H

#include <string.h>
#include "base/rng.h"
#include "device/worker/measure.h"

struct machine {
	double seconds[2]; /* of one run */
	double noise;	   /* relative, normal, per run */
	double load;	   /* relative, per instance and side */
	double drift;	   /* relative growth of all times per second passed */
	double spike;	   /* chance that a run takes ten times as long, unnoticed */
	double preempt;	   /* chance that a run takes twice as long and the kernel counts it */
	double cold;	   /* relative, what the first run of a side takes more */
	double loading;	   /* seconds, of one more instance of each side */
	double factor[2][64];
	double passed;
	long switches, runs[2], first[2];
	int fail_after, hiccup; /* `hiccup`: the run of the first side that takes a second more, by number */
	double limit;		/* that was asked for last, and what was to be the result */
	struct measured bound;
	int limits;
	long before[2]; /* runs before it was asked for */
	struct rng rng;
};

static inline int run(void *ctx, int side, uint32_t instance, uint32_t times, double *seconds)
{
	struct machine *m = ctx;
	*seconds = 0;
	if (m->fail_after && m->runs[0] + m->runs[1] >= m->fail_after)
		return -1;
	for (uint32_t i = 0; i < times; i++) {
		double t = m->seconds[side] * m->factor[side][instance];
		t *= 1 + m->noise * rng_normal(&m->rng) + m->drift * m->passed;
		t *= 1 + (m->runs[side] == 0 && i == 0 ? m->cold : 0);
		if (rng_unit(&m->rng) < m->spike)
			t *= 10;
		if (rng_unit(&m->rng) < m->preempt) {
			t *= 2;
			m->switches++;
		}
		*seconds += t;
	}
	if (side == 0 && m->hiccup && m->runs[0] + 1 == m->hiccup)
		*seconds += 1;
	m->passed += *seconds;
	m->runs[side]++;
	return 0;
}

static inline long switches(void *ctx)
{
	return ((struct machine *)ctx)->switches;
}

static inline void limit(void *ctx, double seconds, const struct measured *bound)
{
	struct machine *m = ctx;

	if (bound)
		memcpy(m->before, m->runs, sizeof m->before);
	m->limits += bound != NULL;
	m->limit = bound ? seconds : m->limit;
	m->bound = bound ? *bound : m->bound;
}

static inline double loading(void *ctx)
{
	return ((struct machine *)ctx)->loading;
}

static inline struct machine machine_of(double a, double b, uint64_t seed)
{
	struct machine m = {.seconds = {a, b}, .noise = 0.01};
	rng_seed(&m.rng, seed);
	for (int side = 0; side < 2; side++)
		for (int i = 0; i < 64; i++)
			m.factor[side][i] = 1;
	return m;
}

static inline void load_anew(struct machine *m)
{
	for (int side = 0; side < 2; side++)
		for (int i = 0; i < 64; i++)
			m->factor[side][i] = 1 + m->load * rng_normal(&m->rng);
}

static inline int go(struct machine *m, int sides, const struct precision *p, struct measured *out)
{
	struct measure_subject s = {m, sides, run, switches, limit, loading};
	struct rng r;
	rng_seed(&r, rng_u64(&m->rng));
	return measure(&s, p, &r, out);
}

#endif
