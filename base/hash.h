/*
 * hash.h - three hashes, each for one purpose.
 *
 * hash64/hash_mix: fast, 64 bits, for tables in memory, structural hashes, Zobrist keys. Stable
 * across runs and machines (they are stored), not meant against an adversary.
 * sha256: the names of blobs that must still be trusted years from now (graphs, models, raw times).
 */
#ifndef BASE_HASH_H
#define BASE_HASH_H

#include <stddef.h>
#include <stdint.h>

uint64_t hash64(const void *p, size_t n, uint64_t seed);
/* Mixes a word into a running hash; order matters. */
uint64_t hash_mix(uint64_t h, uint64_t v);
/* The key of (position, value) for Zobrist hashing: xor them together. */
uint64_t hash_zobrist(uint64_t position, uint64_t value);
/* The hash of a configuration: one choice per place. hash_change gives the hash after one place changed its choice. */
uint64_t hash_choices(const uint8_t *choice, uint32_t n);
static inline uint64_t hash_change(uint64_t h, uint32_t place, uint8_t from, uint8_t to)
{
	return h ^ hash_zobrist(place, from) ^ hash_zobrist(place, to);
}

struct sha256 {
	uint32_t state[8];
	uint64_t length;
	uint8_t block[64];
};
struct digest {
	uint8_t byte[32];
};
void sha256_init(struct sha256 *s);
void sha256_add(struct sha256 *s, const void *p, size_t n);
void sha256_end(struct sha256 *s, struct digest *out);
void sha256_of(const void *p, size_t n, struct digest *out);
/* Lower-case hex, 64 digits and NUL. */
void digest_hex(const struct digest *d, char hex[65]);

#endif
