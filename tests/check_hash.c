/*
 * check_hash.c - SHA-256 against published vectors and another implementation's digests; the
 * fast hash for stability (it is stored), spread and order.
 */
#include "base/hash.h"

#include <stdlib.h>
#include "base/mem.h"
#include "base/rng.h"
#include "tests/test.h"

static void published_vectors(void)
{
	char *million = mem_alloc(1000001);
	memset(million, 'a', 1000000);
	million[1000000] = '\0';
	const struct {
		const char *text, *hex;
	} table[] = {
		{"", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"},
		{"abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"},
		{"abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
			"248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"},
		{million, "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0"},
	};
	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		struct digest d;
		char hex[65];
		sha256_of(table[i].text, strlen(table[i].text), &d);
		digest_hex(&d, hex);
		CHECK_STR(hex, table[i].hex);
	}
	mem_free(million);
}

/* Compares the digest of the digests of messages of 0 to 300 bytes with that of another implementation. */
static void every_length(void)
{
	uint8_t message[300];
	struct sha256 all;
	struct digest d;
	char hex[65];
	sha256_init(&all);
	for (size_t n = 0; n <= 300; n++) {
		if (n)
			message[n - 1] = (uint8_t)((n - 1) * 7);
		sha256_of(message, n, &d);
		sha256_add(&all, d.byte, sizeof(d.byte));
	}
	sha256_end(&all, &d);
	digest_hex(&d, hex);
	CHECK_STR(hex, "3b05b530351f50663ba5ac734c246d169eafec6b57c70dc6dc94cad39d04aad8");
}

static void pieces_give_the_whole(void)
{
	uint8_t message[200];
	for (size_t i = 0; i < sizeof(message); i++)
		message[i] = (uint8_t)(i * i);
	struct digest whole, pieces;
	sha256_of(message, sizeof(message), &whole);
	for (size_t a = 0; a <= sizeof(message); a += 3) {
		for (size_t b = a; b <= sizeof(message); b += 7) {
			struct sha256 s;
			sha256_init(&s);
			sha256_add(&s, message, a);
			sha256_add(&s, message + a, b - a);
			sha256_add(&s, message + b, sizeof(message) - b);
			sha256_end(&s, &pieces);
			CHECK(memcmp(&whole, &pieces, sizeof(whole)) == 0);
		}
	}
}

static void hex_of_bytes(void)
{
	struct digest d = {{0, 1, 0x2f, 0xff}};
	char hex[65];
	digest_hex(&d, hex);
	CHECK_INT(strlen(hex), 64);
	CHECK_INT(strncmp(hex, "00012fff0000", 12), 0);
}

/* Files hold these numbers, so a change here is a change of format. */
static void stable(void)
{
	CHECK(hash_mix(1, 2) == 0x369c9effabe0e55c);
	CHECK(hash64("vantage", 7, 0) == 0x8dd16388c9bd30d7);
	CHECK(hash64("vantage learns", 14, 5) == 0x50f0373380133148);
	CHECK(hash_zobrist(3, 1) == 0xa3bc71e78c5d8b24);
}

static void order_and_length_matter(void)
{
	CHECK(hash_mix(hash_mix(0, 1), 2) != hash_mix(hash_mix(0, 2), 1));
	CHECK(hash64("\0", 1, 0) != hash64("\0\0", 2, 0));
	CHECK(hash64("", 0, 0) != hash64("", 0, 1));
	CHECK(hash_zobrist(1, 2) != hash_zobrist(2, 1));
	uint8_t choice[5] = {0, 1, 2, 0, 7};
	uint64_t h = hash_choices(choice, 5);
	CHECK(hash_choices(choice, 0) == 0 && hash_choices(choice, 4) != h);
	h = hash_change(h, 3, 0, 6);
	choice[3] = 6;
	CHECK(h == hash_choices(choice, 5));
}

/* Flipping any input bit flips each output bit about half of the time. */
static void avalanche(void)
{
	enum { ROUNDS = 400 };
	static int flips[64];
	int low = ROUNDS * 128, high = 0;
	struct rng r;
	rng_seed(&r, 1);
	for (int round = 0; round < ROUNDS; round++) {
		uint64_t key[2] = {rng_u64(&r), rng_u64(&r)}, h = hash64(key, 16, 0);
		for (int bit = 0; bit < 128; bit++) {
			key[bit / 64] ^= (uint64_t)1 << bit % 64;
			uint64_t changed = h ^ hash64(key, 16, 0);
			key[bit / 64] ^= (uint64_t)1 << bit % 64;
			for (int k = 0; k < 64; k++)
				flips[k] += (int)(changed >> k & 1);
		}
	}
	for (int k = 0; k < 64; k++) {
		low = flips[k] < low ? flips[k] : low;
		high = flips[k] > high ? flips[k] : high;
	}
	CHECK(low > ROUNDS * 128 * 0.49 && high < ROUNDS * 128 * 0.51);
}

static int compare(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
	return (x > y) - (x < y);
}

/* 2^18 keys of the kind we have (small numbers) have no equal hashes, nor equal low 36 bits too often. */
static void few_collisions(void)
{
	const size_t n = (size_t)test_cases(1 << 18);
	uint64_t *h = MEM_NEW(n, uint64_t);
	size_t same = 0, same_low = 0;
	for (uint64_t i = 0; i < n; i++)
		h[i] = hash_zobrist(i / 8, i % 8);
	qsort(h, n, sizeof(*h), compare);
	for (size_t i = 1; i < n; i++)
		same += h[i] == h[i - 1];
	for (size_t i = 0; i < n; i++)
		h[i] &= ((uint64_t)1 << 36) - 1;
	qsort(h, n, sizeof(*h), compare);
	for (size_t i = 1; i < n; i++)
		same_low += h[i] == h[i - 1];
	CHECK_INT(same, 0);
	CHECK(same_low < 3); /* expected: 0.5 */
	mem_free(h);
}

int main(void)
{
	RUN(published_vectors);
	RUN(every_length);
	RUN(pieces_give_the_whole);
	RUN(hex_of_bytes);
	RUN(stable);
	RUN(order_and_length_matter);
	RUN(avalanche);
	RUN(few_collisions);
	return test_done();
}
