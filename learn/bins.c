/*
 * bins.c - finds the edges of each column's bins, and the bin of each number.
 */
#include "learn/bins.h"

#include "base/sort.h"

/* Halfway between two values, and never the upper one: rounding must not move a value to the other side. */
static float between(float low, float high)
{
	float middle = low + (high - low) / 2;

	return middle < high ? middle : low;
}

/*
 * Cuts the sorted values v[0 .. n) into at most BINS_MOST bins: a bin ends at the first change of value after it holds
 * its share of the rows that were left when it began.
 */
static uint32_t cut(const float *v, uint32_t n, float *edge)
{
	uint32_t distinct = n > 0, edges = 0, begin = 0, left = BINS_MOST;

	for (uint32_t i = 1; i < n; i++)
		distinct += v[i] != v[i - 1];
	for (uint32_t i = 1; i < n && left > 1; i++) {
		if (v[i] == v[i - 1] || (distinct > BINS_MOST && (uint64_t)(i - begin) * left < n - begin))
			continue;
		edge[edges++] = between(v[i - 1], v[i]);
		begin = i;
		left--;
	}
	return edges;
}

static uint8_t code_of(const float *edge, uint32_t n, float x)
{
	uint32_t low = 0;

	while (n > 0) { /* the first edge that is not below x */
		uint32_t half = n / 2;
		if (edge[low + half] < x) {
			low += half + 1;
			n -= half + 1;
		} else {
			n = half;
		}
	}
	return (uint8_t)low;
}

void bins_make(struct bins *b, const float *x, uint32_t n_rows, uint32_t n_columns)
{
	float *v = MEM_NEW(n_rows, float);

	*b = (struct bins){.n_rows = n_rows, .n_columns = n_columns};
	b->n_edges = ARENA_NEW(&b->mem, n_columns, uint32_t);
	b->edge = ARENA_NEW(&b->mem, (size_t)n_columns * BINS_MOST, float);
	b->code = ARENA_NEW(&b->mem, (size_t)n_rows * n_columns, uint8_t);
	for (uint32_t c = 0; c < n_columns; c++) {
		float *edge = b->edge + (size_t)c * BINS_MOST;
		for (uint32_t i = 0; i < n_rows; i++)
			v[i] = x[(size_t)i * n_columns + c];
		sort_f32(v, n_rows);
		b->n_edges[c] = cut(v, n_rows, edge);
		for (uint32_t i = 0; i < n_rows; i++)
			b->code[(size_t)i * n_columns + c] = code_of(edge, b->n_edges[c], x[(size_t)i * n_columns + c]);
	}
	mem_free(v);
}

void bins_release(struct bins *b)
{
	arena_release(&b->mem);
	*b = (struct bins){0};
}
