/*
 * chi.h - the chi-square distribution, by which tests judge whether frequencies are those they should be.
 */
#ifndef TESTS_CHI_H
#define TESTS_CHI_H

#include <math.h>

#define CHI_PRECISE 1e-15
#define CHI_TINY 1e-300

static inline double away_from_0(double x)
{
	return fabs(x) < CHI_TINY ? CHI_TINY : x;
}

/* Lower incomplete gamma by its power series, for x < a + 1. */
static inline double gamma_series(double a, double x)
{
	double term = 1 / a, sum = term;
	for (double k = a + 1; k < a + 100000 && term > sum * CHI_PRECISE; k++) {
		term *= x / k;
		sum += term;
	}
	return sum;
}

/* Upper incomplete gamma by its continued fraction, for x >= a + 1. */
static inline double gamma_fraction(double a, double x)
{
	double b = x + 1 - a, c = 1 / CHI_TINY, d = 1 / away_from_0(b), value = d;
	for (int i = 1; i < 100000; i++) {
		double an = i * (a - i);
		b += 2;
		d = 1 / away_from_0(b + an * d);
		c = away_from_0(b + an / c);
		value *= c * d;
		if (fabs(c * d - 1) < CHI_PRECISE)
			break;
	}
	return value;
}

/* Upper tail of the distribution: P(X >= x) with df degrees of freedom. */
static inline double chi2_tail(double x, double df)
{
	if (!(x > 0) || !(df > 0))
		return isnan(x) || isnan(df) ? NAN : x > 0 ? 0 : 1;
	double a = df / 2, half = x / 2;
	double front = exp(a * log(half) - half - lgamma(a));
	return half < a + 1 ? 1 - front * gamma_series(a, half) : front * gamma_fraction(a, half);
}

#endif
