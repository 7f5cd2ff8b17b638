/*
 * pace.c - the time that a pair of modules takes to be priced, by its size.
 *
 * Before anything was priced, the program itself says what a byte of a module costs: opening it was one compile. What
 * a pair took then corrects that: the ratio of what it took to what was expected, in a class for each power of two of
 * the bytes. A class borrows from its neighbours, with weights that halve per step. Most of what a small pair takes
 * is its timing, most of what a large one takes is its compiling; the classes keep these apart without anybody saying
 * which is which, and a busy machine shows in all of them.
 *
 * Bytes are a poor measure of a compiler's work, but the best that is known before asking it: one kernel of many
 * instructions takes longer than as many small ones. So whoever spends by these figures also bounds what he spends
 * (search/share.c).
 */
#include "cost/pace.h"

#include <math.h>
#include <stdlib.h>

#define LEAST 0.2    /* seconds of the smallest pair: two compilations and the timing */
#define EACH 20e-6   /* seconds for a byte, where no program has shown it */
#define GUESS 1.0    /* what is expected beforehand counts as so many observations */
#define MEMORY 0.9   /* what was seen before counts by so much less with each new observation of its class */
#define RUNNING_OUT 2.0 /* what was given up would have taken longer, nobody knows how much: so many times */

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

	/* it was not given the time that it was expected to take: nothing is learnt */
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
