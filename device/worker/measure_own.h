/*
 * measure_own.h - what taking pairs (measure.c) and making estimates of them (measure_sum.c) share; nobody else
 * includes it.
 */
#ifndef DEVICE_WORKER_MEASURE_OWN_H
#define DEVICE_WORKER_MEASURE_OWN_H

#include "device/worker/measure.h"

#define LEAST 4u /* pairs of an instance below which nothing can be said */

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

enum what { SECONDS_A, SECONDS_B, RATIO, DELTA };

double pair_value(const struct pair *p, enum what w);

/*
 * The mean over all instances. `between` gets the variance between instances, without the noise within; `within` gets
 * the part of that noise in the variance of the mean.
 */
struct estimate over_instances(struct run_state *m, enum what w, double *between, double *within);
/* From the few pairs of the first instance. */
struct estimate over_few(const struct run_state *m, enum what w);
/* Fill m->out. */
void sum_up(struct run_state *m);
void sum_up_few(struct run_state *m);

#endif
