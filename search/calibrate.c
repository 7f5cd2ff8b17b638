/*
 * calibrate.c - finds the weights by least squares on a log scale.
 *
 * With u the logarithms of the weights, the sum over programs of (log(model) - log(judge))^2 / noise^2, plus the sum
 * of u^2 / DOUBT^2, is made as small as possible. The second sum says how far we believe a rate to be off before
 * anything is seen: by a factor of e. So a part that no program has keeps its weight. Steps are those of Gauss and
 * Newton, damped where they would overshoot.
 *
 * What the judge finds dear matters less: the noise of a program that costs twice as much as the cheapest is twice as
 * large. A search goes on among the cheap ones, and dear ones often have a reason of their own, such as one slow kernel
 * that cheap ones do not have. (A layer of experts that is whole on every device costs ten times the best, and the
 * weights that explain that promised 5.0 ms for layouts of 2.9.)
 */
#include "search/calibrate.h"

#include <math.h>
#include <string.h>

#define N CALIBRATED_PARTS
#define NOISE 0.15 /* of the cheapest: sums of parts know nothing of overlap */
#define DOUBT 1.0
#define STEPS 60
#define LARGEST 1.0 /* a step, of a logarithm */

static double model_of(const struct calibration *row, const double *u)
{
	double sum = 0;

	for (int k = 0; k < N; k++)
		sum += exp(u[k]) * row->part[k];
	return sum;
}

/* One over the noise of a program; 0: it says nothing. */
static double surely(const struct calibration *row, size_t n, size_t i)
{
	static const double none[N];
	double least = INFINITY;

	for (size_t k = 0; k < n; k++)
		if (row[k].cost > 0)
			least = fmin(least, row[k].cost);
	return row[i].cost > 0 && model_of(&row[i], none) > 0 ? least / row[i].cost / NOISE : 0;
}

static double loss_of(const struct calibration *row, size_t n, const double *u)
{
	double sum = 0;

	for (size_t i = 0; i < n; i++)
		if (surely(row, n, i) > 0)
			sum += pow(log(model_of(&row[i], u) / row[i].cost) * surely(row, n, i), 2);
	for (int k = 0; k < N; k++)
		sum += u[k] * u[k] / (DOUBT * DOUBT);
	return sum;
}

/* Solves a x = b in place, where a is positive definite; b becomes x. */
static void solve(double a[N][N], double b[N])
{
	for (int i = 0; i < N; i++)
		for (int r = i + 1; r < N; r++) {
			double f = a[r][i] / a[i][i];
			for (int c = i; c < N; c++)
				a[r][c] -= f * a[i][c];
			b[r] -= f * b[i];
		}
	for (int i = N - 1; i >= 0; i--) {
		for (int c = i + 1; c < N; c++)
			b[i] -= a[i][c] * b[c];
		b[i] /= a[i][i];
	}
}

/* The step from u at which the sum of squares, made straight, would be least. */
static void step_of(const struct calibration *row, size_t n, const double *u, double damping, double step[N])
{
	double a[N][N] = {{0}};

	for (int k = 0; k < N; k++) {
		a[k][k] = (1 + damping) / (DOUBT * DOUBT);
		step[k] = -u[k] / (DOUBT * DOUBT);
	}
	for (size_t i = 0; i < n; i++) {
		double model = model_of(&row[i], u), sure = surely(row, n, i), slope[N], off;
		if (sure <= 0)
			continue;
		off = log(model / row[i].cost) * sure;
		for (int k = 0; k < N; k++)
			slope[k] = exp(u[k]) * row[i].part[k] / model * sure;
		for (int k = 0; k < N; k++) {
			step[k] -= slope[k] * off;
			for (int c = 0; c < N; c++)
				a[k][c] += slope[k] * slope[c];
		}
	}
	solve(a, step);
}

void calibrate(const struct calibration *row, size_t n, double weight[CALIBRATED_PARTS])
{
	double u[N] = {0}, next[N], step[N], damping = 0, now = loss_of(row, n, u), then;

	for (int t = 0; t < STEPS; t++) {
		step_of(row, n, u, damping, step);
		for (int k = 0; k < N; k++)
			next[k] = u[k] + fmax(-LARGEST, fmin(LARGEST, step[k]));
		then = loss_of(row, n, next);
		if (then < now) {
			memcpy(u, next, sizeof u);
			now = then;
			damping /= 4;
		} else {
			damping = fmax(1, 4 * damping);
		}
	}
	for (int k = 0; k < N; k++)
		weight[k] = exp(u[k]);
}
