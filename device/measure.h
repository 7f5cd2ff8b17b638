/*
 * measure.h - how two programs are timed against each other; the policy, apart from any device.
 *
 * The subject runs programs and reads clocks; tests give one whose clock is a formula.
 */
#ifndef DEVICE_MEASURE_H
#define DEVICE_MEASURE_H

#include "base/rng.h"
#include "base/stat.h"
#include "device/device.h"

struct measure_subject {
	void *ctx;
	int sides; /* 2: a pair; 1: one program alone */
	/* Runs side 0 (a) or 1 (b) of an instance `times` times: seconds in all. -1 ends the
	 * measurement. */
	int (*run)(void *ctx, int side, uint32_t instance, uint32_t times, double *seconds);
	long (*switches)(void *ctx); /* times the runs were preempted so far */
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

/* 0, or -1 as soon as the subject's run fails; `out` then holds nothing to be used. */
int measure(const struct measure_subject *s, const struct precision *p, struct rng *r,
	struct measured *out);
void measured_release(struct measured *m);

/*
 * What two loads of one program differ by, as the variance of their log ratio, by duration: the
 * part of the error that a single pair of instances cannot see. Starts from a guess and learns from
 * pairs of one program with itself and from measurements with several instances.
 */
#define PRIOR_CLASSES 32
struct prior { /* prior_init first */
	double sum[PRIOR_CLASSES], weight[PRIOR_CLASSES];
};
void prior_init(struct prior *p);
/* An observed variance between instances (its own noise taken off, so it may be negative). */
void prior_add(struct prior *p, double seconds, double variance, double weight);
/* Times what few observations need so that +-1.96 standard errors cover 95%. */
double prior_variance(const struct prior *p, double seconds);
/* Observations around this duration, the initial guess not counted. */
double prior_weight(const struct prior *p, double seconds);

#endif
