/*
 * price.h - a table of prices by region, in memory.
 *
 * The key of a region is the pair of hashes of its two sides, so the reverse move has the swapped key and the
 * opposite price. Tables and stores keep only the one whose key[0] is the smaller (price_turn).
 */
#ifndef COST_PRICE_H
#define COST_PRICE_H

#include "cost/cost.h"

#define PRICES_LIMIT (1u << 18) /* prices kept at most (20 MB); then the table starts anew */

struct prices { /* all zero is empty */
	struct price_slot {
		uint64_t key[2];
		struct price price;
		bool used;
	} *slot;
	uint32_t n, size; /* size: a power of two */
};
void prices_release(struct prices *t);
const struct price *prices_get(const struct prices *t, const uint64_t key[2]); /* NULL: not there */
void prices_put(struct prices *t, const uint64_t key[2], const struct price *p);

/* Writes the key as prices are kept; returns true if that swapped it, so that the price changes its sign. */
bool price_turn(const uint64_t key[2], uint64_t kept[2]);
struct price price_turned(struct price p);

#endif
