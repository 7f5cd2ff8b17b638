/*
 * check_rng.c - the generator gives published numbers, goes on from saved states, and has the distributions that it
 * should have. All seeds are fixed, so nothing fails by chance.
 */
#include "base/rng.h"

#include "base/stat.h"
#include "tests/chi.h"
#include "tests/test.h"

/* The generator's published first outputs from the state 1 2 3 4. */
static void published_numbers(void)
{
	static const uint64_t want[] = {11520, 0, 1509978240, 1215971899390074240, 1216172134540287360,
		607988272756665600, 16172922978634559625u, 8476171486693032832, 10595114339597558777u,
		2904607092377533576};
	struct rng r = {{1, 2, 3, 4}};
	for (size_t i = 0; i < sizeof(want) / sizeof(want[0]); i++)
		CHECK(rng_u64(&r) == want[i]);
	/* Seeding is splitmix64, whose numbers from seed 0 are published as well. */
	rng_seed(&r, 0);
	CHECK(r.s[0] == 0xe220a8397b1dcdaf && r.s[1] == 0x6e789e6aa1b965f4);
	CHECK(r.s[2] == 0x06c45d188009454f && r.s[3] == 0xf88bb8a8724c81ec);
}

static void copies_go_on_alike(void)
{
	struct rng a, b;
	rng_seed(&a, 7);
	for (int i = 0; i < 100; i++)
		rng_normal(&a);
	b = a;
	for (int i = 0; i < 100; i++) {
		CHECK(rng_u64(&a) == rng_u64(&b));
		CHECK(rng_normal(&a) == rng_normal(&b)); /* no hidden half of a pair */
	}
}

static void streams_differ(void)
{
	enum { STREAMS = 200, DRAWS = 50 };
	static double x[STREAMS][DRAWS];
	double worst = 0;
	for (uint64_t s = 0; s < STREAMS; s++) {
		struct rng r;
		rng_seed2(&r, s / 20, s % 20);
		for (int i = 0; i < DRAWS; i++)
			x[s][i] = rng_unit(&r);
	}
	for (int a = 0; a < STREAMS; a++)
		for (int b = 0; b < a; b++)
			worst = fmax(worst, fabs(stat_pearson(x[a], x[b], DRAWS)));
	CHECK(worst < 0.7); /* of 19900 pairs of 50 draws, about 0.58 is to be expected */
}

/* Returns P of a chi-square at least as large, if all k cells are equally likely. */
static double uniform_p(const uint64_t *count, size_t k)
{
	double n = 0, chi2 = 0;
	for (size_t i = 0; i < k; i++)
		n += (double)count[i];
	double expect = n / (double)k;
	for (size_t i = 0; i < k; i++)
		chi2 += ((double)count[i] - expect) * ((double)count[i] - expect) / expect;
	return chi2_tail(chi2, (double)(k - 1));
}

static void below_is_uniform(void)
{
	struct rng r;
	rng_seed(&r, 11);
	for (uint64_t n = 1; n <= 30; n++) {
		uint64_t count[30] = {0};
		for (int i = 0; i < 20000; i++) {
			uint64_t v = rng_below(&r, n);
			if (!CHECK(v < n))
				return;
			count[v]++;
		}
		CHECK(n == 1 || uniform_p(count, n) > 1e-4);
	}
}

/* For n = 3/4 of 2^64 a plain remainder would give low numbers twice as often. */
static void below_is_unbiased_for_huge_n(void)
{
	struct rng r;
	uint64_t n = (uint64_t)3 << 62, count[3] = {0};
	rng_seed(&r, 12);
	for (int i = 0; i < 30000; i++) {
		uint64_t v = rng_below(&r, n);
		if (!CHECK(v < n))
			return;
		count[v >> 62]++;
	}
	CHECK(uniform_p(count, 3) > 1e-4);
}

static void unit_is_in_its_interval(void)
{
	struct rng r;
	uint64_t count[64] = {0};
	rng_seed(&r, 13);
	for (int i = 0; i < 100000; i++) {
		double u = rng_unit(&r);
		if (!CHECK(u >= 0 && u < 1))
			return;
		count[(int)(u * 64)]++;
	}
	CHECK(uniform_p(count, 64) > 1e-4);
}

/* Draws are counted between quantiles of the normal, which come from its distribution function by bisection. */
static void normal_is_normal(void)
{
	enum { CELLS = 20, N = 100000 };
	double edge[CELLS - 1];
	for (int k = 1; k < CELLS; k++) {
		double low = -10, high = 10;
		for (int i = 0; i < 60; i++) {
			double middle = (low + high) / 2;
			if (0.5 * erfc(-middle / sqrt(2)) < (double)k / CELLS)
				low = middle;
			else
				high = middle;
		}
		edge[k - 1] = low;
	}
	struct rng r;
	uint64_t count[CELLS] = {0};
	rng_seed(&r, 14);
	for (int i = 0; i < N; i++) {
		double v = rng_normal(&r);
		int k = 0;
		while (k < CELLS - 1 && v > edge[k])
			k++;
		count[k]++;
	}
	CHECK(uniform_p(count, CELLS) > 1e-4);
}

static void shuffles_are_uniform(void)
{
	struct rng r;
	uint64_t count[24] = {0};
	rng_seed(&r, 15);
	for (int i = 0; i < 24000; i++) {
		uint32_t v[4] = {0, 1, 2, 3}, rank = 0;
		rng_shuffle(&r, v, 4);
		for (int a = 0; a < 4; a++) { /* the number of the permutation, in order */
			uint32_t smaller = 0;
			for (int b = a + 1; b < 4; b++)
				smaller += v[b] < v[a];
			rank = rank * (uint32_t)(4 - a) + smaller;
		}
		CHECK(v[0] + v[1] + v[2] + v[3] == 6);
		count[rank]++;
	}
	CHECK(uniform_p(count, 24) > 1e-4);
	rng_shuffle(&r, NULL, 0);
}

static void picks_by_weight(void)
{
	static const double weight[] = {0, 1, 0, 3, 6, 0};
	struct rng r;
	double chi2 = 0, n = 50000;
	uint64_t count[6] = {0};
	rng_seed(&r, 16);
	for (int i = 0; i < 50000; i++)
		count[rng_pick(&r, weight, 6)]++;
	CHECK(count[0] == 0 && count[2] == 0 && count[5] == 0);
	for (int k = 0; k < 6; k++)
		if (weight[k] > 0)
			chi2 += pow((double)count[k] - n * weight[k] / 10, 2) / (n * weight[k] / 10);
	CHECK(chi2_tail(chi2, 2) > 1e-4);
}

int main(void)
{
	RUN(published_numbers);
	RUN(copies_go_on_alike);
	RUN(streams_differ);
	RUN(below_is_uniform);
	RUN(below_is_unbiased_for_huge_n);
	RUN(unit_is_in_its_interval);
	RUN(normal_is_normal);
	RUN(shuffles_are_uniform);
	RUN(picks_by_weight);
	return test_done();
}
