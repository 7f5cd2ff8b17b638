/*
 * heap.c - lays out the heap as XLA does.
 *
 * XLA's clock advances by one with each value that comes or goes, and so does ours. A value that takes the place of an
 * operand which dies there (line.h, twins) is in the same block as that operand.
 *
 * In a large program few blocks live at the same time, so we must not compare a block with all others. Time is cut into
 * slots, each with a list of the blocks that live in it. A block that lives long is in no slot, but in one list of all
 * such blocks.
 */
#include "space/order/heap.h"

#include <stdlib.h>
#include <string.h>
#include "base/mem.h"
#include "space/order/own.h"

struct span { /* from when to when a life (program.h) lasts, by XLA's clock */
	uint64_t begin, end;
};

struct block {
	uint64_t size, offset;
	uint64_t begin, stay, length; /* when its first life begins; how long that life lasts, and the whole block */
	uint64_t made; /* when the first life was made: of blocks that are equal otherwise, the older comes first */
	uint32_t first, n; /* its lives in heap.spans */
};

struct event {
	uint64_t time, made; /* `made`: when the life's maker ran */
	uint32_t life;
	bool goes;
};

#define SLOTS 256
#define LONG (SLOTS / 8) /* a block that lives in more slots than this is in the list of long ones */

struct inmate { /* a block in a list, with its times, which are compared first */
	uint32_t block;
	uint64_t begin, end;
};

struct slot {
	struct inmate *v;
	uint32_t n;
	size_t cap;
	uint64_t start; /* the slot's first tick */
};

struct near {
	uint64_t offset, end; /* where the block begins and ends in the heap; `end` is rounded */
};

struct heap {
	struct span *span;   /* per life of the program */
	uint32_t *of;	     /* per value: the next value of its block, or NONE */
	bool *joined;	     /* per value: it is in the block of another value */
	struct event *event;
	struct block *block, *sorted;
	uint32_t *spans;     /* the lives of all blocks, block by block */
	struct near *near;   /* scratch: the blocks that are in the way of one */
	struct slot slot[SLOTS + 2]; /* the last but one is the list of long blocks, the last is a list of all */
	uint64_t clock;	     /* the number of ticks */
	uint32_t n;	     /* the number of blocks */
};

static int by_time(const void *a, const void *b)
{
	const struct event *x = a, *y = b;

	if (x->time != y->time)
		return x->time < y->time ? -1 : 1;
	if (x->goes != y->goes)
		return y->goes ? -1 : 1;
	if (x->made != y->made)
		return x->made < y->made ? -1 : 1;
	return (x->life > y->life) - (x->life < y->life);
}

static bool in_heap(const struct program_value *x)
{
	return !x->result && x->room == NONE && x->size > 0;
}

static void set_clock(struct program *p)
{
	struct heap *h = p->heap;
	uint32_t n = 0;

	for (uint32_t i = 0; i < p->n_values; i++)
		for (uint32_t k = p->value[i].first; in_heap(&p->value[i]) && k < p->value[i].first + p->value[i].n;
			k++) {
			uint64_t made = p->time[p->life[k].maker];
			h->event[n++] = (struct event){p->life[k].begin, made, k, false};
			h->event[n++] = (struct event){p->life[k].end, made, k, true};
		}
	if (n)
		qsort(h->event, n, sizeof *h->event, by_time);
	h->clock = n;
	for (uint32_t i = 0; i < n; i++)
		*(h->event[i].goes ? &h->span[h->event[i].life].end : &h->span[h->event[i].life].begin) = i;
}

/* Returns the value that dies where this one begins, and whose place this one takes; NONE if there is none. */
static uint32_t forerunner(struct program *p, const struct program_value *x)
{
	const struct program_life *a = &p->life[x->first];
	const struct line *l = program_line(p, a->comp);
	const struct graph *g = p->graph;

	for (uint32_t k = l->twins.first[a->number]; x->n == 1 && k < l->twins.first[a->number + 1]; k++) {
		uint32_t maker = g->comp[a->comp].first + l->value[l->twins.item[k]].maker;
		uint32_t at = p->of_name[values_of(&p->values, p->values.leaf[maker])];
		if (at != NONE && in_heap(&p->value[at]) && p->value[at].n == 1 && p->value[at].end == x->begin)
			return at;
	}
	return NONE;
}

