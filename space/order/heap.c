/*
 * heap.c - lays out the heap as XLA does.
 *
 * XLA's clock advances by one with each value that comes or goes, and so does ours. At a step, values come before
 * others go, with one exception. A value that takes the place of an operand which dies there (line.h, twins) is in the
 * same block as that operand, and the operand goes right before it comes. How long values live decides between blocks
 * of the same size, so a tick too much can put a block elsewhere.
 *
 * In a large program few blocks live at the same time, so we must not compare a block with all others. Time is cut into
 * slots, each with a list of the blocks that live in it. A block that lives long is in no slot, but in one list of all
 * such blocks.
 *
 * To fit a block in, we need the blocks in its way sorted by where they lie. So lists are kept sorted, and what comes
 * from several lists is merged. If most blocks live at the same time, a list holds tens of thousands of them, and a new
 * one must not move all others. So the latest blocks are in a short list of their own. It is merged into the long one
 * when it is full.
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
	uint64_t time, made; /* `made`: when the maker of life `by` ran */
	uint32_t life, by;   /* `by`: the life itself, or the one that takes its place */
	enum { YIELDS, COMES, GOES } what;
};

#define SLOTS 256
#define LONG (SLOTS / 8) /* a block that lives in more slots than this is in the list of long ones */

struct inmate { /* a block in a list, with all that decides whether it is in the way, and of what */
	uint64_t offset, end;	/* where it lies in the heap; `end` is rounded */
	uint32_t comes, goes;	/* ticks */
	uint32_t block;
	bool many;		/* it lives in several spans */
};

#define LATEST 256 /* entries of a list's latest part before it is merged into the list */

struct slot {
	struct inmate *v, *latest; /* both sorted by offset */
	uint32_t n, n_latest;
	size_t cap, cap_latest;
	uint64_t start; /* the slot's first tick */
};

struct near {
	uint64_t offset, end; /* where the block begins and ends in the heap; `end` is rounded */
};

#define RUNS (2 * (LONG + 2)) /* sorted runs that the blocks in the way of one come from */

struct heap {
	struct span *span;   /* per life of the program */
	uint32_t *next;	     /* per value: the value that takes its place, or NONE */
	bool *joined;	     /* per value: it is in the block of another value */
	struct event *event;
	struct block *block, *sorted;
	uint32_t *spans;     /* the lives of all blocks, block by block */
	struct near *near, *spare; /* scratch: the blocks that are in the way of one; room to merge in */
	uint32_t run[RUNS + 1];	   /* where the sorted runs in `near` begin, and where the last one ends */
	uint32_t n_runs;
	struct slot slot[SLOTS + 2]; /* the last but one is the list of long blocks, the last is a list of all */
	uint64_t clock;	     /* the number of ticks */
	uint32_t n;	     /* the number of blocks */
	uint64_t align;	     /* of each buffer */
};

static int by_time(const void *a, const void *b)
{
	const struct event *x = a, *y = b;

	if (x->time != y->time)
		return x->time < y->time ? -1 : 1;
	if ((x->what == GOES) != (y->what == GOES))
		return y->what == GOES ? -1 : 1;
	if (x->made != y->made)
		return x->made < y->made ? -1 : 1;
	if (x->by != y->by)
		return x->by < y->by ? -1 : 1;
	return (x->what > y->what) - (x->what < y->what);
}

static bool in_heap(const struct program_value *x)
{
	return !x->result && x->room == NONE && x->size > 0;
}

static bool is_twin(const struct line *l, uint32_t made, uint32_t read)
{
	for (uint32_t k = l->twins.first[made]; k < l->twins.first[made + 1]; k++)
		if (l->twins.item[k] == read)
			return true;
	return false;
}

/*
 * Returns the value that dies where this one begins, and whose place this one takes; NONE if there is none. If several
 * could be it, XLA takes the first of its maker's operands. (So it did in all 20 pairs of such operands that were found
 * in dumps of Kalman, the graph network, the VAE and U-Net.)
 */
static uint32_t forerunner(struct program *p, const struct program_value *x)
{
	const struct program_life *a = &p->life[x->first];
	const struct line *l = program_line(p, a->comp);
	struct values *v = &p->values;

	if (x->n > 1 || l->twins.first[a->number] == l->twins.first[a->number + 1])
		return NONE;
	for (uint32_t o = 0; o < p->graph->node[a->maker].n_operands; o++) {
		uint32_t from = v->leaf[node_operands(p->graph, a->maker)[o]], life = values_life(v, from), at;
		if (v->home[life] != a->comp || !is_twin(l, a->number, v->number[life]))
			continue;
		at = p->of_name[values_of(v, from)];
		if (at != NONE && in_heap(&p->value[at]) && p->value[at].n == 1 && p->value[at].end == x->begin)
			return at;
	}
	return NONE;
}

