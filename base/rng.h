/*
 * rng.h - random numbers that can be seeded, saved and resumed.
 *
 * The state is plain data (4 words): copy it to fork a stream, store it to resume one. Same seed,
 * same numbers, on every machine. Not for secrets.
 */
#ifndef BASE_RNG_H
#define BASE_RNG_H

#include <stddef.h>
#include <stdint.h>

struct rng {
	uint64_t s[4];
};

void rng_seed(struct rng *r, uint64_t seed);
/* A stream of its own for (seed, purpose), e.g. one per chain or per thread. */
void rng_seed2(struct rng *r, uint64_t seed, uint64_t stream);
uint64_t rng_u64(struct rng *r);
void rng_fill(struct rng *r, uint64_t *v, size_t n); /* as n calls of rng_u64, but several times as fast */
double rng_unit(struct rng *r);			   /* [0, 1), 53 bits */
uint64_t rng_below(struct rng *r, uint64_t n);	   /* [0, n) without bias; n > 0 */
double rng_normal(struct rng *r);		   /* mean 0, variance 1; keeps no hidden state */
void rng_shuffle(struct rng *r, uint32_t *v, size_t n);
/* Draws index i with probability weight[i] / sum; weights >= 0, at least one > 0. */
size_t rng_pick(struct rng *r, const double *weight, size_t n);

#endif
