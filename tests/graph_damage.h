/*
 * graph_damage.h - real programs, cut short and with bits flipped.
 *
 * A message that is cut off, or has a flipped bit, is refused with a sentence, or is still a program. Then everything
 * can be done with it that we do with a program (consume.h).
 */
#ifndef TESTS_GRAPH_DAMAGE_H
#define TESTS_GRAPH_DAMAGE_H

#include <stdlib.h>
#include "base/io.h"
#include "tests/consume.h"

/* Reads the bytes in memory of exactly their size, so that a sanitizer sees reads beyond it. True: it is a program. */
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

/* Reads every step-th prefix; returns how many are programs. */
static inline size_t damage_cuts(const struct buf *b, size_t step)
{
	size_t taken = 0;
	for (size_t n = 0; n < b->len; n += step)
		taken += damage_feed(b->data, n, n);
	return taken;
}

/* Flips single bits, `count` in all, anywhere; returns how many leave a program. */
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