/* Finds which value takes the place of which. */
static void find_next(struct program *p)
{
	struct heap *h = p->heap;

	memset(h->joined, 0, p->n_values * sizeof *h->joined);
	for (uint32_t i = 0; i < p->n_values; i++)
		h->next[i] = NONE;
	for (uint32_t i = 0; i < p->n_values; i++) {
		uint32_t before = in_heap(&p->value[i]) ? forerunner(p, &p->value[i]) : NONE;
		if (before != NONE && h->next[before] == NONE) {
			h->next[before] = i;
			h->joined[i] = true;
		}
	}
}

/* Adds what happens to a value; `next` is the value that takes its place, or NONE. */
static void add_events(struct program *p, uint32_t value, uint32_t next, uint32_t *n)
{
	struct event *event = p->heap->event;
	const struct program_value *x = &p->value[value];

	for (uint32_t k = x->first; k < x->first + x->n; k++) {
		uint32_t by = next == NONE ? k : p->value[next].first;
		event[(*n)++] = (struct event){p->life[k].begin, p->time[p->life[k].maker], k, k, COMES};
		event[(*n)++] = (struct event){p->life[k].end, p->time[p->life[by].maker], k, by,
			next == NONE ? GOES : YIELDS};
	}
}

static void set_clock(struct program *p)
{
	struct heap *h = p->heap;
	uint32_t n = 0;

	find_next(p);
	for (uint32_t i = 0; i < p->n_values; i++)
		if (in_heap(&p->value[i]))
			add_events(p, i, h->next[i], &n);
	if (n)
		qsort(h->event, n, sizeof *h->event, by_time);
	h->clock = n;
	for (uint32_t i = 0; i < n; i++)
		*(h->event[i].what == COMES ? &h->span[h->event[i].life].begin : &h->span[h->event[i].life].end) = i;
}

