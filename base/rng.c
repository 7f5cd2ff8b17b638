/*
 * rng.c - xoshiro256** (Blackman and Vigna 2018), seeded through splitmix64.
 *
 * Chosen because its whole state is four words: small enough to store with every run and every
 * chain. Each stream starts at a state hashed from (seed, stream): with 2^256 states, two streams as
 * long as ours do not meet.
 */
#include "base/rng.h"

#include <math.h>
#include "base/err.h"

__extension__ typedef unsigned __int128 u128;

static uint64_t splitmix(uint64_t *x)
{
	uint64_t z = *x += 0x9e3779b97f4a7c15;
	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
	z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
	return z ^ (z >> 31);
}

void rng_seed(struct rng *r, uint64_t seed)
{
	for (int i = 0; i < 4; i++)
		r->s[i] = splitmix(&seed);
}

void rng_seed2(struct rng *r, uint64_t seed, uint64_t stream)
{
	uint64_t mixed = splitmix(&seed) ^ (stream * 0xd1342543de82ef95 + 1);
	rng_seed(r, splitmix(&mixed));
}

static uint64_t rotate(uint64_t x, int by)
{
	return x << by | x >> (64 - by);
}

static inline uint64_t next(uint64_t s[4])
{
	uint64_t result = rotate(s[1] * 5, 7) * 9, t = s[1] << 17;
	s[2] ^= s[0];
	s[3] ^= s[1];
	s[1] ^= s[2];
	s[0] ^= s[3];
	s[2] ^= t;
	s[3] = rotate(s[3], 45);
	return result;
}

uint64_t rng_u64(struct rng *r)
{
	return next(r->s);
}

void rng_fill(struct rng *r, uint64_t *v, size_t n)
{
	struct rng own = *r; /* in registers */

	for (size_t i = 0; i < n; i++)
		v[i] = next(own.s);
	*r = own;
}

double rng_unit(struct rng *r)
{
	return (double)(rng_u64(r) >> 11) * 0x1p-53;
}

/* The high word of the product is nearly uniform; the few draws that would bias it are drawn again. */
uint64_t rng_below(struct rng *r, uint64_t n)
{
	BUG_ON(n == 0);
	u128 product = (u128)rng_u64(r) * n;
	if ((uint64_t)product < n) {
		uint64_t reject = (0 - n) % n;
		while ((uint64_t)product < reject)
			product = (u128)rng_u64(r) * n;
	}
	return (uint64_t)(product >> 64);
}

/* Box and Muller's method. We throw away its second number, so that no hidden state remains. */
double rng_normal(struct rng *r)
{
	double u = 1 - rng_unit(r), v = rng_unit(r);
	return sqrt(-2 * log(u)) * cos(6.283185307179586 * v);
}

void rng_shuffle(struct rng *r, uint32_t *v, size_t n)
{
	for (size_t i = n; i > 1; i--) {
		size_t j = (size_t)rng_below(r, i);
		uint32_t t = v[i - 1];
		v[i - 1] = v[j];
		v[j] = t;
	}
}

size_t rng_pick(struct rng *r, const double *weight, size_t n)
{
	double sum = 0;
	size_t last = n;
	for (size_t i = 0; i < n; i++)
		sum += weight[i];
	double x = rng_unit(r) * sum;
	for (size_t i = 0; i < n; i++) {
		if (weight[i] <= 0)
			continue;
		last = i;
		x -= weight[i];
		if (x < 0)
			return i;
	}
	BUG_ON(last == n); /* no weight above 0 */
	return last;	   /* rounding left a crumb beyond the sum */
}
