/*
 * area_order.c - finds the order in which variables are eliminated.
 *
 * The variable whose table would be smallest comes next; a heap holds the variables by that size. If even the smallest
 * table is larger than `room`, one of the variables in it keeps its present choice, and so drops out of all tables.
 */
#include "space/net/area_own.h"

#include <math.h>
#include <string.h>

#define LEAST_ROOM 300.0 /* `room` never shrinks below this */

void area_add_near(struct area_solver *r, uint32_t i, uint32_t j)
{
	struct local *l = &r->local[i];

	for (uint32_t k = 0; k < l->n_near; k++)
		if (l->near[k] == j)
			return;
	if (l->n_near == l->cap_near) {
		uint32_t cap = l->cap_near ? 2 * l->cap_near : 4;
		uint32_t *near = arena_alloc(&r->mem, cap * sizeof *near);
		if (l->n_near)
			memcpy(near, l->near, l->n_near * sizeof *near);
		l->near = near;
		l->cap_near = cap;
	}
	l->near[l->n_near++] = j;
}

static void drop_near(struct area_solver *r, uint32_t i, uint32_t j)
{
	struct local *l = &r->local[i];

	for (uint32_t k = 0; k < l->n_near; k++)
		if (l->near[k] == j) {
			l->near[k] = l->near[--l->n_near];
			return;
		}
}

static double table_size(const struct area_solver *r, uint32_t i)
{
	const struct local *l = &r->local[i];
	double size = l->n;

	if (l->n_near > MOST_AXES)
		return INFINITY;
	for (uint32_t k = 0; k < l->n_near; k++)
		size *= r->local[l->near[k]].n;
	return size;
}

static void heap_push(struct area_solver *r, uint32_t i)
{
	struct waiting w = {table_size(r, i), i};
	size_t at;

	MEM_GROW(&r->heap, &r->cap_heap, r->n_heap + 1);
	for (at = r->n_heap++; at > 0 && r->heap[(at - 1) / 2].size > w.size; at = (at - 1) / 2)
		r->heap[at] = r->heap[(at - 1) / 2];
	r->heap[at] = w;
}

static struct waiting heap_pop(struct area_solver *r)
{
	struct waiting top = r->heap[0], last = r->heap[--r->n_heap];
	size_t at = 0, child;

	while ((child = 2 * at + 1) < r->n_heap) {
		child += child + 1 < r->n_heap && r->heap[child + 1].size < r->heap[child].size;
		if (last.size <= r->heap[child].size)
			break;
		r->heap[at] = r->heap[child];
		at = child;
	}
	r->heap[at] = last;
	return top;
}

static void order_next(struct area_solver *r, uint32_t i)
{
	struct local *l = &r->local[i];

	l->gone = true;
	l->when = r->n_order;
	r->order[r->n_order++] = i;
	for (uint32_t k = 0; k < l->n_near; k++) {
		drop_near(r, l->near[k], i);
		for (uint32_t j = 0; j < l->n_near; j++)
			if (j != k)
				area_add_near(r, l->near[k], l->near[j]);
	}
	for (uint32_t k = 0; k < l->n_near; k++)
		heap_push(r, l->near[k]);
}

/* Makes i or one of its neighbours keep its choice: most likely the one that has most neighbours and choices. */
static void leave_near(struct area_solver *r, uint32_t i)
{
	struct local *l = &r->local[i];
	double most = -1;
	uint32_t best = i;

	for (uint32_t k = 0; k <= l->n_near; k++) {
		uint32_t j = k < l->n_near ? l->near[k] : i;
		double weight = (double)r->local[j].n_near * log(1.0 + r->local[j].n) *
			exp(r->whim * rng_normal(r->task->rng));
		if (weight > most) {
			most = weight;
			best = j;
		}
	}
	l = &r->local[best];
	l->gone = true;
	l->when = LEFT;
	for (uint32_t k = 0; k < l->n_near; k++)
		drop_near(r, l->near[k], best);
	for (uint32_t k = 0; k < l->n_near; k++)
		heap_push(r, l->near[k]);
	if (best != i)
		heap_push(r, i);
}

void area_find_order(struct area_solver *r)
{
	r->n_heap = 0;
	r->n_order = 0;
	r->whim = 1.5 * rng_unit(r->task->rng);
	double work = 0;

	MEM_GROW(&r->order, &r->cap_order, r->n + 1);
	for (uint32_t i = 0; i < r->n; i++)
		heap_push(r, i);
	while (r->n_heap) {
		struct waiting w = heap_pop(r);
		if (r->local[w.i].gone)
			continue;
		double size = table_size(r, w.i);
		if (size != w.size)
			continue; /* a newer entry is in the heap */
		double room = fmin(r->task->room, fmax(LEAST_ROOM, (r->task->work - work) / 8));
		if (size > room && r->local[w.i].n_near) {
			leave_near(r, w.i);
		} else {
			order_next(r, w.i);
			work += size;
		}
	}
	r->made += work;
}
