/*
 * check_calibrate.c - weights are found that made the judge's figures; what nothing is known of keeps its own.
 */
#include "search/calibrate.h"

#include <math.h>
#include "base/rng.h"
#include "tests/test.h"

#define ROWS 200

static const double truth[CALIBRATED_PARTS] = {4, 0.5, 1.5, 1};

/* Programs in which the parts have other shares each, priced by the true weights. */
static void make(struct calibration *row, size_t n, int parts)
{
	struct rng r;

	rng_seed2(&r, 7, 1);
	for (size_t i = 0; i < n; i++) {
		row[i] = (struct calibration){{0}, 0};
		for (int k = 0; k < parts; k++) {
			row[i].part[k] = 1e-3 * exp(4 * rng_unit(&r));
			row[i].cost += truth[k] * row[i].part[k];
		}
	}
}

static double worst(const struct calibration *row, size_t n, const double *weight)
{
	double off = 0;

	for (size_t i = 0; i < n; i++) {
		double sum = 0;
		for (int k = 0; k < CALIBRATED_PARTS; k++)
			sum += weight[k] * row[i].part[k];
		off = fmax(off, fabs(log(sum / row[i].cost)));
	}
	return off;
}

static void true_weights_are_found(void)
{
	static const double one[CALIBRATED_PARTS] = {1, 1, 1, 1};
	struct calibration row[ROWS];
	double weight[CALIBRATED_PARTS];

	make(row, ROWS, CALIBRATED_PARTS);
	CHECK(worst(row, ROWS, one) > 0.3);
	calibrate(row, ROWS, weight);
	for (int k = 0; k < CALIBRATED_PARTS; k++)
		CHECK_NEAR(weight[k] / truth[k], 1, 0.1);
	CHECK(worst(row, ROWS, weight) < 0.05); /* the doubt pulls a little */
}

static void nothing_known_changes_nothing(void)
{
	struct calibration row[ROWS];
	double weight[CALIBRATED_PARTS];

	calibrate(NULL, 0, weight);
	for (int k = 0; k < CALIBRATED_PARTS; k++)
		CHECK_NEAR(weight[k], 1, 1e-12);
	make(row, ROWS, 2); /* no program has the other two */
	row[0].cost = 0;    /* it could not be priced */
	row[1] = (struct calibration){{0}, 1};
	calibrate(row, ROWS, weight);
	CHECK_NEAR(weight[0] / truth[0], 1, 0.1);
	CHECK_NEAR(weight[1] / truth[1], 1, 0.1);
	CHECK_NEAR(weight[2], 1, 1e-9);
	CHECK_NEAR(weight[3], 1, 1e-9);
}

/* One program says only that all is dearer: its largest part moves most. */
static void one_program_moves_the_largest_part(void)
{
	struct calibration row = {{9e-3, 1e-3, 0, 0}, 30e-3};
	double weight[CALIBRATED_PARTS];

	calibrate(&row, 1, weight);
	CHECK(weight[0] > weight[1] && weight[1] > 1);
	CHECK_NEAR((weight[0] * 9e-3 + weight[1] * 1e-3) / 30e-3, 1, 0.1);
}

/* Two programs that look alike and cost 1 and 10: the cheap one is believed. */
static void cheap_programs_matter_more(void)
{
	struct calibration row[] = {{{1, 1, 0, 0}, 2}, {{1, 1.2, 0, 0}, 20}};
	double weight[CALIBRATED_PARTS];

	calibrate(row, 2, weight);
	CHECK_NEAR(weight[0] + weight[1], 2, 0.3);
}

int main(void)
{
	RUN(true_weights_are_found);
	RUN(nothing_known_changes_nothing);
	RUN(cheap_programs_matter_more);
	RUN(one_program_moves_the_largest_part);
	return test_done();
}
