/*
 * order_slow.h - what the incremental course of an order is held against: the slow and obvious way.
 */
#ifndef TESTS_ORDER_SLOW_H
#define TESTS_ORDER_SLOW_H

#include "base/mem.h"
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

#endif
