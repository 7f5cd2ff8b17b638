/*
 * stat.h - the few statistics measurements need. All are exact for what they claim, O(n log n) at
 * worst, and leave their input untouched unless the name says "inplace".
 */
#ifndef BASE_STAT_H
#define BASE_STAT_H

#include <stddef.h>

double stat_mean(const double *x, size_t n);
double stat_var(const double *x, size_t n); /* unbiased; 0 for n < 2 */
double stat_quantile(const double *x, size_t n, double q); /* linear between order statistics */
double stat_median(const double *x, size_t n);

struct estimate {
	double value, se; /* se: standard error of value; INFINITY when n is too small to tell */
	size_t n;
};
/* Mean without the lowest and highest `trim` share (0.2), with the winsorized standard error. */
struct estimate stat_trimmed(const double *x, size_t n, double trim);
/* The sum of independent estimates; its n is the smallest of theirs. */
struct estimate stat_sum(const struct estimate *e, size_t n);
/* Two-sided quantile of Student's t with df degrees of freedom at coverage (0.95). */
double stat_t(double coverage, double df);
/* How many times wider a 95% interval is with df degrees of freedom than with endless ones; infinite below one. */
double stat_widening(double df);

/* Both give 0 when either side is constant. */
double stat_pearson(const double *x, const double *y, size_t n);
double stat_spearman(const double *x, const double *y, size_t n); /* ties get mean ranks */
/* Ranks 1..n with ties averaged. */
void stat_rank(const double *x, size_t n, double *rank);

#endif
