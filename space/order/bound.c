/*
 * bound.c - finds the lower bound by looking at single steps.
 *
 * To find what a step needs, we walk over all steps that must come before it and all that must come after it. Few steps
 * are worth that walk. A step never needs more than the bytes that are alive at it in the program's present order. So
 * we take the steps by these bytes, the largest first, and stop when they are no more than the bound so far. All walks
 * together have a limit; whenever we stop, the largest figure so far is a bound.
 */
#include "space/order/bound.h"

#include <stdlib.h>
#include <string.h>
#include "space/order/exact.h"

#define WALKED 100000000 /* the most edges that all walks together go over */
#define SETS 200000	 /* the most sets that the exact search may remember for a line */

struct walk {
	const struct line *l;
	uint32_t *up, *down, *seen; /* per step, per step, per value: the last walk (`walk`) that met it */
	uint32_t walk;
	uint32_t *stack;
	uint32_t *alive, n_alive; /* values at the step */
	uint64_t walked;
};

static void walk_init(struct walk *w, const struct line *l)
{
	*w = (struct walk){.l = l};
	w->up = MEM_NEW(l->n, uint32_t);
	w->down = MEM_NEW(l->n, uint32_t);
	w->seen = MEM_NEW(l->n_values, uint32_t);
	w->stack = MEM_NEW(l->n, uint32_t);
	w->alive = MEM_NEW(l->n_values, uint32_t);
}

static void walk_release(struct walk *w)
{
	mem_free(w->up);
	mem_free(w->down);
	mem_free(w->seen);
	mem_free(w->stack);
	mem_free(w->alive);
}

/* Marks a step and all steps that the lists lead to from it. They are on the stack then; returns how many. */
static uint32_t spread(struct walk *w, const struct line_list *to, uint32_t *mark, uint32_t step)
{
	uint32_t n = 0;

	mark[step] = w->walk;
	w->stack[n++] = step;
	for (uint32_t i = 0; i < n; i++)
		for (uint32_t k = to->first[w->stack[i]]; k < to->first[w->stack[i] + 1]; k++, w->walked++)
			if (mark[to->item[k]] != w->walk) {
				mark[to->item[k]] = w->walk;
				w->stack[n++] = to->item[k];
			}
	return n;
}

static bool read_after(const struct walk *w, uint32_t value, uint32_t step)
{
	const struct line *l = w->l;

	for (uint32_t k = l->readers.first[value]; k < l->readers.first[value + 1]; k++)
		if (l->readers.item[k] != step && w->down[l->readers.item[k]] == w->walk)
			return true;
	return false;
}

/*
 * Bytes that a value which the step makes does not need, because it may take the place of one that the step reads last.
 */
static uint64_t saved(const struct walk *w, uint32_t made, uint32_t step)
{
	const struct line *l = w->l;
	uint64_t most = 0;

	for (uint32_t k = l->twins.first[made]; k < l->twins.first[made + 1]; k++) {
		const struct line_value *twin = &l->value[l->twins.item[k]];
		uint64_t bytes = twin->bytes < l->value[made].bytes ? twin->bytes : l->value[made].bytes;
		if (bytes > most && !read_after(w, l->twins.item[k], step))
			most = bytes;
	}
	return most;
}

/* Returns the bytes that a step needs in every order, and lists their values in w->alive. Pinned steps come first. */
static uint64_t needs(struct walk *w, uint32_t step)
{
	const struct line *l = w->l;
	int64_t bytes = l->inside[step];
	uint32_t n;

	w->walk++;
	w->n_alive = 0;
	spread(w, &l->before, w->up, step);
	n = spread(w, &l->after, w->down, step);
	for (uint32_t i = 0; i < n; i++) {
		uint32_t v = w->stack[i];
		for (uint32_t k = l->reads.first[v]; k < l->reads.first[v + 1]; k++) {
			uint32_t x = l->reads.item[k], maker = l->value[x].maker;
			w->walked++;
			if (w->seen[x] == w->walk || maker == step || (w->up[maker] != w->walk && !l->pinned[maker]))
				continue;
			w->seen[x] = w->walk;
			w->alive[w->n_alive++] = x;
			bytes += (int64_t)l->value[x].bytes;
		}
	}
	for (uint32_t k = l->makes.first[step]; k < l->makes.first[step + 1]; k++) {
		uint32_t x = l->makes.item[k];
		w->alive[w->n_alive++] = x;
		bytes += (int64_t)(l->value[x].bytes - saved(w, x, step));
	}
	return bytes > 0 ? (uint64_t)bytes : 0;
}