static void add_block(struct program *p, uint32_t value, const uint32_t *next, uint32_t *n_spans)
{
	struct heap *h = p->heap;
	struct block *b = &h->block[h->n++];
	uint64_t end = 0;

	*b = (struct block){.size = p->value[value].size, .first = *n_spans, .begin = UINT64_MAX};
	for (uint32_t i = value; i != NONE; i = next[i])
		for (uint32_t k = p->value[i].first; k < p->value[i].first + p->value[i].n; k++) {
			h->spans[(*n_spans)++] = k;
			if (h->span[k].begin < b->begin) {
				b->begin = h->span[k].begin;
				b->stay = h->span[k].end - b->begin;
				b->made = p->time[p->life[k].maker];
			}
			end = h->span[k].end > end ? h->span[k].end : end;
		}
	b->n = *n_spans - b->first;
	b->length = end - b->begin;
}

static void find_blocks(struct program *p)
{
	struct heap *h = p->heap;
	uint32_t n_spans = 0, *next = h->of;

	memset(h->joined, 0, p->n_values * sizeof *h->joined);
	for (uint32_t i = 0; i < p->n_values; i++)
		next[i] = NONE;
	for (uint32_t i = 0; i < p->n_values; i++) {
		uint32_t before = in_heap(&p->value[i]) ? forerunner(p, &p->value[i]) : NONE;
		if (before != NONE && next[before] == NONE) {
			next[before] = i;
			h->joined[i] = true;
		}
	}
	h->n = 0;
	for (uint32_t i = 0; i < p->n_values; i++)
		if (in_heap(&p->value[i]) && !h->joined[i])
			add_block(p, i, next, &n_spans);
}

static int by_size(const void *a, const void *b)
{
	const struct block *x = a, *y = b;

	if (x->size != y->size)
		return x->size > y->size ? -1 : 1;
	if (x->stay != y->stay)
		return x->stay > y->stay ? -1 : 1;
	return (x->made > y->made) - (x->made < y->made);
}

static int by_length(const void *a, const void *b)
{
	const struct block *x = a, *y = b;

	if (x->length != y->length)
		return x->length > y->length ? -1 : 1;
	if (x->size != y->size)
		return x->size > y->size ? -1 : 1;
	return (x->made > y->made) - (x->made < y->made);
}

static bool meet(const struct heap *h, const struct block *x, const struct block *y)
{
	for (uint32_t i = x->first; i < x->first + x->n; i++)
		for (uint32_t k = y->first; k < y->first + y->n; k++) {
			const struct span *a = &h->span[h->spans[i]], *b = &h->span[h->spans[k]];
			if (a->begin <= b->end && b->begin <= a->end)
				return true;
		}
	return false;
}

static uint32_t slot_of(const struct heap *h, uint64_t tick)
{
	return (uint32_t)(tick * SLOTS / (h->clock + 1));
}

static bool is_long(const struct heap *h, const struct block *x)
{
	return slot_of(h, x->begin + x->length) - slot_of(h, x->begin) > LONG;
}

/*
 * Adds to h->near those blocks of a slot that are in the way of block x. Two blocks may meet in several slots; to count
 * them once, a block is added only in the slot in which it begins, or in the first slot of x (`first`).
 */
static uint32_t add_near(struct heap *h, const struct block *x, const struct slot *s, bool first, uint32_t n_near)
{
	uint64_t end = x->begin + x->length;

	for (uint32_t i = 0; i < s->n; i++) {
		const struct inmate *in = &s->v[i];
		const struct block *y;
		if (in->begin > end || x->begin > in->end || (!first && in->begin < s->start))
			continue;
		y = &h->sorted[in->block];
		if ((x->n > 1 || y->n > 1) && !meet(h, x, y))
			continue;
		h->near[n_near++] = (struct near){y->offset, values_rounded(y->offset + y->size)};
	}
	return n_near;
}

static int by_offset(const void *a, const void *b)
{
	const struct near *x = a, *y = b;

	return (x->offset > y->offset) - (x->offset < y->offset);
}

/* Sorts by insertion, because the blocks mostly come from two sorted lists; gives up if that takes long. */
static void sort_near(struct heap *h, uint32_t n)
{
	uint64_t left = 16 * (uint64_t)n;

	for (uint32_t i = 1; i < n; i++) {
		struct near x = h->near[i];
		uint32_t k = i;
		for (; k > 0 && left > 0 && h->near[k - 1].offset > x.offset; k--, left--)
			h->near[k] = h->near[k - 1];
		h->near[k] = x;
		if (left == 0) {
			qsort(h->near, n, sizeof *h->near, by_offset);
			return;
		}
	}
}

