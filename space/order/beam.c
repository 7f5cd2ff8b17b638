/*
 * beam.c - grows partial sequences of a window step by step.
 *
 * A partial sequence is judged by what it has run, not in which sequence: of two that ran the same steps, the one with
 * the smaller peak is kept. All that are kept have run equally many steps. Each is extended by every step that can run
 * and is near; those with the smallest peaks and the fewest bytes alive are kept for the next round.
 *
 * If a step that can run frees at least what it makes, and stays below the limit, nothing is lost by running it at
 * once: whatever comes later needs no more for it. So then the sequence is extended by this step alone. In most rounds
 * most sequences have such a step, so a beam of some hundred sequences looks at much more than as many orders.
 *
 * Backwards, a value comes to life at the first reader that is met and is gone behind its maker. Steps that are met
 * early there are late in the order. Some windows are easy from one end and hopeless from the other, so both are tried.
 *
 * Everything is numbered within the window, from the end at which sequences begin, so a state is a few hundred small
 * numbers, and costs the same in a program of any size.
 *
 * Dropped: sequences of whole orders, judged by the learnt scheduler's scores too. Without a known order to stay near
 * to, they need more bytes than annealing's orders, at any width that pays.
 */
#include "space/order/beam.h"

#include <stdlib.h>
#include <string.h>
#include "base/hash.h"
#include "base/mem.h"

#define ALIVE 0.3  /* the weight of bytes alive now, beside the peak so far */
#define NEAREST 8  /* the first beams stay so near to the present sequence */
#define NARROWEST 16 /* members of the first beams */

struct touched { /* a value that a step of the window makes or reads */
	uint64_t bytes;
	uint16_t readers; /* of the window */
	bool beyond;	  /* it is alive behind the window, too */
};

struct member { /* a partial sequence; the arrays follow one another in one piece of memory */
	uint64_t alive, peak, hash;
	uint16_t *missing; /* per step: steps that must run before it and have not; HAS_RUN */
	uint16_t *left;	   /* per value: readers that have not run */
	uint16_t *wait;	   /* steps that can run, ... */
	uint32_t n_wait;   /* ... so many */
	uint32_t front;	   /* the first step that has not run */
};
#define HAS_RUN UINT16_MAX

struct child { /* a member, and a step to extend it by */
	double key;
	uint64_t alive, peak, hash;
	uint32_t parent;
	uint16_t at, step; /* in the parent's list of steps that can run; its number */
};

struct beam {
	const struct course *c;
	const struct beam_options *o;
	const struct line *l;
	uint32_t first, n; /* the window; step i stands at position first + i, or backwards at first + n - 1 - i */
	uint32_t n_values;
	uint32_t *value_of; /* per value of the line: 1 + its number here, or 0 */
	struct touched *value;
	struct member *now, *next;
	uint32_t n_now;
	struct child *child;
	size_t n_children, cap_children;
	uint32_t *table, mask;	 /* of children that are kept: 1 + the number of a child, or 0 */
	uint32_t *parent;	 /* [n, width]: where each member of each round came from, ... */
	uint16_t *step;		 /* ... and by which step */
	uint64_t ran;		 /* steps that members ran */
};

static uint32_t step_at(const struct beam *b, uint32_t i)
{
	return b->c->order[b->o->backwards ? b->first + b->n - 1 - i : b->first + i];
}

/* Returns the number of a step of the line within the window; n or more if it is not in it. */
static uint32_t number_of(const struct beam *b, uint32_t v)
{
	uint32_t p = b->c->place[v] - b->first;

	return p >= b->n ? b->n : b->o->backwards ? b->n - 1 - p : p;
}

static void touch(struct beam *b, uint32_t x, bool read)
{
	if (!b->value_of[x]) {
		b->value[b->n_values] = (struct touched){b->l->value[x].bytes, 0,
			b->c->place[b->c->last[x]] >= b->first + b->n};
		b->value_of[x] = ++b->n_values;
	}
	b->value[b->value_of[x] - 1].readers += read;
}

