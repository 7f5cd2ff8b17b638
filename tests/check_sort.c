/*
 * check_sort.c - numbers in ascending order, beside the C library's qsort: short lists and long ones, and numbers that
 * differ in some of their bits only.
 */
#include <stdlib.h>
#include <string.h>
#include "base/mem.h"
#include "base/rng.h"
#include "base/sort.h"
#include "tests/test.h"

static int slow(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return x < y ? -1 : x > y;
}

static void lists_are_sorted(void)
{
	static const size_t sizes[] = {0, 1, 2, 3, 17, 255, 256, 257, 1000, 5000};
	static const uint32_t masks[] = {0, 1, 0x7ff, 0x800, 0x3fffff, 0xffc00000, 0x80000001, UINT32_MAX};
	struct rng r;

	rng_seed2(&r, 1, 2);
	for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
		for (size_t k = 0; k < sizeof masks / sizeof *masks; k++) {
			size_t n = sizes[i];
			uint32_t *a = mem_alloc((n + 1) * sizeof *a), *b = mem_alloc((n + 1) * sizeof *b);
			for (size_t j = 0; j <= n; j++)
				a[j] = b[j] = (uint32_t)rng_u64(&r) & masks[k];
			sort_u32(a, n);
			qsort(b, n, sizeof *b, slow); /* what comes after the list stays as it is */
			if (!CHECK(memcmp(a, b, (n + 1) * sizeof *a) == 0))
				printf("\t%zu numbers under %x\n", n, masks[k]);
			mem_free(a);
			mem_free(b);
		}
}

int main(void)
{
	sort_u32(NULL, 0);
	RUN(lists_are_sorted);
	return test_done();
}