/* Lists the blocks that have their place and are in the way of block x, by offset; returns how many. */
static uint32_t find_near(struct heap *h, const struct block *x)
{
	uint32_t from = slot_of(h, x->begin), to = slot_of(h, x->begin + x->length), n;

	if (is_long(h, x))
		n = add_near(h, x, &h->slot[SLOTS + 1], true, 0);
	else
		n = add_near(h, x, &h->slot[SLOTS], true, 0);
	for (uint32_t k = from; k <= to && !is_long(h, x); k++)
		n = add_near(h, x, &h->slot[k], k == from, n);
	sort_near(h, n);
	return n;
}

static void add_to_slot(struct heap *h, uint32_t slot, uint32_t block)
{
	struct slot *s = &h->slot[slot];
	const struct block *x = &h->sorted[block];
	uint32_t k = s->n;

	MEM_GROW(&s->v, &s->cap, (size_t)s->n + 1);
	s->n++;
	for (; k > 0 && h->sorted[s->v[k - 1].block].offset > x->offset; k--)
		s->v[k] = s->v[k - 1];
	s->v[k] = (struct inmate){block, x->begin, x->begin + x->length};
}

/* Puts a block where it fits best among those that have their place. Returns where it ends. */
static uint64_t put(struct heap *h, uint32_t block)
{
	struct block *x = &h->sorted[block];
	uint64_t end = 0, best = UINT64_MAX;
	uint32_t n_near = find_near(h, x);

	for (uint32_t i = 0; i < n_near; i++) {
		const struct near *y = &h->near[i];
		if (y->offset >= end + x->size && y->offset - end < best) {
			best = y->offset - end;
			x->offset = end;
		}
		end = y->end > end ? y->end : end;
	}
	if (best == UINT64_MAX)
		x->offset = end;
	add_to_slot(h, SLOTS + 1, block);
	if (is_long(h, x))
		add_to_slot(h, SLOTS, block);
	for (uint32_t s = slot_of(h, x->begin); !is_long(h, x) && s <= slot_of(h, x->begin + x->length); s++)
		add_to_slot(h, s, block);
	return x->offset + x->size;
}

static uint64_t put_all(struct heap *h, int (*order)(const void *, const void *))
{
	uint64_t bytes = 0;

	memcpy(h->sorted, h->block, h->n * sizeof *h->sorted);
	for (uint32_t s = 0; s < SLOTS + 2; s++) {
		h->slot[s].n = 0;
		h->slot[s].start = (s * (h->clock + 1) + SLOTS - 1) / SLOTS;
	}
	if (h->n)
		qsort(h->sorted, h->n, sizeof *h->sorted, order);
	for (uint32_t i = 0; i < h->n; i++) {
		uint64_t end = put(h, i);
		bytes = end > bytes ? end : bytes;
	}
	return bytes;
}

static struct heap *make(const struct program *p)
{
	struct heap *h = MEM_NEW(1, struct heap);

	h->span = MEM_NEW(p->n_lives, struct span);
	h->of = MEM_NEW(p->n_values, uint32_t);
	h->joined = MEM_NEW(p->n_values, bool);
	h->event = MEM_NEW(2 * (size_t)p->n_lives, struct event);
	h->block = MEM_NEW(p->n_values, struct block);
	h->sorted = MEM_NEW(p->n_values, struct block);
	h->spans = MEM_NEW(p->n_lives, uint32_t);
	h->near = MEM_NEW(p->n_values, struct near);
	return h;
}

uint64_t heap_work(struct program *p)
{
	uint64_t alive = 0, pairs = 0;

	if (!p->heap)
		p->heap = make(p);
	set_clock(p);
	for (uint64_t i = 0; i < p->heap->clock; i++) {
		alive += p->heap->event[i].goes ? UINT64_MAX : 1;
		pairs += alive;
	}
	return pairs;
}

uint64_t heap_bytes(struct program *p)
{
	uint64_t small, other;

	if (!p->heap)
		p->heap = make(p);
	set_clock(p);
	find_blocks(p);
	small = put_all(p->heap, by_size);
	other = put_all(p->heap, by_length);
	return other < small ? other : small;
}

void heap_free(struct heap *h)
{
	if (!h)
		return;
	mem_free(h->span);
	mem_free(h->of);
	mem_free(h->joined);
	mem_free(h->event);
	mem_free(h->block);
	mem_free(h->sorted);
	mem_free(h->spans);
	mem_free(h->near);
	for (uint32_t s = 0; s < SLOTS + 2; s++)
		mem_free(h->slot[s].v);
	mem_free(h);
}
