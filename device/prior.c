/*
 * prior.c - see prior.h. There is a class for each power of two of the duration, from 1 us on. A class borrows from its
 * neighbours, with weights that halve per step, because the cause of the differences (where code and buffers are in
 * memory) changes slowly with size. The first guess is what we saw on XLA:CPU: 0.8% for a millisecond, and a tenth of a
 * microsecond more for short programs. It counts as GUESS observations.
 */
#include <math.h>
#include <stdlib.h>
#include "base/stat.h"
#include "device/prior.h"

#define GUESS 2.0
#define FLOOR 1e-6 /* variance: 0.1% */

static int class_of(double seconds)
{
	double c = floor(log2(fmax(seconds, 1e-6) / 1e-6));
	return c >= PRIOR_CLASSES ? PRIOR_CLASSES - 1 : (int)c;
}

void prior_add(struct prior *p, double seconds, double variance, double weight)
{
	p->sum[class_of(seconds)] += variance * weight;
	p->weight[class_of(seconds)] += weight;
}

static double borrowed(const double *v, double seconds)
{
	double sum = 0;

	for (int k = 0; k < PRIOR_CLASSES; k++)
		sum += v[k] * exp2(-abs(k - class_of(seconds)));
	return sum;
}

double prior_weight(const struct prior *p, double seconds)
{
	return borrowed(p->weight, seconds);
}

double prior_variance(const struct prior *p, double seconds)
{
	double guess = 0.008 * 0.008 + 1e-14 / fmax(seconds * seconds, 1e-12);
	double n = GUESS + prior_weight(p, seconds), wider = stat_widening(n);

	return fmax((GUESS * guess + borrowed(p->sum, seconds)) / n, FLOOR) * wider * wider;
}
