/*
 * ramps.c - see ramps.h: finds the cuts, writes rows, and keeps both in the model file.
 */
#include "learn/ramps.h"

#include <math.h>
#include "base/mem.h"
#include "base/sort.h"

/* The quantiles of the sorted values, each value once; none if all are alike. */
static uint32_t cut(const float *v, uint32_t n, uint32_t most, float *out)
{
	uint32_t cuts = 0;

	for (uint32_t k = 0; k <= most; k++) {
		float x = v[(uint64_t)k * (n - 1) / most];
		if (cuts == 0 || x > out[cuts - 1])
			out[cuts++] = x;
	}
	return cuts > 1 ? cuts : 0;
}

static void count_width(struct ramps *r)
{
	r->width = 0;
	for (uint32_t c = 0; c < r->n_columns; c++)
		if (r->first[c + 1] > r->first[c])
			r->width += r->first[c + 1] - r->first[c] - 1;
}

void ramps_make(struct ramps *r, const float *x, uint32_t n_rows, uint32_t n_columns, uint32_t most)
{
	float *v = MEM_NEW(n_rows + 1, float);

	*r = (struct ramps){.n_columns = n_columns};
	r->first = MEM_NEW(n_columns + 1, uint32_t);
	r->cut = MEM_NEW((size_t)n_columns * (most + 1) + 1, float);
	for (uint32_t c = 0; c < n_columns; c++) {
		for (uint32_t i = 0; i < n_rows; i++)
			v[i] = x[(size_t)i * n_columns + c];
		sort_f32(v, n_rows);
		r->first[c + 1] = r->first[c] + (n_rows ? cut(v, n_rows, most, r->cut + r->first[c]) : 0);
	}
	count_width(r);
	mem_free(v);
}

void ramps_release(struct ramps *r)
{
	mem_free(r->first);
	mem_free(r->cut);
	*r = (struct ramps){0};
}

void ramps_of(const struct ramps *r, const float *row, real *out)
{
	for (uint32_t c = 0; c < r->n_columns; c++)
		for (uint32_t i = r->first[c]; i + 1 < r->first[c + 1]; i++) {
			float low = r->cut[i], high = r->cut[i + 1];
			*out++ = row[c] <= low ? 0 : row[c] >= high ? 1 : (real)((row[c] - low) / (high - low));
		}
}

void ramps_pack(const struct ramps *r, struct buf *out)
{
	buf_u32(out, r->n_columns);
	for (uint32_t c = 0; c < r->n_columns; c++) {
		buf_u32(out, r->first[c + 1] - r->first[c]);
		for (uint32_t i = r->first[c]; i < r->first[c + 1]; i++)
			buf_f32(out, r->cut[i]);
	}
}

/* The cuts of one column, to the end of those that are there. */
static uint32_t parse_column(struct cursor *c, float *to)
{
	uint32_t n = cursor_count(c, 4);

	c->bad |= n == 1 || n > RAMPS_MOST + 1;
	for (uint32_t i = 0; i < n && !c->bad; i++) {
		to[i] = cursor_f32(c);
		c->bad |= !isfinite(to[i]) || (i && !(to[i] > to[i - 1]));
	}
	return c->bad ? 0 : n;
}

void ramps_parse(struct ramps *r, const uint32_t *column, uint32_t n, uint32_t n_columns, struct cursor *c)
{
	uint32_t theirs = cursor_u32(c), at = 0;

	*r = (struct ramps){0};
	c->bad |= theirs != 0 && theirs != n;
	if (theirs == 0 || c->bad)
		return;
	r->n_columns = n_columns;
	r->first = MEM_NEW(n_columns + 1, uint32_t);
	r->cut = MEM_NEW((size_t)n_columns * (RAMPS_MOST + 1), float);
	for (uint32_t k = 0; k < n_columns; k++) {
		r->first[k + 1] = r->first[k];
		if (at < n && column[at] == k) {
			r->first[k + 1] += parse_column(c, r->cut + r->first[k]);
			at++;
		}
	}
	c->bad |= at < n; /* their columns are not in our order */
	count_width(r);
}
