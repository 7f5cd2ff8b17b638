/*
 * set.h - a set of numbers below a bound: a list of those that are in it, and a mark for each that could be. Adding and
 * asking take no time, emptying as long as the list is.
 */
#ifndef LEARN_SET_H
#define LEARN_SET_H

#include "base/mem.h"

struct set {
	uint32_t *v, n; /* in the order in which they came */
	uint8_t *has;
};

static inline struct set set_new(struct arena *mem, uint32_t bound)
{
	return (struct set){.v = ARENA_NEW(mem, bound, uint32_t), .has = ARENA_NEW(mem, bound, uint8_t)};
}

static inline void set_add(struct set *s, uint32_t i)
{
	if (!s->has[i]) {
		s->has[i] = 1;
		s->v[s->n++] = i;
	}
}

static inline void set_clear(struct set *s)
{
	for (uint32_t i = 0; i < s->n; i++)
		s->has[s->v[i]] = 0;
	s->n = 0;
}

#endif
