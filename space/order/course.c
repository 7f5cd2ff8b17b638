/*
 * course.c - walks over windows of an order, from the end to the beginning.
 *
 * A value is alive at a position if its last reader stands behind it. Either that reader stands behind the whole
 * window, which no move in the window changes, or the walk has met it already. `met` holds the number of the walk that
 * met a value last, so nothing need be cleared between walks.
 */
#include "space/order/course.h"

#include <math.h>
#include <string.h>
#include "base/mem.h"

#define RENEW 4096 /* after so many moves heat is summed anew, because differences add rounding errors */

static double warmth(const struct course *c, uint64_t bytes)
{
	double x = (double)bytes / c->scale;

	x *= x;
	x *= x;
	x *= x;
	return x * x;
}

void course_init(struct course *c, const struct line *l, const uint32_t *order)
{
	*c = (struct course){.line = l, .n_blocks = (l->n + COURSE_BLOCK - 1) / COURSE_BLOCK};
	c->order = MEM_NEW(l->n, uint32_t);
	c->place = MEM_NEW(l->n, uint32_t);
	c->bytes = MEM_NEW(l->n, uint64_t);
	c->warm = MEM_NEW(l->n, double);
	c->last = MEM_NEW(l->n_values, uint32_t);
	c->met = MEM_NEW(l->n_values, uint32_t);
	c->undo = MEM_NEW(l->n_values, struct line_pair);
	c->block = MEM_NEW(c->n_blocks, uint64_t);
	c->trial.step = MEM_NEW(l->n, uint32_t);
	c->trial.bytes = MEM_NEW(l->n, uint64_t);
	c->trial.warm = MEM_NEW(l->n, double);
	course_set(c, order);
}

void course_release(struct course *c)
{
	mem_free(c->order);
	mem_free(c->place);
	mem_free(c->bytes);
	mem_free(c->warm);
	mem_free(c->last);
	mem_free(c->met);
	mem_free(c->undo);
	mem_free(c->block);
	mem_free(c->trial.step);
	mem_free(c->trial.bytes);
	mem_free(c->trial.warm);
	*c = (struct course){0};
}

/* Bytes that a value does not need, because it takes the place of another value that dies where this one is made. */
static uint64_t shared(const struct course *c, uint32_t made)
{
	const struct line *l = c->line;

	for (uint32_t k = l->twins.first[made]; k < l->twins.first[made + 1]; k++) {
		uint32_t twin = l->twins.item[k];
		if (c->last[twin] == l->value[made].maker)
			return l->value[made].bytes < l->value[twin].bytes ? l->value[made].bytes
				: l->value[twin].bytes;
	}
	return 0;
}

void course_forget(struct course *c)
{
	while (c->n_undo) {
		c->n_undo--;
		c->last[c->undo[c->n_undo].a] = c->undo[c->n_undo].b;
	}
}

/*
 * Computes the bytes at each step of a sequence. `end` is the position of its last step, and `alive` bytes live on
 * behind it. Sets the last readers of values that die in the sequence.
 */
static void walk(struct course *c, const uint32_t *step, uint32_t n, uint32_t end, uint64_t alive, uint64_t *bytes)
{
	const struct line *l = c->line;

	if (++c->walk == 0) {
		memset(c->met, 0, l->n_values * sizeof *c->met);
		c->walk = 1;
	}
	for (uint32_t i = n; i-- > 0;) {
		uint32_t v = step[i];
		uint64_t made = 0, saved = 0;
		for (uint32_t k = l->reads.first[v]; k < l->reads.first[v + 1]; k++) {
			uint32_t x = l->reads.item[k];
			if (c->met[x] == c->walk || c->place[c->last[x]] > end)
				continue;
			c->met[x] = c->walk;
			c->undo[c->n_undo++] = (struct line_pair){x, c->last[x]};
			c->last[x] = v;
			alive += l->value[x].bytes;
		}
		for (uint32_t k = l->makes.first[v]; k < l->makes.first[v + 1]; k++) {
			uint32_t x = l->makes.item[k];
			made += l->value[x].bytes;
			saved += shared(c, x);
			if (c->met[x] != c->walk && c->place[c->last[x]] <= end)
				alive += l->value[x].bytes;
		}
		bytes[i] = alive + (uint64_t)l->inside[v] - saved;
		alive -= made;
	}
}

