/*
 * list.c - makes orders. The steps that can run wait in a binary heap, by their keys.
 */
#include "space/order/list.h"

#include <string.h>
#include "base/mem.h"

struct waiting {
	const double *key;
	const uint8_t *pinned;
	uint32_t *v, n;
};

static bool sooner(const struct waiting *w, uint32_t a, uint32_t b)
{
	if (w->pinned[a] != w->pinned[b])
		return w->pinned[a];
	return w->key[a] < w->key[b] || (w->key[a] == w->key[b] && a < b);
}

static void add(struct waiting *w, uint32_t step)
{
	uint32_t i = w->n++;

	for (; i > 0 && sooner(w, step, w->v[(i - 1) / 2]); i = (i - 1) / 2)
		w->v[i] = w->v[(i - 1) / 2];
	w->v[i] = step;
}

static uint32_t take(struct waiting *w)
{
	uint32_t first = w->v[0], last = w->v[--w->n], i = 0;

	for (uint32_t child; (child = 2 * i + 1) < w->n; i = child) {
		if (child + 1 < w->n && sooner(w, w->v[child + 1], w->v[child]))
			child++;
		if (!sooner(w, w->v[child], last))
			break;
		w->v[i] = w->v[child];
	}
	w->v[i] = last;
	return first;
}

void list_schedule(const struct line *l, const double *key, uint32_t *order)
{
	uint32_t *missing = MEM_NEW(l->n, uint32_t), n = 0;
	struct waiting w = {.key = key, .pinned = l->pinned, .v = MEM_NEW(l->n, uint32_t)};

	for (uint32_t v = 0; v < l->n; v++) {
		missing[v] = l->before.first[v + 1] - l->before.first[v];
		if (missing[v] == 0)
			add(&w, v);
	}
	while (w.n) {
		uint32_t v = order[n++] = take(&w);
		for (uint32_t k = l->after.first[v]; k < l->after.first[v + 1]; k++)
			if (--missing[l->after.item[k]] == 0)
				add(&w, l->after.item[k]);
	}
	mem_free(missing);
	mem_free(w.v);
}

/* Gives the key of each step that goes to the front to its predecessors, from the last step to the first. */
static void carry_pulls(const struct line *l, const uint32_t *base, double *key, uint8_t *pulled)
{
	for (uint32_t i = l->n; i-- > 0;) {
		uint32_t v = base[i];
		for (uint32_t k = l->before.first[v]; pulled[v] && k < l->before.first[v + 1]; k++) {
			uint32_t u = l->before.item[k];
			if (key[u] > key[v]) {
				key[u] = key[v];
				pulled[u] = 1;
			}
		}
	}
}

void list_shifted(const struct line *l, const uint32_t *base, const double *shift, uint32_t *order)
{
	double *key = MEM_NEW(l->n, double);
	uint8_t *pulled = MEM_NEW(l->n, uint8_t);
	bool moved = false;

	for (uint32_t i = 0; i < l->n; i++) {
		uint32_t v = base[i]; /* steps that stay have whole numbers; half a place more decides between equals */
		key[v] = i + shift[v] + (shift[v] > 0 ? 0.5 : shift[v] < 0 ? -0.5 : 0);
		pulled[v] = shift[v] < 0;
		moved |= shift[v] < 0 || shift[v] > 0;
	}
	if (moved) {
		carry_pulls(l, base, key, pulled);
		list_schedule(l, key, order);
	} else {
		memcpy(order, base, l->n * sizeof *order);
	}
	mem_free(key);
	mem_free(pulled);
}

struct walk {
	const struct line *l;
	double *weight; /* bytes that a step and all its ancestors make; an ancestor counts once for each path to it */
	uint8_t *done;
	uint32_t *stack, *order, n;
};

/* Returns the predecessor that weighs most of those not yet in the order; UINT32_MAX if there is none. */
static uint32_t heaviest(const struct walk *w, uint32_t v)
{
	uint32_t best = UINT32_MAX;

	for (uint32_t k = w->l->before.first[v]; k < w->l->before.first[v + 1]; k++) {
		uint32_t u = w->l->before.item[k];
		if (!w->done[u] && (best == UINT32_MAX || w->weight[u] > w->weight[best]))
			best = u;
	}
	return best;
}

static void go_down(struct walk *w, uint32_t from)
{
	uint32_t depth = 0;

	w->stack[depth++] = from;
	while (depth) {
		uint32_t v = w->stack[depth - 1], next = heaviest(w, v);
		if (next != UINT32_MAX) {
			w->stack[depth++] = next;
			continue;
		}
		w->done[v] = 1;
		w->order[w->n++] = v;
		depth--;
	}
}

static void weigh(struct walk *w)
{
	const struct line *l = w->l;
	double *key = MEM_NEW(l->n, double);
	uint32_t *topological = MEM_NEW(l->n, uint32_t);

	list_schedule(l, key, topological);
	for (uint32_t p = 0; p < l->n; p++) {
		uint32_t v = topological[p];
		for (uint32_t k = l->makes.first[v]; k < l->makes.first[v + 1]; k++)
			w->weight[v] += (double)l->value[l->makes.item[k]].bytes;
		for (uint32_t k = l->before.first[v]; k < l->before.first[v + 1]; k++)
			w->weight[v] += w->weight[l->before.item[k]];
	}
	mem_free(key);
	mem_free(topological);
}

void list_depth_first(const struct line *l, uint32_t *order)
{
	struct walk w = {.l = l, .order = order};

	w.weight = MEM_NEW(l->n, double);
	w.done = MEM_NEW(l->n, uint8_t);
	w.stack = MEM_NEW(l->n, uint32_t);
	weigh(&w);
	for (uint32_t v = 0; v < l->n; v++)
		if (l->after.first[v] == l->after.first[v + 1])
			go_down(&w, v);
	line_settle(l, order);
	mem_free(w.weight);
	mem_free(w.done);
	mem_free(w.stack);
}
