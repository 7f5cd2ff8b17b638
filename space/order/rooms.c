/*
 * rooms.c - see rooms.h. A room keeps a list of whom it holds, threaded through one array.
 */
#include "space/order/rooms.h"

#include <stdlib.h>
#include "space/order/own.h"

struct placed {
	uint32_t value, next;
};

struct rooms {
	struct program *p;
	uint32_t *room, *first; /* values that are results, in the order they came; the last that each took in */
	uint32_t n, n_placed;
};

static int by_turn(const void *a, const void *b)
{
	const struct program_value *x = a, *y = b;

	if (x->size != y->size)
		return x->size > y->size ? -1 : 1;
	if (x->result != y->result)
		return x->result ? -1 : 1;
	if (x->begin != y->begin)
		return x->begin < y->begin ? -1 : 1;
	return (x->name > y->name) - (x->name < y->name);
}

/* May what `later` is be written over `earlier`, whose life ends where it begins? */
static bool written_over(struct program *p, const struct program_value *earlier, const struct program_value *later)
{
	const struct graph *g = p->graph;
	struct values *v = &p->values;
	uint32_t m = later->maker;

	for (uint32_t o = 0; o < g->node[m].n_operands; o++) {
		uint32_t from = node_operands(g, m)[o];
		if (v->leaf[from + 1] == v->leaf[from] + 1 && values_of(v, v->leaf[from]) == earlier->name &&
			order_may_share(g, m, o))
			return true;
	}
	return false;
}

static bool in_the_way(struct program *p, const struct program_value *a, const struct program_value *b)
{
	if (a->begin > b->end || b->begin > a->end)
		return false;
	if (a->end == b->begin)
		return !written_over(p, a, b);
	if (b->end == a->begin)
		return !written_over(p, b, a);
	return true;
}

static bool fits(const struct rooms *r, uint32_t room, const struct program_value *x)
{
	if (r->p->value[r->room[room]].size < x->size)
		return false;
	for (uint32_t k = r->first[room]; k != NONE; k = r->p->placed[k].next)
		if (in_the_way(r->p, &r->p->value[r->p->placed[k].value], x))
			return false;
	return true;
}

static void move_in(struct rooms *r, uint32_t room, uint32_t value)
{
	r->p->placed[r->n_placed] = (struct placed){value, r->first[room]};
	r->first[room] = r->n_placed++;
	r->p->value[value].room = room;
}

/* The room of an operand of the value's maker that takes the value in, too; NONE. */
static uint32_t with_operand(const struct rooms *r, const struct program_value *x)
{
	struct program *p = r->p;
	const struct graph *g = p->graph;
	struct values *v = &p->values;
	uint32_t m = x->maker;

	if (v->leaf[m + 1] != v->leaf[m] + 1)
		return NONE;
	for (uint32_t o = 0; o < g->node[m].n_operands; o++) {
		uint32_t from = node_operands(g, m)[o], at;
		if (v->leaf[from + 1] != v->leaf[from] + 1)
			continue;
		at = p->of_name[values_of(v, v->leaf[from])];
		if (at != NONE && p->value[at].room != NONE && fits(r, p->value[at].room, x))
			return p->value[at].room;
	}
	return NONE;
}

void rooms_give(struct program *p)
{
	struct rooms r = {.p = p};

	qsort(p->value, p->n_values, sizeof *p->value, by_turn);
	for (uint32_t i = 0; i < p->n_values; i++) {
		p->of_name[p->value[i].name] = i;
		p->value[i].room = NONE;
	}
	MEM_GROW(&p->placed, &p->cap_placed, p->n_values);
	r.room = MEM_NEW(p->n_values, uint32_t);
	r.first = MEM_NEW(p->n_values, uint32_t);
	for (uint32_t i = 0; i < p->n_values; i++) {
		struct program_value *x = &p->value[i];
		uint32_t room = NONE;
		if (x->result) {
			r.room[r.n] = i;
			r.first[r.n] = NONE;
			move_in(&r, r.n++, i);
			continue;
		}
		room = with_operand(&r, x);
		for (uint32_t k = r.n; k-- > 0 && room == NONE;)
			room = fits(&r, k, x) ? k : NONE;
		if (room != NONE)
			move_in(&r, room, i);
	}
	mem_free(r.room);
	mem_free(r.first);
}