static void touch_values(struct beam *b)
{
	for (uint32_t i = 0; i < b->n; i++) {
		uint32_t v = step_at(b, i);
		for (uint32_t k = b->l->reads.first[v]; k < b->l->reads.first[v + 1]; k++)
			touch(b, b->l->reads.item[k], true);
		for (uint32_t k = b->l->makes.first[v]; k < b->l->makes.first[v + 1]; k++)
			touch(b, b->l->makes.item[k], false);
	}
}

static const struct line_list *sooner(const struct beam *b)
{
	return b->o->backwards ? &b->l->after : &b->l->before;
}

static const struct line_list *later(const struct beam *b)
{
	return b->o->backwards ? &b->l->before : &b->l->after;
}

/* Bytes that a made value does not need because it takes the place of one that its maker reads last. */
static uint64_t saved(const struct beam *b, const struct member *m, uint32_t x)
{
	const struct line *l = b->l;

	for (uint32_t t = l->twins.first[x]; t < l->twins.first[x + 1]; t++) {
		uint32_t i = b->value_of[l->twins.item[t]] - 1;
		const struct touched *twin = &b->value[i];
		if (!twin->beyond && m->left[i] == (b->o->backwards ? twin->readers : 1))
			return l->value[x].bytes < twin->bytes ? l->value[x].bytes : twin->bytes;
	}
	return 0;
}

/* Computes what is alive at a step that runs next, and after it. */
static uint64_t at_step(const struct beam *b, const struct member *m, uint32_t v, uint64_t *after)
{
	const struct line *l = b->l;
	uint64_t then = m->alive + (uint64_t)l->inside[v];

	*after = m->alive;
	for (uint32_t k = l->makes.first[v]; k < l->makes.first[v + 1]; k++) {
		const struct touched *x = &b->value[b->value_of[l->makes.item[k]] - 1];
		then += x->bytes - saved(b, m, l->makes.item[k]);
		*after += x->readers || x->beyond ? x->bytes : 0;
	}
	for (uint32_t k = l->reads.first[v]; k < l->reads.first[v + 1]; k++) {
		uint32_t i = b->value_of[l->reads.item[k]] - 1;
		if (m->left[i] == 1 && !b->value[i].beyond)
			*after -= b->value[i].bytes;
	}
	return then;
}

/* The same backwards: `before` is what is alive before it. */
static uint64_t at_step_backwards(const struct beam *b, const struct member *m, uint32_t v, uint64_t *before)
{
	const struct line *l = b->l;
	uint64_t then = m->alive, made = 0, save = 0;

	for (uint32_t k = l->reads.first[v]; k < l->reads.first[v + 1]; k++) {
		uint32_t i = b->value_of[l->reads.item[k]] - 1;
		if (m->left[i] == b->value[i].readers && !b->value[i].beyond)
			then += b->value[i].bytes;
	}
	for (uint32_t k = l->makes.first[v]; k < l->makes.first[v + 1]; k++) {
		const struct touched *x = &b->value[b->value_of[l->makes.item[k]] - 1];
		made += x->bytes;
		save += saved(b, m, l->makes.item[k]);
		if (!x->readers && !x->beyond)
			then += x->bytes;
	}
	*before = then - made;
	return then + (uint64_t)l->inside[v] - save;
}

/* Lists how a member can be extended. */
static void extend(struct beam *b, uint32_t member)
{
	const struct member *m = &b->now[member];
	size_t first = b->n_children;
	double scale = (double)b->o->below;

	MEM_GROW(&b->child, &b->cap_children, first + m->n_wait);
	b->ran++;
	for (uint32_t w = 0; w < m->n_wait; w++) {
		uint32_t step = m->wait[w], v = step_at(b, step);
		uint64_t after, then;
		if (step >= m->front + b->o->near)
			continue;
		then = b->o->backwards ? at_step_backwards(b, m, v, &after) : at_step(b, m, v, &after);
		if (then >= b->o->below)
			continue;
		struct child x = {.alive = after, .peak = then > m->peak ? then : m->peak, .parent = member,
			.hash = m->hash ^ hash_zobrist(step, 1), .at = (uint16_t)w, .step = (uint16_t)step};
		x.key = (double)x.peak / scale + ALIVE * (double)after / scale;
		if (after <= m->alive) { /* nothing is lost by running it now */
			b->child[first] = x;
			b->n_children = first + 1;
			return;
		}
		b->child[b->n_children++] = x;
	}
}

