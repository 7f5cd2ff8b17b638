/*
 * pace.c - foresees how long it takes to price a pair of modules, by their size.
 *
 * At first there is only the program itself: opening it was one compile, which tells the seconds for a byte. Each pair
 * that is priced corrects this, by the ratio of the time that it took to the time that was expected. There is one such
 * correction for each power of two of the bytes, because a small pair takes most of its time to be timed, and a large
 * one to be compiled. A class without experience borrows from its neighbours, with weights that halve per step.
 *
 * Bytes are a poor measure of a compiler's work: one kernel of many instructions takes longer than as many small ones.
 * But nothing better is known before asking the compiler. So time is never spent by these figures alone
 * (search/share.c).
 */
#include "cost/pace.h"

#include <math.h>
#include <stdlib.h>

#define SMALLEST ((size_t)64 << 10) /* bytes that pace_bytes answers */
#define LARGEST ((size_t)1 << 30)
#define LEAST 0.2    /* seconds of the smallest pair: two compilations and the timing */
#define EACH 20e-6   /* seconds for a byte, where no program has shown it */
#define GUESS 1.0    /* what is expected beforehand counts as so many observations */
#define MEMORY 0.9   /* the weight of older observations, for each new one of their class */
#define RUNNING_OUT 2.0 /* what was given up is taken to need so many times what it had */

static int class_of(size_t bytes)
{
	double c = floor(log2(fmax((double)bytes, 1)));

	return c >= PACE_CLASSES ? PACE_CLASSES - 1 : (int)c;
}

static double expected(const struct pace *p, size_t bytes)
{
	return LEAST + (p->each > 0 ? p->each : EACH) * (double)bytes;
}

void pace_add(struct pace *p, size_t bytes, double seconds, bool given_up)
{
	int c = class_of(bytes);
	double ratio = fmax(seconds, 1e-3) * (given_up ? RUNNING_OUT : 1) / expected(p, bytes);

	/* If it had less time than it was expected to take, nothing is learnt. */
	if (given_up && seconds < pace_of(p, bytes))
		return;
	p->sum[c] = MEMORY * p->sum[c] + log(ratio);
	p->weight[c] = MEMORY * p->weight[c] + 1;
}

double pace_of(const struct pace *p, size_t bytes)
{
	double sum = 0, weight = GUESS;

	for (int k = 0; k < PACE_CLASSES; k++) {
		double near = exp2(-abs(k - class_of(bytes)));
		sum += near * p->sum[k];
		weight += near * p->weight[k];
	}
	return expected(p, bytes) * exp(sum / weight);
}

size_t pace_bytes(const struct pace *p, double seconds)
{
	size_t bytes = SMALLEST;

	while (bytes < LARGEST && pace_of(p, bytes) <= seconds)
		bytes *= 2;
	return bytes;
}
