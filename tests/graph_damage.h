/*
 * graph_damage.h - real programs, cut short and with bits flipped.
 *
 * Bytes of a message that end early, or of which one bit is another, are refused with a sentence, or are
 * still a program; then everything can be made of it that we make of one (consume.h).
 */
#ifndef TESTS_GRAPH_DAMAGE_H
#define TESTS_GRAPH_DAMAGE_H

#include <stdlib.h>
#include "base/io.h"
#include "tests/consume.h"

/* Of memory of exactly that size, so that a sanitizer sees any step beyond. True where it is a program. */
static inline bool damage_feed(const char *bytes, size_t n, uint64_t seed)
{
	struct graph g = {0};
	struct err err = {0};
	char *exact = malloc(n ? n : 1);
	if (n)
		memcpy(exact, bytes, n);
	int rc = graph_parse(&g, exact, n, "damaged", &err);
	if (rc == 0)
		consume(&g, false, seed);
	else
		BUG_ON(!err.text[0] || g.n_nodes || g.mem.used);
	graph_release(&g);
	free(exact);
	return rc == 0;
}

/* Every step-th prefix; how many are programs. */
static inline size_t damage_cuts(const struct buf *b, size_t step)
{
	size_t taken = 0;
	for (size_t n = 0; n < b->len; n += step)
		taken += damage_feed(b->data, n, n);
	return taken;
}

/* `count` single bits anywhere; how many leave a program. */
static inline size_t damage_flips(struct buf *b, size_t count, uint64_t seed)
{
	struct rng r;
	size_t taken = 0;
	rng_seed(&r, seed);
	for (size_t i = 0; i < count; i++) {
		size_t at = (size_t)rng_below(&r, b->len);
		char old = b->data[at];
		b->data[at] = (char)(old ^ 1 << rng_below(&r, 8));
		taken += damage_feed(b->data, b->len, i);
		b->data[at] = old;
	}
	return taken;
}

#endif
