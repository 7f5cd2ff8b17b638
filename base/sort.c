/*
 * sort.c - sorts numbers.
 *
 * Lists are short as a rule, and qsort is good for these. A long one is sorted by its bits, eleven at a time from the
 * lowest, into a second list and back: the time does not grow faster than the list. Digits in which no two numbers
 * differ take no pass, and numbers of nodes differ in two.
 */
#include "base/sort.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include "base/mem.h"

#define LONG_LIST 256 /* from here on a pass takes less time than comparing */
#define DIGIT 11      /* bits */

static int ascending(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return (x > y) - (x < y);
}

static int ascending_f32(const void *a, const void *b)
{
	float x = *(const float *)a, y = *(const float *)b;

	return (x > y) - (x < y);
}

void sort_f32(float *v, size_t n)
{
	if (n > 1)
		qsort(v, n, sizeof *v, ascending_f32);
}

/* Sorts by one digit, and leaves the order of equal ones. False: all digits are equal, and nothing was done. */
static bool by_digit(const uint32_t *from, uint32_t *to, size_t n, unsigned shift)
{
	size_t place[1 << DIGIT] = {0}, at = 0;
	const uint32_t most = (1 << DIGIT) - 1;

	for (size_t i = 0; i < n; i++)
		place[from[i] >> shift & most]++;
	if (place[from[0] >> shift & most] == n)
		return false;
	for (uint32_t d = 0; d <= most; d++) {
		size_t count = place[d];
		place[d] = at;
		at += count;
	}
	for (size_t i = 0; i < n; i++)
		to[place[from[i] >> shift & most]++] = from[i];
	return true;
}

void sort_u32(uint32_t *v, size_t n)
{
	uint32_t *other, *from = v, *to;

	if (n < LONG_LIST) {
		if (n > 1) /* qsort wants a list even of nothing */
			qsort(v, n, sizeof *v, ascending);
		return;
	}
	to = other = mem_alloc(n * sizeof *other);
	for (unsigned shift = 0; shift < 32; shift += DIGIT)
		if (by_digit(from, to, n, shift)) {
			uint32_t *swap = from;
			from = to;
			to = swap;
		}
	if (from != v)
		memcpy(v, from, n * sizeof *v);
	mem_free(other);
}