static void add_block(struct program *p, uint32_t value, uint32_t *n_spans)
{
	struct heap *h = p->heap;
	struct block *b = &h->block[h->n++];
	uint64_t end = 0;

	*b = (struct block){.size = p->value[value].size, .first = *n_spans, .begin = UINT64_MAX};
	for (uint32_t i = value; i != NONE; i = h->next[i])
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
	uint32_t n_spans = 0;

	h->n = 0;
	for (uint32_t i = 0; i < p->n_values; i++)
		if (in_heap(&p->value[i]) && !h->joined[i])
			add_block(p, i, &n_spans);
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
 * Adds a run to h->near: those blocks of a list that are in the way of block x and do not come before `start`. A list
 * may be long, and the answers follow no pattern that a processor could foresee. So each block is written down, and
 * counted only if it is one of them: there is no jump to predict.
 */
static void add_near(struct heap *h, const struct block *x, const struct inmate *v, uint32_t n, uint64_t start)
{
	uint64_t end = x->begin + x->length;
	uint32_t n_near = h->run[h->n_runs];

	for (uint32_t i = 0; i < n; i++) {
		const struct inmate *in = &v[i];
		bool together = (in->comes <= end) & (in->goes >= x->begin) & (in->comes >= start);
		h->near[n_near] = (struct near){in->offset, in->end};
		if (in->many | (x->n > 1))
			together = together && meet(h, x, &h->sorted[in->block]);
		n_near += together;
	}
	h->run[++h->n_runs] = n_near;
}

static void add_slot(struct heap *h, const struct block *x, const struct slot *s, uint64_t start)
{
	add_near(h, x, s->v, s->n, start);
	add_near(h, x, s->latest, s->n_latest, start);
}

/* Merges two runs that lie one after the other. */
static void merge(struct heap *h, uint32_t first, uint32_t second, uint32_t end)
{
	uint32_t n = second - first, i = 0, k = second, out = first;

	if (first == second || second == end || h->near[second - 1].offset <= h->near[second].offset)
		return;
	memcpy(h->spare, h->near + first, n * sizeof *h->spare);
	while (i < n)
		h->near[out++] = k == end || h->spare[i].offset <= h->near[k].offset ? h->spare[i++] : h->near[k++];
}

/* Merges the runs [from, to) into one. */
static void merge_runs(struct heap *h, uint32_t from, uint32_t to)
{
	uint32_t half = from + (to - from) / 2;

	if (to - from < 2)
		return;
	merge_runs(h, from, half);
	merge_runs(h, half, to);
	merge(h, h->run[from], h->run[half], h->run[to]);
}

/*
 * Lists the blocks that have their place and are in the way of block x, by offset; returns how many. Two blocks may
 * meet in several slots; to count them once, a block is taken from the slot in which it begins, or from the first slot
 * of x. The long ones are many, so they are merged once, with all others.
 */
static uint32_t find_near(struct heap *h, const struct block *x)
{
	uint32_t from = slot_of(h, x->begin), to = slot_of(h, x->begin + x->length), others;

	h->n_runs = 0;
	if (is_long(h, x))
		add_slot(h, x, &h->slot[SLOTS + 1], 0);
	for (uint32_t k = from; k <= to && !is_long(h, x); k++)
		add_slot(h, x, &h->slot[k], k == from ? 0 : h->slot[k].start);
	others = h->n_runs;
	if (!is_long(h, x))
		add_slot(h, x, &h->slot[SLOTS], 0);
	merge_runs(h, 0, others);
	merge_runs(h, others, h->n_runs);
	merge(h, 0, h->run[others], h->run[h->n_runs]);
	return h->run[h->n_runs];
}

/* Merges the latest into the list, from the end. */
static void settle_slot(struct slot *s)
{
	uint32_t i = s->n, k = s->n_latest, out = i + k;

	MEM_GROW(&s->v, &s->cap, (size_t)out);
	while (k > 0)
		s->v[--out] = i > 0 && s->v[i - 1].offset > s->latest[k - 1].offset ? s->v[--i] : s->latest[--k];
	s->n += s->n_latest;
	s->n_latest = 0;
}

static void add_to_slot(struct slot *s, const struct inmate *x)
{
	uint32_t k;

	if (s->n_latest == LATEST)
		settle_slot(s);
	k = s->n_latest++;
	MEM_GROW(&s->latest, &s->cap_latest, (size_t)s->n_latest);
	for (; k > 0 && s->latest[k - 1].offset > x->offset; k--)
		s->latest[k] = s->latest[k - 1];
	s->latest[k] = *x;
}

/* Enters a block that has its place now. */
static void enter(struct heap *h, uint32_t block)
{
	const struct block *x = &h->sorted[block];
	uint64_t end = (x->offset + x->size + h->align - 1) / h->align * h->align;
	const struct inmate in = {x->offset, end, (uint32_t)x->begin, (uint32_t)(x->begin + x->length), block,
		x->n > 1};

	add_to_slot(&h->slot[SLOTS + 1], &in);
	if (is_long(h, x)) {
		add_to_slot(&h->slot[SLOTS], &in);
		return;
	}
	for (uint32_t s = slot_of(h, x->begin); s <= slot_of(h, x->begin + x->length); s++)
		add_to_slot(&h->slot[s], &in);
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
	enter(h, block);
	return x->offset + x->size;
}

static uint64_t put_all(struct heap *h, int (*order)(const void *, const void *))
{
	uint64_t bytes = 0;

	memcpy(h->sorted, h->block, h->n * sizeof *h->sorted);
	for (uint32_t s = 0; s < SLOTS + 2; s++) {
		h->slot[s].n = h->slot[s].n_latest = 0;
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

	h->align = p->values.align;
	h->span = MEM_NEW(p->n_lives, struct span);
	h->next = MEM_NEW(p->n_values, uint32_t);
	h->joined = MEM_NEW(p->n_values, bool);
	h->event = MEM_NEW(2 * (size_t)p->n_lives, struct event);
	h->block = MEM_NEW(p->n_values, struct block);
	h->sorted = MEM_NEW(p->n_values, struct block);
	h->spans = MEM_NEW(p->n_lives, uint32_t);
	h->near = MEM_NEW(p->n_values + 1, struct near);
	h->spare = MEM_NEW(p->n_values, struct near);
	return h;
}

uint64_t heap_work(struct program *p)
{
	uint64_t alive = 0, pairs = 0;

	if (!p->heap)
		p->heap = make(p);
	set_clock(p);
	for (uint64_t i = 0; i < p->heap->clock; i++) {
		alive += p->heap->event[i].what == COMES ? 1 : UINT64_MAX;
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
	mem_free(h->next);
	mem_free(h->joined);
	mem_free(h->event);
	mem_free(h->block);
	mem_free(h->sorted);
	mem_free(h->spans);
	mem_free(h->near);
	mem_free(h->spare);
	for (uint32_t s = 0; s < SLOTS + 2; s++) {
		mem_free(h->slot[s].v);
		mem_free(h->slot[s].latest);
	}
	mem_free(h);
}