uint64_t course_behind(const struct course *c, uint32_t p)
{
	const struct line *l = c->line;
	uint32_t v = c->order[p];
	uint64_t alive = c->bytes[p] - (uint64_t)l->inside[v];

	for (uint32_t k = l->makes.first[v]; k < l->makes.first[v + 1]; k++) {
		uint32_t x = l->makes.item[k];
		alive += shared(c, x);
		if (c->last[x] == v)
			alive -= l->value[x].bytes;
	}
	for (uint32_t k = l->reads.first[v]; k < l->reads.first[v + 1]; k++)
		if (c->last[l->reads.item[k]] == v)
			alive -= l->value[l->reads.item[k]].bytes;
	return alive;
}

static void renew(struct course *c)
{
	c->heat = 0;
	for (uint32_t p = 0; p < c->line->n; p++)
		c->heat += c->warm[p] = warmth(c, c->bytes[p]);
	c->taken = 0;
}

static void set_blocks(struct course *c, uint32_t first, uint32_t end)
{
	for (uint32_t b = first / COURSE_BLOCK; b < c->n_blocks && b * COURSE_BLOCK < end; b++) {
		uint32_t stop = (b + 1) * COURSE_BLOCK < c->line->n ? (b + 1) * COURSE_BLOCK : c->line->n;
		c->block[b] = 0;
		for (uint32_t p = b * COURSE_BLOCK; p < stop; p++)
			c->block[b] = c->bytes[p] > c->block[b] ? c->bytes[p] : c->block[b];
	}
}

void course_set(struct course *c, const uint32_t *order)
{
	const struct line *l = c->line;

	c->n_undo = 0;
	memcpy(c->order, order, l->n * sizeof *order);
	for (uint32_t p = 0; p < l->n; p++)
		c->place[order[p]] = p;
	for (uint32_t i = 0; i < l->n_values; i++)
		c->last[i] = l->value[i].maker;
	if (l->n)
		walk(c, c->order, l->n, l->n - 1, 0, c->bytes);
	c->n_undo = 0;
	set_blocks(c, 0, l->n);
	c->scale = (double)course_peak(c);
	c->scale = c->scale > 0 ? c->scale : 1;
	renew(c);
}

uint64_t course_peak(const struct course *c)
{
	uint64_t peak = 0;

	for (uint32_t b = 0; b < c->n_blocks; b++)
		peak = c->block[b] > peak ? c->block[b] : peak;
	return peak;
}

double course_soft(const struct course *c)
{
	return c->scale * pow(c->heat, 1.0 / COURSE_POWER);
}

uint32_t course_where(const struct course *c, uint64_t bytes)
{
	for (uint32_t b = 0; b < c->n_blocks; b++)
		for (uint32_t p = b * COURSE_BLOCK; c->block[b] >= bytes && p < c->line->n; p++)
			if (c->bytes[p] >= bytes)
				return p;
	return c->line->n;
}

void course_try(struct course *c, uint32_t first, uint32_t n, const uint32_t *sequence)
{
	uint32_t end = first + n - 1;
	double heat = c->heat;
	uint64_t peak = 0;

	course_forget(c);
	c->trial.first = first;
	c->trial.n = n;
	memcpy(c->trial.step, sequence, n * sizeof *sequence);
	walk(c, sequence, n, end, course_behind(c, end), c->trial.bytes);
	for (uint32_t i = 0; i < n; i++) {
		uint64_t b = c->trial.bytes[i];
		peak = b > peak ? b : peak;
		c->trial.warm[i] = b == c->bytes[first + i] ? c->warm[first + i] : warmth(c, b);
		heat += c->trial.warm[i] - c->warm[first + i];
	}
	c->trial.heat = heat;
	c->trial.peak = peak;
}

void course_take(struct course *c)
{
	uint32_t first = c->trial.first, n = c->trial.n;

	memcpy(c->order + first, c->trial.step, n * sizeof *c->order);
	memcpy(c->bytes + first, c->trial.bytes, n * sizeof *c->bytes);
	memcpy(c->warm + first, c->trial.warm, n * sizeof *c->warm);
	for (uint32_t i = 0; i < n; i++)
		c->place[c->trial.step[i]] = first + i;
	c->heat = c->trial.heat;
	c->n_undo = 0;
	set_blocks(c, first, first + n);
	if (++c->taken >= RENEW)
		renew(c);
}
