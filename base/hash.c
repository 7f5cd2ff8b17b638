/*
 * hash.c - a fast 64-bit mixer for tables, and SHA-256 (FIPS 180-4) for names that must last.
 *
 * hash_mix is a bijection in the word for a fixed running hash and in the running hash for a fixed
 * word: two inputs that differ in one word never collide. hash64 takes eight bytes at a time, read
 * little-endian on every machine; the length goes in last, so trailing zeros count.
 */
#include "base/hash.h"

#include <string.h>

uint64_t hash_mix(uint64_t h, uint64_t v)
{
	uint64_t x = (h + 0x9e3779b97f4a7c15) ^ (v * 0xa0761d6478bd642f);
	x = (x ^ (x >> 32)) * 0xd6e8feb86659fd93;
	x = (x ^ (x >> 29)) * 0xe7037ed1a0b428db;
	return x ^ (x >> 32);
}

static uint64_t load_le(const uint8_t *p, size_t n)
{
	uint64_t v = 0;
	for (size_t i = 0; i < n; i++)
		v |= (uint64_t)p[i] << (8 * i);
	return v;
}

uint64_t hash64(const void *p, size_t n, uint64_t seed)
{
	const uint8_t *byte = p;
	uint64_t h = hash_mix(0x589965cc75374cc3, seed);
	size_t i = 0;
	for (; i + 8 <= n; i += 8)
		h = hash_mix(h, load_le(byte + i, 8));
	if (i < n)
		h = hash_mix(h, load_le(byte + i, n - i));
	return hash_mix(h, n);
}

uint64_t hash_zobrist(uint64_t position, uint64_t value)
{
	return hash_mix(hash_mix(0x1d8e4e27c47d124f, position), value);
}

uint64_t hash_choices(const uint8_t *choice, uint32_t n)
{
	uint64_t h = 0;

	for (uint32_t i = 0; i < n; i++)
		h ^= hash_zobrist(i, choice[i]);
	return h;
}

static const uint32_t round_constant[64] = {0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5,
	0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5, 0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3,
	0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174, 0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc,
	0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da, 0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7,
	0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967, 0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13,
	0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85, 0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3,
	0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070, 0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5,
	0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3, 0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208,
	0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

static uint32_t rotate(uint32_t x, int by)
{
	return x >> by | x << (32 - by);
}

static void sha256_block(uint32_t *state, const uint8_t *p)
{
	uint32_t w[64], v[8];
	for (int i = 0; i < 16; i++)
		w[i] = (uint32_t)p[4 * i] << 24 | (uint32_t)p[4 * i + 1] << 16 |
			(uint32_t)p[4 * i + 2] << 8 | p[4 * i + 3];
	for (int i = 16; i < 64; i++) {
		uint32_t a = w[i - 15], b = w[i - 2];
		uint32_t s0 = rotate(a, 7) ^ rotate(a, 18) ^ a >> 3;
		uint32_t s1 = rotate(b, 17) ^ rotate(b, 19) ^ b >> 10;
		w[i] = w[i - 16] + s0 + w[i - 7] + s1;
	}
	memcpy(v, state, sizeof(v));
	for (int i = 0; i < 64; i++) {
		uint32_t a = v[0], e = v[4];
		uint32_t s1 = rotate(e, 6) ^ rotate(e, 11) ^ rotate(e, 25);
		uint32_t t1 = v[7] + s1 + ((e & v[5]) ^ (~e & v[6])) + round_constant[i] + w[i];
		uint32_t s0 = rotate(a, 2) ^ rotate(a, 13) ^ rotate(a, 22);
		uint32_t t2 = s0 + ((a & v[1]) ^ (a & v[2]) ^ (v[1] & v[2]));
		memmove(v + 1, v, 7 * sizeof(v[0]));
		v[4] += t1;
		v[0] = t1 + t2;
	}
	for (int i = 0; i < 8; i++)
		state[i] += v[i];
}

void sha256_init(struct sha256 *s)
{
	*s = (struct sha256){.state = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f,
				     0x9b05688c, 0x1f83d9ab, 0x5be0cd19}};
}

void sha256_add(struct sha256 *s, const void *p, size_t n)
{
	const uint8_t *byte = p;
	size_t held = s->length % 64;
	s->length += n;
	if (held) {
		size_t take = n < 64 - held ? n : 64 - held;
		memcpy(s->block + held, byte, take);
		byte += take;
		n -= take;
		if (held + take < 64)
			return;
		sha256_block(s->state, s->block);
	}
	for (; n >= 64; byte += 64, n -= 64)
		sha256_block(s->state, byte);
	if (n)
		memcpy(s->block, byte, n);
}

void sha256_end(struct sha256 *s, struct digest *out)
{
	uint64_t bits = s->length * 8;
	uint8_t tail[72] = {0x80};
	size_t pad = 1 + (119 - s->length % 64) % 64;
	for (size_t i = 0; i < 8; i++)
		tail[pad + i] = (uint8_t)(bits >> (56 - 8 * i));
	sha256_add(s, tail, pad + 8);
	for (size_t i = 0; i < 32; i++)
		out->byte[i] = (uint8_t)(s->state[i / 4] >> (24 - 8 * (i % 4)));
}

void sha256_of(const void *p, size_t n, struct digest *out)
{
	struct sha256 s;
	sha256_init(&s);
	sha256_add(&s, p, n);
	sha256_end(&s, out);
}

void digest_hex(const struct digest *d, char hex[65])
{
	for (size_t i = 0; i < 64; i++)
		hex[i] = "0123456789abcdef"[d->byte[i / 2] >> (i % 2 ? 0 : 4) & 15];
	hex[64] = '\0';
}