static int by_key(const void *a, const void *b)
{
	const struct child *x = a, *y = b;

	if (x->key != y->key)
		return x->key < y->key ? -1 : 1;
	if (x->parent != y->parent)
		return x->parent < y->parent ? -1 : 1;
	return (x->at > y->at) - (x->at < y->at);
}

/* Notes that a child is kept, unless one before it has run the same steps. */
static bool is_new(struct beam *b, uint32_t child)
{
	uint32_t i = (uint32_t)(b->child[child].hash >> 32) & b->mask;

	for (; b->table[i]; i = (i + 1) & b->mask)
		if (b->child[b->table[i] - 1].hash == b->child[child].hash)
			return false;
	b->table[i] = child + 1;
	return true;
}

/* Makes a member of a child. */
static void run_step(const struct beam *b, struct member *m, const struct child *x)
{
	const struct member *from = &b->now[x->parent];
	const struct line_list *to = later(b);
	const struct line *l = b->l;
	uint32_t v = step_at(b, x->step);

	m->alive = x->alive;
	m->peak = x->peak;
	m->hash = x->hash;
	memcpy(m->missing, from->missing, b->n * sizeof *m->missing);
	memcpy(m->left, from->left, b->n_values * sizeof *m->left);
	m->n_wait = from->n_wait - 1;
	memcpy(m->wait, from->wait, x->at * sizeof *m->wait);
	memcpy(m->wait + x->at, from->wait + x->at + 1, (m->n_wait - x->at) * sizeof *m->wait);
	m->missing[x->step] = HAS_RUN;
	for (uint32_t k = l->reads.first[v]; k < l->reads.first[v + 1]; k++)
		m->left[b->value_of[l->reads.item[k]] - 1]--;
	for (uint32_t k = to->first[v]; k < to->first[v + 1]; k++) {
		uint32_t u = number_of(b, to->item[k]);
		if (u < b->n && --m->missing[u] == 0)
			m->wait[m->n_wait++] = (uint16_t)u;
	}
	for (m->front = from->front; m->front < b->n && m->missing[m->front] == HAS_RUN;)
		m->front++;
}

/* Extends all members by one step, and keeps the best. */
static void grow(struct beam *b, uint32_t round)
{
	struct member *old = b->now;
	uint32_t n = 0;

	b->n_children = 0;
	for (uint32_t i = 0; i < b->n_now; i++)
		extend(b, i);
	if (b->n_children)
		qsort(b->child, b->n_children, sizeof *b->child, by_key);
	memset(b->table, 0, ((size_t)b->mask + 1) * sizeof *b->table);
	for (uint32_t i = 0; i < b->n_children && n < b->o->width; i++) {
		if (!is_new(b, i))
			continue;
		run_step(b, &b->next[n], &b->child[i]);
		b->parent[(size_t)round * b->o->width + n] = b->child[i].parent;
		b->step[(size_t)round * b->o->width + n++] = b->child[i].step;
	}
	b->n_now = n;
	b->now = b->next;
	b->next = old;
}

static struct member *new_members(const struct beam *b)
{
	struct member *m = MEM_NEW(b->o->width, struct member);
	size_t each = 2 * (size_t)b->n + b->n_values;
	uint16_t *v = MEM_NEW(each * b->o->width, uint16_t);

	for (uint32_t i = 0; i < b->o->width; i++, v += each) {
		m[i].missing = v;
		m[i].wait = v + b->n;
		m[i].left = v + 2 * (size_t)b->n;
	}
	return m;
}

static void free_members(struct member *m)
{
	mem_free(m[0].missing);
	mem_free(m);
}

