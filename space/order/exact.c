/*
 * exact.c - searches for the best path through sets of steps.
 *
 * A set is a word with one bit for each step. Sets that were met are in a hash table, each with the best way to it: the
 * set before and the step between. A heap holds those that are still to be looked at.
 */
#include "space/order/exact.h"

#include <string.h>
#include "base/mem.h"

struct set {
	uint64_t steps, alive, peak; /* bits of the steps that have run; bytes alive then; the most on the way here */
	uint32_t from;		     /* the set before it on the way */
	uint8_t last;		     /* the step from that set to this one */
	bool done;
};

struct search {
	const struct line *l;
	uint32_t step[EXACT_STEPS], bit[EXACT_STEPS]; /* per bit: the step; scratch */
	uint32_t *bit_of;			      /* per step: its bit; n if it is pinned */
	uint64_t before[EXACT_STEPS];		      /* per bit: the set of steps that must have run */
	uint64_t *readers;			      /* per value: the set of its readers */
	uint32_t n;
	struct set *set;
	size_t n_sets, cap_sets;
	uint32_t *table, mask; /* the hash table: 1 + the number of a set, or 0 */
	uint32_t *heap, n_heap;
	size_t cap_heap;
};

static void number_steps(struct search *s)
{
	const struct line *l = s->l;

	for (uint32_t v = 0; v < l->n; v++) {
		s->bit_of[v] = l->n;
		if (!l->pinned[v]) {
			s->bit_of[v] = s->n;
			s->step[s->n++] = v;
		}
	}
	for (uint32_t b = 0; b < s->n; b++)
		for (uint32_t k = l->before.first[s->step[b]]; k < l->before.first[s->step[b] + 1]; k++)
			if (!l->pinned[l->before.item[k]])
				s->before[b] |= UINT64_C(1) << s->bit_of[l->before.item[k]];
	for (uint32_t i = 0; i < l->n_values; i++)
		for (uint32_t k = l->readers.first[i]; k < l->readers.first[i + 1]; k++)
			if (!l->pinned[l->readers.item[k]])
				s->readers[i] |= UINT64_C(1) << s->bit_of[l->readers.item[k]];
}

/* Returns the set that a step leads to from set x. */
static struct set after(const struct search *s, const struct set *x, uint32_t bit)
{
	const struct line *l = s->l;
	uint32_t v = s->step[bit];
	struct set y = {.steps = x->steps | UINT64_C(1) << bit, .alive = x->alive, .last = (uint8_t)bit};
	uint64_t now = x->alive + (uint64_t)l->inside[v];

	for (uint32_t k = l->makes.first[v]; k < l->makes.first[v + 1]; k++) {
		uint32_t i = l->makes.item[k];
		now += l->value[i].bytes;
		if (s->readers[i])
			y.alive += l->value[i].bytes;
		for (uint32_t t = l->twins.first[i]; t < l->twins.first[i + 1]; t++) {
			uint32_t twin = l->twins.item[t];
			if (s->readers[twin] & ~y.steps)
				continue;
			now -= l->value[i].bytes < l->value[twin].bytes ? l->value[i].bytes : l->value[twin].bytes;
			break;
		}
	}
	for (uint32_t k = l->reads.first[v]; k < l->reads.first[v + 1]; k++)
		if (!(s->readers[l->reads.item[k]] & ~y.steps))
			y.alive -= l->value[l->reads.item[k]].bytes;
	y.peak = now > x->peak ? now : x->peak;
	return y;
}

static bool sooner(const struct search *s, uint32_t a, uint32_t b)
{
	const struct set *x = &s->set[a], *y = &s->set[b];

	if (x->peak != y->peak)
		return x->peak < y->peak;
	return __builtin_popcountll(x->steps) > __builtin_popcountll(y->steps);
}

static void heap_add(struct search *s, uint32_t set)
{
	uint32_t i = s->n_heap++;

	MEM_GROW(&s->heap, &s->cap_heap, s->n_heap);
	for (; i > 0 && sooner(s, set, s->heap[(i - 1) / 2]); i = (i - 1) / 2)
		s->heap[i] = s->heap[(i - 1) / 2];
	s->heap[i] = set;
}

static uint32_t heap_take(struct search *s)
{
	uint32_t first = s->heap[0], last = s->heap[--s->n_heap], i = 0;

	for (uint32_t child; (child = 2 * i + 1) < s->n_heap; i = child) {
		if (child + 1 < s->n_heap && sooner(s, s->heap[child + 1], s->heap[child]))
			child++;
		if (!sooner(s, s->heap[child], last))
			break;
		s->heap[i] = s->heap[child];
	}
	s->heap[i] = last;
	return first;
}

