/*
 * prior.h - how much two loads of one program differ in time, as the variance of their log ratio, by duration.
 *
 * This luck is a part of a measurement's error that a single pair of instances cannot show. The prior starts from a
 * guess. It learns from pairs of one program with itself, and from measurements with several instances.
 */
#ifndef DEVICE_PRIOR_H
#define DEVICE_PRIOR_H

#define PRIOR_CLASSES 32
/* Instances are compiled again, to see how compilations differ, if that takes at most so many times the running. */
#define COMPILE_SHARE 2.0
/* If it takes longer, this is taken as the variance of the log ratio of two compilations: 0.3%, squared. */
#define COMPILE_VARIANCE 9e-6

struct prior { /* all zero knows nothing but the guess */
	double sum[PRIOR_CLASSES], weight[PRIOR_CLASSES];
};

/* An observed variance between instances (its own noise taken off, so it may be negative). */
void prior_add(struct prior *p, double seconds, double variance, double weight);
/* The variance between two loads, widened for few observations so that +-1.96 standard errors cover 95%. */
double prior_variance(const struct prior *p, double seconds);
/* Observations around this duration, the first guess not counted. */
double prior_weight(const struct prior *p, double seconds);

#endif
