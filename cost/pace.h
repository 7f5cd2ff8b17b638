/*
 * pace.h - foresees how long it takes to price a pair of modules here.
 */
#ifndef COST_PACE_H
#define COST_PACE_H

#include <stdbool.h>
#include <stddef.h>

#define PACE_CLASSES 24

struct pace { /* all zero: nothing was seen */
	double each; /* seconds of compiling for a byte of a module, as a whole program showed; 0: not known */
	/* by size: the logarithm of the time that pairs took over the time that was expected */
	double sum[PACE_CLASSES], weight[PACE_CLASSES];
};

/* A pair of modules of so many bytes together took so long to be priced; or was given up after that long. */
void pace_add(struct pace *p, size_t bytes, double seconds, bool given_up);
/* The seconds that such a pair is expected to take. */
double pace_of(const struct pace *p, size_t bytes);

/* Returns a size that is expected to take longer than that: the smallest power of two, within bounds. */
size_t pace_bytes(const struct pace *p, double seconds);

#endif
