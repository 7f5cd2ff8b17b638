/*
 * check_stat.c - each statistic against its textbook definition, done slowly: selection sort,
 * counting, numerical integration of the densities, published tables, and simulated coverage.
 */
#include "base/rng.h"
#include "base/stat.h"

#include <stdlib.h>
#include "base/mem.h"
#include "tests/chi.h"
#include "tests/test.h"

enum { MAX_N = 60 };

/* Values with many ties when `step` is large. */
static void draw(struct rng *r, double *x, size_t n, double step)
{
	for (size_t i = 0; i < n; i++)
		x[i] = round(rng_normal(r) * 5 / step) * step;
}

static void selection_sort(double *x, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		size_t least = i;
		for (size_t k = i + 1; k < n; k++)
			if (x[k] < x[least])
				least = k;
		double t = x[i];
		x[i] = x[least];
		x[least] = t;
	}
}

static void means(void)
{
	static const double x[] = {1, 2, 4, 9};
	CHECK(isnan(stat_mean(x, 0)));
	CHECK_NEAR(stat_mean(x, 4), 4, 1e-15);
	CHECK_NEAR(stat_var(x, 4), (9 + 4 + 0 + 25) / 3.0, 1e-14);
	CHECK(stat_var(x, 1) == 0 && stat_var(x, 0) == 0);
}

static void quantiles(void)
{
	struct rng r;
	double x[MAX_N], kept[MAX_N], sorted[MAX_N];
	rng_seed(&r, 1);
	for (size_t n = 1; n < MAX_N; n++) {
		draw(&r, x, n, n % 2 ? 0.01 : 2);
		memcpy(kept, x, sizeof(x));
		memcpy(sorted, x, sizeof(x));
		selection_sort(sorted, n);
		for (double q = 0; q <= 1; q += 0.125) {
			double at = q * (double)(n - 1), low = floor(at);
			double want = sorted[(size_t)low] +
				(at - low) * (sorted[(size_t)ceil(at)] - sorted[(size_t)low]);
			CHECK_NEAR(stat_quantile(x, n, q), want, 1e-12);
		}
		CHECK_NEAR(stat_median(x, n), (sorted[(n - 1) / 2] + sorted[n / 2]) / 2, 1e-12);
		CHECK(memcmp(kept, x, n * sizeof(*x)) == 0);
	}
	CHECK(isnan(stat_median(x, 0)));
	CHECK(stat_quantile(x, 1, 7) == x[0] && stat_quantile(x, 1, -7) == x[0]);
}

/* By the definition: drops `cut` values at each end; for the error, replaces them by their neighbours. */
static struct estimate slow_trimmed(const double *x, size_t n, size_t cut)
{
	double s[MAX_N], sum = 0, mean = 0, spread = 0, kept = (double)(n - 2 * cut);
	memcpy(s, x, n * sizeof(*x));
	selection_sort(s, n);
	for (size_t i = cut; i < n - cut; i++)
		sum += s[i];
	for (size_t i = 0; i < n; i++)
		s[i] = i < cut ? s[cut] : i >= n - cut ? s[n - cut - 1] : s[i];
	for (size_t i = 0; i < n; i++)
		mean += s[i] / (double)n;
	for (size_t i = 0; i < n; i++)
		spread += pow(s[i] - mean, 2);
	return (struct estimate){sum / kept, kept < 2 ? INFINITY : sqrt(spread / (kept * (kept - 1))), n};
}

static void trimmed_means(void)
{
	struct rng r;
	double x[MAX_N];
	rng_seed(&r, 2);
	for (size_t n = 1; n < MAX_N; n++) {
		draw(&r, x, n, 0.01);
		for (size_t percent = 0; percent < 50; percent += 10) {
			struct estimate e = stat_trimmed(x, n, (double)percent / 100 + 1e-9);
			struct estimate want = slow_trimmed(x, n, n * percent / 100);
			CHECK_NEAR(e.value, want.value, 1e-12);
			CHECK(e.se == want.se || fabs(e.se - want.se) < 1e-12);
			CHECK_INT(e.n, n);
		}
	}
	CHECK(isnan(stat_trimmed(x, 0, 0.2).value));
	CHECK(stat_trimmed(x, 2, 0.9).se > 0); /* absurd trims keep the middle */
	/* Without trimming it is the ordinary mean and its error. */
	struct estimate plain = stat_trimmed(x, 40, 0);
	CHECK_NEAR(plain.se, sqrt(stat_var(x, 40) / 40), 1e-12);
}

/* For 2000 samples of 20 values with a large outlier each, 95% of the intervals hold the centre. */
static void trimmed_intervals_cover(void)
{
	struct rng r;
	double x[20];
	int covered = 0;
	rng_seed(&r, 3);
	for (int i = 0; i < 2000; i++) {
		for (int k = 0; k < 20; k++)
			x[k] = 7 + rng_normal(&r) * (rng_below(&r, 10) ? 1 : 10);
		struct estimate e = stat_trimmed(x, 20, 0.2);
		covered += fabs(e.value - 7) < stat_t(0.95, 11) * e.se;
	}
	CHECK(covered > 1880 && covered < 1940);
}