/* Makes the first member, which has run nothing. */
static void begin(struct beam *b)
{
	struct member *m = &b->now[0];
	uint32_t end = b->first + b->n - 1;

	b->n_now = 1;
	m->alive = b->o->backwards ? course_behind(b->c, end) : b->first ? course_behind(b->c, b->first - 1) : 0;
	for (uint32_t i = 0; i < b->n_values; i++)
		m->left[i] = b->value[i].readers;
	for (uint32_t i = 0; i < b->n; i++) {
		uint32_t v = step_at(b, i);
		for (uint32_t k = sooner(b)->first[v]; k < sooner(b)->first[v + 1]; k++)
			if (number_of(b, sooner(b)->item[k]) < b->n)
				m->missing[i]++;
		if (!m->missing[i])
			m->wait[m->n_wait++] = (uint16_t)i;
	}
}

/* Tries the sequence that the first of the members came by: the best, for they are sorted. */
static bool try_best(struct beam *b, struct course *c)
{
	uint32_t *sequence = MEM_NEW(b->n, uint32_t), at = 0;

	for (uint32_t i = b->n; i-- > 0;) {
		size_t k = (size_t)i * b->o->width + at;
		sequence[b->o->backwards ? b->n - 1 - i : i] = step_at(b, b->step[k]);
		at = b->parent[k];
	}
	course_try(c, b->first, b->n, sequence);
	mem_free(sequence);
	return c->trial.peak < b->o->below;
}

/* Chooses the window: as many steps as it may have, the position in its middle if both sides have enough. */
static void choose_window(struct beam *b, uint32_t at)
{
	uint32_t from = b->l->n_pinned, end = b->l->n;

	b->n = end - from < BEAM_WINDOW ? end - from : BEAM_WINDOW;
	b->first = at < from + b->n / 2 ? from : at - b->n / 2;
	if (b->first + b->n > end)
		b->first = end - b->n;
}

bool beam_search(struct course *c, uint32_t at, const struct beam_options *o, double *orders)
{
	struct beam b = {.c = c, .o = o, .l = c->line, .mask = 15};
	bool found = false;

	course_forget(c);
	choose_window(&b, at);
	if (!b.n || at < b.first)
		return false;
	while (b.mask / 2 < o->width)
		b.mask = 2 * b.mask + 1;
	b.value_of = MEM_NEW(b.l->n_values, uint32_t);
	b.value = MEM_NEW(b.l->n_values, struct touched);
	touch_values(&b);
	b.now = new_members(&b);
	b.next = new_members(&b);
	b.table = MEM_NEW((size_t)b.mask + 1, uint32_t);
	b.parent = MEM_NEW((size_t)b.n * o->width, uint32_t);
	b.step = MEM_NEW((size_t)b.n * o->width, uint16_t);
	begin(&b);
	for (uint32_t round = 0; round < b.n && b.n_now; round++)
		grow(&b, round);
	if (b.n_now)
		found = try_best(&b, c);
	*orders += (double)b.ran / b.l->n;
	mem_free(b.value_of);
	mem_free(b.value);
	free_members(b.now);
	free_members(b.next);
	mem_free(b.table);
	mem_free(b.parent);
	mem_free(b.step);
	mem_free(b.child);
	return found;
}

bool beam_press(struct course *c, struct beam_press *k, double *orders)
{
	struct beam_options *o = &k->o;

	if (!o->width)
		*o = (struct beam_options){.width = NARROWEST, .near = NEAREST};
	o->width = o->width < k->widest ? o->width : k->widest;
	o->below = course_peak(c);
	if (beam_search(c, course_where(c, o->below), o, orders)) {
		course_take(c);
		k->vain = 0;
		return true;
	}
	o->backwards = !o->backwards;
	if (++k->vain % 2)
		return true;
	if (o->width >= k->widest)
		return false;
	o->width = 2 * o->width < k->widest ? 2 * o->width : k->widest;
	o->near *= 2;
	return true;
}
