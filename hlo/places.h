/*
 * places.h - where a number stands in a list of dimensions, as attributes of instructions have them.
 */
#ifndef HLO_PLACES_H
#define HLO_PLACES_H

#include <stddef.h>
#include <stdint.h>

/* The first place, or -1. */
static inline int64_t place_of(const int64_t *list, size_t n, int64_t what)
{
	for (size_t i = 0; i < n; i++)
		if (list[i] == what)
			return (int64_t)i;
	return -1;
}

#endif