static void sums_of_estimates(void)
{
	struct estimate e[] = {{10, 1, 5}, {13, 2, 7}, {99, INFINITY, 1}};
	struct estimate s = stat_sum(e, 2);
	CHECK_NEAR(s.value, 23, 0);
	CHECK_NEAR(s.se, sqrt(5), 1e-15);
	CHECK_INT(s.n, 5);
	CHECK(isinf(stat_sum(e, 3).se));
	CHECK(stat_sum(NULL, 0).value == 0 && stat_sum(NULL, 0).se == 0);
}

/* Simpson's rule over an even number of steps. */
static double integrate(double (*f)(double, double), double df, double from, double to)
{
	int n = 4000;
	double h = (to - from) / n, sum = f(from, df) + f(to, df);
	for (int i = 1; i < n; i++)
		sum += f(from + h * i, df) * (i % 2 ? 4 : 2);
	return sum * h / 3;
}

static double t_density(double t, double df)
{
	return tgamma((df + 1) / 2) / (sqrt(df * M_PI) * tgamma(df / 2)) * pow(1 + t * t / df, -(df + 1) / 2);
}

/* The density of the square root u of a chi-square value; it is smooth where the value's own density is not. */
static double chi_density(double u, double df)
{
	return 2 * pow(u, df - 1) * exp(-u * u / 2) / (pow(2, df / 2) * tgamma(df / 2));
}

static void t_quantiles(void)
{
	static const struct {
		double df, t90, t95, t99;
	} table[] = {/* as printed in every statistics book */
		{1, 6.314, 12.706, 63.657}, {2, 2.920, 4.303, 9.925}, {3, 2.353, 3.182, 5.841},
		{5, 2.015, 2.571, 4.032}, {10, 1.812, 2.228, 3.169}, {30, 1.697, 2.042, 2.750},
		{120, 1.658, 1.980, 2.617}, {1e5, 1.645, 1.960, 2.576}, {INFINITY, 1.645, 1.960, 2.576}};
	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		CHECK_NEAR(stat_t(0.90, table[i].df), table[i].t90, 6e-4);
		CHECK_NEAR(stat_t(0.95, table[i].df), table[i].t95, 6e-4);
		CHECK_NEAR(stat_t(0.99, table[i].df), table[i].t99, 6e-4);
	}
	for (double df = 0.5; df < 200; df *= 1.7)
		for (double coverage = 0.05; coverage < 0.9; coverage += 0.2 * (11 - test_cases(10)))
			CHECK_NEAR(integrate(t_density, df, 0, stat_t(coverage, df)) * 2, coverage, 1e-9);
	CHECK(stat_t(0, 5) == 0 && isinf(stat_t(1, 5)) && isinf(stat_t(0.95, 0)));
}

static void chi2_tails(void)
{
	static const struct {
		double x, df, p;
	} table[] = {{3.841, 1, 0.05}, {5.991, 2, 0.05}, {18.307, 10, 0.05}, {23.209, 10, 0.01},
		{124.342, 100, 0.05}, {15.379, 26, 0.95}};
	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++)
		CHECK_NEAR(chi2_tail(table[i].x, table[i].df), table[i].p, 2e-5);
	for (double df = 2; df < 60; df += 3 * (11 - test_cases(10)))
		for (double x = 0.1; x < 120; x *= 1.9)
			CHECK_NEAR(1 - chi2_tail(x, df), integrate(chi_density, df, 0, sqrt(x)), 1e-9);
	CHECK(chi2_tail(0, 3) == 1 && chi2_tail(1e6, 3) == 0);
}

static void ranks_by_counting(void)
{
	struct rng r;
	double x[MAX_N], rank[MAX_N];
	rng_seed(&r, 5);
	for (size_t n = 0; n < MAX_N; n++) {
		draw(&r, x, n, n % 3 ? 3 : 0.01);
		stat_rank(x, n, rank);
		for (size_t i = 0; i < n; i++) {
			double below = 0, same = 0;
			for (size_t k = 0; k < n; k++) {
				below += x[k] < x[i];
				same += x[k] == x[i];
			}
			CHECK_NEAR(rank[i], below + (same + 1) / 2, 0);
		}
	}
}

static void correlations(void)
{
	static const double x[] = {1, 2, 3, 4, 5}, y[] = {2, 1, 4, 3, 7}, flat[] = {1, 1, 1, 1, 1};
	static const double cubes[] = {1, 8, 27, 64, 125}, down[] = {5, 4, 3, 2, 1};
	CHECK_NEAR(stat_pearson(x, y, 5), 12 / sqrt(10.0 * 21.2), 1e-12);
	CHECK_NEAR(stat_spearman(x, y, 5), 1 - 6 * 4 / (5 * 24.0), 1e-12); /* no ties: the short formula */
	CHECK_NEAR(stat_spearman(x, cubes, 5), 1, 1e-15);
	CHECK(stat_pearson(x, cubes, 5) < 1);
	CHECK_NEAR(stat_pearson(x, down, 5), -1, 1e-15);
	CHECK(stat_pearson(x, flat, 5) == 0 && stat_spearman(flat, x, 5) == 0);
	CHECK(stat_pearson(x, y, 0) == 0 && stat_pearson(x, y, 1) == 0);
}

int main(void)
{
	RUN(means);
	RUN(quantiles);
	RUN(trimmed_means);
	RUN(trimmed_intervals_cover);
	RUN(sums_of_estimates);
	RUN(t_quantiles);
	RUN(chi2_tails);
	RUN(ranks_by_counting);
	RUN(correlations);
	return test_done();
}
