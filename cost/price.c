/*
 * price.c - a hash table with linear probing. It is doubled when half full, and emptied at its limit: prices
 * that are still needed come back from the store, or are measured again.
 */
#include "cost/price.h"

void prices_release(struct prices *t)
{
	mem_free(t->slot);
	*t = (struct prices){0};
}

static struct price_slot *find(const struct prices *t, const uint64_t key[2])
{
	uint32_t at = (uint32_t)hash_mix(key[0], key[1]) & (t->size - 1);

	while (t->slot[at].used && (t->slot[at].key[0] != key[0] || t->slot[at].key[1] != key[1]))
		at = (at + 1) & (t->size - 1);
	return &t->slot[at];
}

const struct price *prices_get(const struct prices *t, const uint64_t key[2])
{
	const struct price_slot *s = t->size ? find(t, key) : NULL;
	return s && s->used ? &s->price : NULL;
}

static void grow(struct prices *t)
{
	struct prices old = *t;
	bool keep = t->n < PRICES_LIMIT;

	t->size = keep ? (old.size ? old.size * 2 : 256) : 256;
	t->slot = MEM_NEW(t->size, struct price_slot);
	t->n = keep ? old.n : 0;
	for (uint32_t i = 0; keep && i < old.size; i++)
		if (old.slot[i].used)
			*find(t, old.slot[i].key) = old.slot[i];
	mem_free(old.slot);
}

void prices_put(struct prices *t, const uint64_t key[2], const struct price *p)
{
	struct price_slot *s;

	if (t->n >= t->size / 2)
		grow(t);
	s = find(t, key);
	t->n += !s->used;
	*s = (struct price_slot){{key[0], key[1]}, *p, true};
}

bool price_turn(const uint64_t key[2], uint64_t kept[2])
{
	bool swap = key[0] > key[1];

	kept[0] = key[swap];
	kept[1] = key[!swap];
	return swap;
}

struct price price_turned(struct price p)
{
	double a = p.seconds_a;

	p.delta = p.delta == 0 ? 0 : -p.delta; /* never minus zero */
	p.seconds_a = p.seconds_b;
	p.seconds_b = a;
	return p;
}
