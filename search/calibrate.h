/*
 * calibrate.h - corrects a model that adds up parts, by what a better judge said of a few programs.
 *
 * A price of the model is a sum of parts: work, bytes, exchanges. Each part has a rate, which was looked up somewhere.
 * If the judge priced some of the same programs, each part gets a weight with which the sums come nearest to the judge,
 * as ratios. Weights begin at 1, and few programs move them little: see calibrate.c.
 */
#ifndef SEARCH_CALIBRATE_H
#define SEARCH_CALIBRATE_H

#include <stddef.h>

#define CALIBRATED_PARTS 4

struct calibration { /* a program */
	double part[CALIBRATED_PARTS]; /* by the model */
	double cost;		       /* by the judge */
};

/* Sets the weights; without programs they are 1. Rows without a cost, or without parts, do not count. */
void calibrate(const struct calibration *row, size_t n, double weight[CALIBRATED_PARTS]);

#endif
