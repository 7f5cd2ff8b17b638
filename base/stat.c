/*
 * stat.c - means, quantiles, correlations and the two distribution functions intervals need.
 *
 * Order statistics come from a sorted copy; NaN sorts last. The trimmed mean's standard error is
 * Yuen's: the squared deviations of the winsorized sample over h(h-1), where h values remain; without
 * trimming it is the ordinary one. Student's t and chi-square come from the incomplete beta and gamma
 * functions, evaluated by series and continued fractions (modified Lentz) to about 14 digits, and
 * inverted by bisection. That is slow and sure; a report makes a handful of calls.
 */
#include "base/stat.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

#define NORMAL95 1.959964
#define TINY 1e-300
#define PRECISE 1e-15

double stat_mean(const double *x, size_t n)
{
	double sum = 0;
	for (size_t i = 0; i < n; i++)
		sum += x[i];
	return n ? sum / (double)n : NAN;
}

static double squared_deviations(const double *x, size_t n, double mean)
{
	double sum = 0;
	for (size_t i = 0; i < n; i++)
		sum += (x[i] - mean) * (x[i] - mean);
	return sum;
}

double stat_var(const double *x, size_t n)
{
	return n < 2 ? 0 : squared_deviations(x, n, stat_mean(x, n)) / (double)(n - 1);
}

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;
	if (isnan(x) || isnan(y))
		return isnan(x) - isnan(y);
	return (x > y) - (x < y);
}

static double *sorted_copy(const double *x, size_t n)
{
	double *copy = MEM_NEW(n, double);
	if (n) {
		memcpy(copy, x, n * sizeof(*copy));
		qsort(copy, n, sizeof(*copy), compare);
	}
	return copy;
}

static double sorted_quantile(const double *sorted, size_t n, double q)
{
	if (n == 0)
		return NAN;
	double at = (q < 0 ? 0 : q > 1 ? 1 : q) * (double)(n - 1);
	size_t low = (size_t)at;
	double part = at - (double)low;
	return part > 0 ? sorted[low] + part * (sorted[low + 1] - sorted[low]) : sorted[low];
}

double stat_quantile(const double *x, size_t n, double q)
{
	double *sorted = sorted_copy(x, n);
	double value = sorted_quantile(sorted, n, q);
	mem_free(sorted);
	return value;
}

double stat_median(const double *x, size_t n)
{
	return stat_quantile(x, n, 0.5);
}

struct estimate stat_trimmed(const double *x, size_t n, double trim)
{
	size_t cut = (size_t)((double)n * (trim < 0 ? 0 : trim));
	if (n && cut > (n - 1) / 2)
		cut = (n - 1) / 2;
	size_t kept = n - 2 * cut;
	double *sorted = sorted_copy(x, n);
	struct estimate e = {stat_mean(sorted + cut, kept), INFINITY, n};
	for (size_t i = 0; i < cut; i++) {
		sorted[i] = sorted[cut];
		sorted[n - 1 - i] = sorted[n - 1 - cut];
	}
	if (kept >= 2) {
		double spread = squared_deviations(sorted, n, stat_mean(sorted, n));
		e.se = sqrt(spread / ((double)kept * (double)(kept - 1)));
	}
	mem_free(sorted);
	return e;
}

struct estimate stat_sum(const struct estimate *e, size_t n)
{
	struct estimate all = {0, 0, n ? e[0].n : 0};
	double variance = 0;
	for (size_t i = 0; i < n; i++) {
		all.value += e[i].value;
		variance += e[i].se * e[i].se;
		if (e[i].n < all.n)
			all.n = e[i].n;
	}
	all.se = sqrt(variance);
	return all;
}

static double nonzero(double x)
{
	return fabs(x) < TINY ? TINY : x;
}

/* The continued fraction of the incomplete beta function; converges fast for x < (a+1)/(a+b+2). */
static double beta_fraction(double a, double b, double x)
{
	double c = 1, d = 1 / nonzero(1 - (a + b) * x / (a + 1)), value = d;
	for (int m = 1; m < 10000; m++) {
		double even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
		double odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
		d = 1 / nonzero(1 + even * d);
		c = nonzero(1 + even / c);
		value *= c * d;
		d = 1 / nonzero(1 + odd * d);
		c = nonzero(1 + odd / c);
		value *= c * d;
		if (fabs(c * d - 1) < PRECISE)
			break;
	}
	return value;
}

/* log of the gamma function, without lgamma's global sign. */
static double log_gamma(double x)
{
	int sign;
	return lgamma_r(x, &sign);
}

/* Regularised incomplete beta function I_x(a, b), with 1 - x given for precision. */
static double beta_inc(double a, double b, double x, double rest)
{
	if (x <= 0 || rest <= 0)
		return x <= 0 ? 0 : 1;
	double front = exp(log_gamma(a + b) - log_gamma(a) - log_gamma(b) + a * log(x) + b * log(rest));
	if (x < (a + 1) / (a + b + 2))
		return front * beta_fraction(a, b, x) / a;
	return 1 - front * beta_fraction(b, a, rest) / b;
}

/* P(|T| > t); beyond a million degrees of freedom it is the normal's to all printed digits. */
static double t_two_tails(double t, double df)
{
	if (df > 1e6)
		return erfc(t / sqrt(2));
	double sum = df + t * t;
	return beta_inc(df / 2, 0.5, df / sum, t * t / sum);
}

double stat_t(double coverage, double df)
{
	if (coverage <= 0)
		return 0;
	if (coverage >= 1 || !(df > 0))
		return INFINITY;
	double low = 0, high = 1;
	while (t_two_tails(high, df) > 1 - coverage && high < 1e300)
		high *= 2;
	for (int i = 0; i < 200 && low < high; i++) {
		double middle = low + (high - low) / 2;
		if (middle == low || middle == high)
			break;
		if (t_two_tails(middle, df) > 1 - coverage)
			low = middle;
		else
			high = middle;
	}
	return high;
}

double stat_widening(double df)
{
	return df < 1 ? INFINITY : stat_t(0.95, df) / NORMAL95;
}

double stat_pearson(const double *x, const double *y, size_t n)
{
	double mx = stat_mean(x, n), my = stat_mean(y, n), xy = 0;
	double spread = sqrt(squared_deviations(x, n, mx)) * sqrt(squared_deviations(y, n, my));
	for (size_t i = 0; i < n; i++)
		xy += (x[i] - mx) * (y[i] - my);
	if (spread == 0)
		return 0;
	double r = xy / spread;
	return r > 1 ? 1 : r < -1 ? -1 : r;
}

struct placed {
	double value;
	size_t place;
};

void stat_rank(const double *x, size_t n, double *rank)
{
	struct placed *order = MEM_NEW(n, struct placed);
	for (size_t i = 0; i < n; i++)
		order[i] = (struct placed){x[i], i};
	qsort(order, n, sizeof(*order), compare); /* the value comes first in struct placed */
	for (size_t i = 0, j; i < n; i = j) {
		for (j = i + 1; j < n && order[j].value == order[i].value;)
			j++;
		for (size_t k = i; k < j; k++)
			rank[order[k].place] = ((double)i + 1 + (double)j) / 2;
	}
	mem_free(order);
}

double stat_spearman(const double *x, const double *y, size_t n)
{
	double *rx = MEM_NEW(n, double), *ry = MEM_NEW(n, double);
	stat_rank(x, n, rx);
	stat_rank(y, n, ry);
	double r = stat_pearson(rx, ry, n);
	mem_free(rx);
	mem_free(ry);
	return r;
}
