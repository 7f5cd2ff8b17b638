/*
 * measure.h - how two programs are timed against each other; the policy, apart from any device.
 *
 * The subject runs programs and reads clocks; tests give one whose clock is a formula.
 */
#ifndef DEVICE_WORKER_MEASURE_H
#define DEVICE_WORKER_MEASURE_H

#include "base/rng.h"
#include "base/stat.h"
#include "device/device.h"

struct measured;

struct measure_subject {
	void *ctx;
	int sides; /* 2: a pair; 1: one program alone */
	/* Runs side 0 (a) or 1 (b) of an instance `times` times; *seconds gets the total. -1 ends the measurement. */
	int (*run)(void *ctx, int side, uint32_t instance, uint32_t times, double *seconds);
	long (*switches)(void *ctx); /* times the runs were preempted so far */
	/*
	 * What is run next need not end if it takes longer than so many seconds: `bound` is then the result. Called
	 * again with NULL as soon as it has ended. NULL: whatever is run ends.
	 */
	void (*limit)(void *ctx, double seconds, const struct measured *bound);
	double (*loading)(void *ctx); /* seconds that one more instance of each side takes; NULL: none */
};

struct measured { /* all zero is empty */
	bool gave_up;
	struct estimate a, b, ratio, delta; /* seconds; log(b / a); b - a. se: within and, from 2
					       instances on, between */
	double between; /* variance of the log ratio between instances, without the noise within; 0
			   for one */
	uint32_t pairs, dropped, instances, batch;
	double running; /* seconds, warm-up included */
	struct buf raw; /* float pairs */
};

/* Of the instances that are asked for, as many as there is time for: one more of each side takes `loading` seconds. */
uint32_t measure_affords(const struct precision *p, uint32_t have, double loading);

/* 0, or -1 as soon as the subject's run fails; `out` then holds nothing to be used. */
int measure(const struct measure_subject *s, const struct precision *p, struct rng *r,
	struct measured *out);
void measured_release(struct measured *m);

#endif