static uint32_t *place_of(struct search *s, uint64_t steps)
{
	uint64_t h = steps * UINT64_C(0x9e3779b97f4a7c15);
	uint32_t i = (uint32_t)(h >> 32) & s->mask;

	while (s->table[i] && s->set[s->table[i] - 1].steps != steps)
		i = (i + 1) & s->mask;
	return &s->table[i];
}

/* Notes a way to a set. If it is the first or better than the one known, it is kept, and the set joins the heap. */
static void meet(struct search *s, struct set y, uint32_t from)
{
	uint32_t *place = place_of(s, y.steps);
	struct set *old = *place ? &s->set[*place - 1] : NULL;

	y.from = from;
	if (old && (old->done || old->peak <= y.peak))
		return;
	if (!old) {
		MEM_GROW(&s->set, &s->cap_sets, s->n_sets + 1);
		*place = (uint32_t)++s->n_sets;
		old = &s->set[s->n_sets - 1];
	}
	*old = y;
	heap_add(s, *place - 1);
}

static void look_at(struct search *s, uint32_t set)
{
	struct set x = s->set[set];
	uint32_t n = 0;

	for (uint32_t b = 0; b < s->n; b++) {
		struct set y;
		if ((x.steps >> b & 1) || (s->before[b] & ~x.steps))
			continue;
		y = after(s, &x, b);
		if (y.peak == x.peak && y.alive <= x.alive) { /* nothing is lost by running it now */
			meet(s, y, set);
			return;
		}
		s->bit[n++] = b;
	}
	for (uint32_t i = 0; i < n; i++)
		meet(s, after(s, &x, s->bit[i]), set);
}

/* Adds the first set: only the pinned steps have run. */
static void begin(struct search *s)
{
	const struct line *l = s->l;
	struct set x = {.from = UINT32_MAX};

	for (uint32_t v = 0; v < l->n; v++) {
		uint64_t now = x.alive + (uint64_t)l->inside[v];
		for (uint32_t k = l->makes.first[v]; l->pinned[v] && k < l->makes.first[v + 1]; k++) {
			now += l->value[l->makes.item[k]].bytes;
			if (s->readers[l->makes.item[k]])
				x.alive += l->value[l->makes.item[k]].bytes;
		}
		if (l->pinned[v] && now > x.peak)
			x.peak = now;
	}
	meet(s, x, UINT32_MAX);
}

static void write_order(const struct search *s, uint32_t set, uint32_t *order)
{
	uint32_t at = s->l->n, front = 0;

	for (; s->set[set].from != UINT32_MAX; set = s->set[set].from)
		order[--at] = s->step[s->set[set].last];
	for (uint32_t v = 0; v < s->l->n; v++)
		if (s->l->pinned[v])
			order[front++] = v;
}

static int find(struct search *s, uint32_t sets, uint32_t *order, uint64_t *bytes, struct err *err)
{
	uint64_t all = s->n == 64 ? UINT64_MAX : (UINT64_C(1) << s->n) - 1;

	begin(s);
	while (s->n_heap) {
		uint32_t at = heap_take(s);
		if (s->set[at].done)
			continue;
		s->set[at].done = true;
		if (s->set[at].steps == all) {
			*bytes = s->set[at].peak;
			write_order(s, at, order);
			return 0;
		}
		if (s->n_sets + s->n > sets)
			return err_set(err, "there are more than %u sets of instructions that may "
				"run before the rest: too many for the best order", sets);
		look_at(s, at);
	}
	return err_set(err, "no order gets to the end"); /* happens only if dependencies form a cycle */
}

int exact_order(const struct line *l, uint32_t sets, uint32_t *order, uint64_t *bytes, struct err *err)
{
	struct search s = {.l = l, .mask = 1023};
	int rc = -1;

	if (l->n - l->n_pinned > EXACT_STEPS)
		return err_set(err, "the best of all orders is found for up to %d instructions, not for %u",
			EXACT_STEPS, l->n - l->n_pinned);
	while (s.mask / 2 < sets) /* the table is never more than half full */
		s.mask = 2 * s.mask + 1;
	s.bit_of = MEM_NEW(l->n, uint32_t);
	s.readers = MEM_NEW(l->n_values, uint64_t);
	s.table = MEM_NEW((size_t)s.mask + 1, uint32_t);
	number_steps(&s);
	rc = find(&s, sets, order, bytes, err);
	mem_free(s.bit_of);
	mem_free(s.readers);
	mem_free(s.table);
	mem_free(s.set);
	mem_free(s.heap);
	return rc;
}
