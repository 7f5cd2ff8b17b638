/*
 * order_slow.h - computes the memory of an order in the slow and obvious way, to check the incremental one; and lines
 * to try.
 */
#ifndef TESTS_ORDER_SLOW_H
#define TESTS_ORDER_SLOW_H

#include "base/mem.h"
#include "base/rng.h"
#include "space/order/course.h"

/* Bytes at every step of an order (n places); returns the largest. */
static inline uint64_t line_bytes(const struct line *l, const uint32_t *order, uint64_t *bytes)
{
	uint32_t *place = MEM_NEW(l->n, uint32_t), *end = MEM_NEW(l->n_values, uint32_t);
	uint64_t peak = 0;

	for (uint32_t p = 0; p < l->n; p++) {
		place[order[p]] = p;
		bytes[p] = (uint64_t)l->inside[order[p]];
	}
	for (uint32_t i = 0; i < l->n_values; i++) {
		end[i] = place[l->value[i].maker];
		for (uint32_t k = l->readers.first[i]; k < l->readers.first[i + 1]; k++)
			if (place[l->readers.item[k]] > end[i])
				end[i] = place[l->readers.item[k]];
	}
	for (uint32_t i = 0; i < l->n_values; i++) {
		const struct line_value *v = &l->value[i];
		uint32_t begin = place[v->maker];
		for (uint32_t p = begin; p <= end[i]; p++)
			bytes[p] += v->bytes;
		for (uint32_t k = l->twins.first[i]; k < l->twins.first[i + 1]; k++)
			if (end[l->twins.item[k]] == begin) {
				uint64_t other = l->value[l->twins.item[k]].bytes;
				bytes[begin] -= v->bytes < other ? v->bytes : other;
				break;
			}
	}
	for (uint32_t p = 0; p < l->n; p++)
		peak = bytes[p] > peak ? bytes[p] : peak;
	mem_free(place);
	mem_free(end);
	return peak;
}

/* The peak of the whole order if the trial were taken. */
static inline uint64_t course_trial_peak(const struct course *c)
{
	uint32_t first = c->trial.first, end = first + c->trial.n;
	uint64_t peak = c->trial.peak;

	for (uint32_t b = 0; b < c->n_blocks; b++) {
		uint32_t from = b * COURSE_BLOCK, to = from + COURSE_BLOCK < c->line->n ? from + COURSE_BLOCK
			: c->line->n;
		if (c->block[b] <= peak || (from >= first && to <= end))
			continue;
		if (to <= first || from >= end) {
			peak = c->block[b];
			continue;
		}
		for (uint32_t p = from; p < to; p++)
			if ((p < first || p >= end) && c->bytes[p] > peak)
				peak = c->bytes[p];
	}
	return peak;
}

/* A random line: steps read a few earlier values; some share; some need something inside. */
static inline void make_line(struct line *l, uint32_t n, struct rng *r)
{
	line_init(l, n);
	for (uint32_t i = 0; i < n / 10; i++) /* they read nothing */
		line_pin(l, i);
	for (uint32_t i = 0; i < n; i++) {
		uint32_t first = l->n_values, made = (uint32_t)rng_below(r, 3);
		for (uint32_t k = 0; k < 3 && first && i >= n / 10; k++) {
			uint32_t x = first - 1 - (uint32_t)rng_below(r, first < 12 ? first : 12);
			line_reads(l, i, x);
		}
		for (uint32_t k = 0; k < made; k++)
			line_value(l, i, rng_below(r, 1000));
		for (uint32_t k = 0; made == 1 && first && i >= n / 10 && k < rng_below(r, 3); k++) {
			line_shares(l, first, first - 1 - k % first);
			line_reads(l, i, first - 1 - k % first);
		}
		if (rng_below(r, 10) == 0)
			l->inside[i] = (int64_t)rng_below(r, 2000);
	}
	line_finish(l);
}

/* The smallest peak of all orders, by trying all. */
static inline uint64_t best_of_all(const struct line *l, uint32_t *order, uint32_t n, uint32_t done, uint64_t best)
{
	uint64_t bytes[16];

	if (n == l->n) {
		uint64_t peak = line_bytes(l, order, bytes);
		return peak < best ? peak : best;
	}
	for (uint32_t v = 0; v < l->n; v++) {
		bool ready = !(done >> v & 1);
		for (uint32_t k = l->before.first[v]; k < l->before.first[v + 1]; k++)
			ready &= done >> l->before.item[k] & 1;
		if (!ready)
			continue;
		order[n] = v;
		best = best_of_all(l, order, n + 1, done | 1u << v, best);
	}
	return best;
}

#endif