uint64_t bound_step(const struct line *l, uint32_t step)
{
	struct walk w;
	uint64_t bytes;

	if (l->pinned[step])
		return 0;
	walk_init(&w, l);
	bytes = needs(&w, step);
	walk_release(&w);
	return bytes;
}

/* For each value of the entry's line: its number among the program's values; NONE if it has no memory. */
static uint32_t *values_of_entry(struct program *p)
{
	uint32_t *of = MEM_NEW(program_line(p, p->graph->entry)->n_values, uint32_t);

	for (uint32_t i = 0; i < program_line(p, p->graph->entry)->n_values; i++)
		of[i] = NONE;
	for (uint32_t i = 0; i < p->n_values; i++)
		for (uint32_t k = p->value[i].first; k < p->value[i].first + p->value[i].n; k++)
			if (p->life[k].comp == p->graph->entry)
				of[p->life[k].number] = i;
	return of;
}

static int larger(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return (*x < *y) - (*x > *y);
}

struct relief { /* scratch of relieved() */
	uint32_t *of;
	uint64_t *room, *size;
};

/* Is the result made before the step, in every order? Then no other value is in its memory while the step runs. */
static bool made_before(const struct program *p, const struct walk *w, const struct program_value *x, uint32_t step)
{
	const struct program_life *life = &p->life[x->first];
	uint32_t maker = life->maker - p->graph->comp[p->graph->entry].first;

	return x->n == 1 && life->comp == p->graph->entry && maker != step && w->up[maker] == w->walk;
}

/*
 * Returns the most bytes that can be in the memory of results while a step runs. Each result takes one value that is no
 * larger. The largest values come first: a value finds room if there are more results of at least its size than values
 * that have room already. If a step runs a computation, we do not know what is inside, so all results count as full.
 */
static uint64_t relieved(const struct program *p, const struct walk *w, struct relief *r, uint32_t step)
{
	uint32_t n_rooms = 0, n_sizes = 0, fit = 0, taken = 0;
	uint64_t bytes = 0, all = 0;

	for (uint32_t i = 0; i < p->n_values; i++)
		if (p->value[i].result && !made_before(p, w, &p->value[i], step)) {
			r->room[n_rooms++] = p->value[i].size;
			all += values_rounded(&p->values, p->value[i].size);
		}
	if (w->l->inside[step])
		return all;
	for (uint32_t i = 0; i < w->n_alive; i++) {
		uint32_t x = r->of[w->alive[i]];
		if (x != NONE && !p->value[x].result)
			r->size[n_sizes++] = p->value[x].size;
	}
	if (n_rooms)
		qsort(r->room, n_rooms, sizeof *r->room, larger);
	if (n_sizes)
		qsort(r->size, n_sizes, sizeof *r->size, larger);
	for (uint32_t i = 0; i < n_sizes; i++) {
		while (fit < n_rooms && r->room[fit] >= r->size[i])
			fit++;
		if (taken < fit) {
			taken++;
			bytes += values_rounded(&p->values, r->size[i]);
		}
	}
	return bytes;
}

struct candidate {
	uint64_t bytes;
	uint32_t step;
};

static int by_bytes(const void *a, const void *b)
{
	const struct candidate *x = a, *y = b;

	if (x->bytes != y->bytes)
		return x->bytes < y->bytes ? 1 : -1;
	return (x->step > y->step) - (x->step < y->step);
}

/* Lists the steps that are not pinned, by their bytes in the course's order; returns how many. */
static uint32_t find_candidates(const struct course *c, struct candidate *out)
{
	uint32_t n = 0;

	for (uint32_t v = 0; v < c->line->n; v++)
		if (!c->line->pinned[v])
			out[n++] = (struct candidate){c->bytes[c->place[v]], v};
	if (n)
		qsort(out, n, sizeof *out, by_bytes);
	return n;
}

