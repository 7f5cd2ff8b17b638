/*
 * sort.c - sorts numbers by the C library.
 */
#include "base/sort.h"

#include <stdlib.h>

static int ascending(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return (x > y) - (x < y);
}

void sort_u32(uint32_t *v, size_t n)
{
	if (n > 1) /* qsort wants a list even of nothing */
		qsort(v, n, sizeof *v, ascending);
}