/* The bound of one line by its steps. `r` is NULL if none of its values can be in the memory of results. */
static uint64_t by_steps(struct program *p, uint32_t comp, struct relief *r, uint64_t *walked)
{
	const struct line *l = program_line(p, comp);
	struct candidate *at = MEM_NEW(l->n, struct candidate);
	uint32_t n = find_candidates(&p->course[comp], at);
	uint64_t best = 0;
	struct walk w;

	walk_init(&w, l);
	w.walked = *walked;
	for (uint32_t i = 0; i < n && at[i].bytes > best && w.walked < WALKED; i++) {
		uint64_t bytes = needs(&w, at[i].step), less;
		if (bytes <= best)
			continue;
		less = r ? relieved(p, &w, r, at[i].step) : 0;
		best = bytes > less && bytes - less > best ? bytes - less : best;
	}
	*walked = w.walked;
	walk_release(&w);
	mem_free(at);
	return best;
}

/* The most bytes that can ever be in the memory of results: each takes the largest value that is no larger. */
static uint64_t in_results(const struct program *p, struct relief *r)
{
	uint64_t bytes = 0;
	uint32_t n = 0;

	for (uint32_t i = 0; i < p->n_values; i++)
		if (!p->value[i].result && p->value[i].size)
			r->size[n++] = p->value[i].size;
	if (n)
		qsort(r->size, n, sizeof *r->size, larger);
	for (uint32_t i = 0; i < p->n_values; i++) {
		uint32_t low = 0, high = n; /* looks for the first size that is no larger */
		while (p->value[i].result && low < high) {
			uint32_t middle = (low + high) / 2;
			if (r->size[middle] > p->value[i].size)
				low = middle + 1;
			else
				high = middle;
		}
		bytes += p->value[i].result && low < n ? values_rounded(&p->values, r->size[low]) : 0;
	}
	return bytes;
}

/*
 * The bound of a line. If the exact figure can be found, it is that, less what may be in the memory of results; if the
 * bound by steps is larger, it is that one.
 */
static uint64_t of_line(struct bound *b, struct program *p, uint32_t comp, struct relief *r, uint64_t *walked)
{
	const struct line *l = program_line(p, comp);
	uint64_t bytes = 0, less = r ? in_results(p, r) : 0, other;
	struct err no = {0};

	b->order[comp] = MEM_NEW(l->n, uint32_t);
	if (exact_order(l, SETS, b->order[comp], &bytes, &no) < 0) {
		mem_free(b->order[comp]);
		b->order[comp] = NULL;
	}
	if (b->order[comp] && !less)
		return bytes;
	bytes = bytes > less ? bytes - less : 0;
	other = by_steps(p, comp, r, walked);
	return other > bytes ? other : bytes;
}

/* Gives all values but results the weight that they have in the heap. */
static void weigh_all(struct program *p)
{
	for (uint32_t i = 0; i < p->n_values; i++)
		for (uint32_t k = p->value[i].first; k < p->value[i].first + p->value[i].n; k++)
			program_line(p, p->life[k].comp)->value[p->life[k].number].bytes =
				p->value[i].result ? 0 : values_rounded(&p->values, p->value[i].size);
}

void bound_find(struct bound *b, struct program *p)
{
	uint32_t entry = p->graph->entry;
	struct relief r = {.of = values_of_entry(p)};
	uint64_t walked = 0;

	*b = (struct bound){.n = p->graph->n_comps, .align = p->values.align,
		.comp = MEM_NEW(p->graph->n_comps, uint64_t), .order = MEM_NEW(p->graph->n_comps, uint32_t *)};
	r.room = MEM_NEW(p->n_values, uint64_t);
	r.size = MEM_NEW(p->n_values, uint64_t);
	program_settle(p);
	weigh_all(p);
	for (uint32_t c = 0; c < p->graph->n_comps; c++) {
		if (!program_line(p, c)->n)
			continue;
		values_inside(&p->values, b->comp, c);
		course_set(&p->course[c], p->order[c]);
		b->comp[c] = of_line(b, p, c, c == entry ? &r : NULL, &walked);
	}
	b->bytes = b->comp[entry] + p->tables;
	mem_free(r.of);
	mem_free(r.room);
	mem_free(r.size);
	program_settle(p);
}

bool bound_reached(const struct bound *b, uint64_t bytes)
{
	return (bytes + b->align - 1) / b->align * b->align <= b->bytes;
}

void bound_release(struct bound *b)
{
	for (uint32_t c = 0; c < b->n; c++)
		mem_free(b->order[c]);
	mem_free(b->comp);
	mem_free(b->order);
	*b = (struct bound){0};
}
