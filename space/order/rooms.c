/*
 * rooms.c - gives values their rooms.
 *
 * A search does this after nearly every move, so it must be fast. Time is cut into slots, and for each slot a bit per
 * room says whether a value is in the room during that slot. A life that lasts through a whole slot cannot be in a room
 * that is busy then. So a few words of bits leave few of hundreds of rooms, and only these need a closer look.
 *
 * For that each room has a tree of the lives in it, sorted by when they begin, and each node knows when the last of the
 * lives below it ends. So the lives that meet a new one are found without a look at the others: a chain of 40,000
 * operations in place puts all its values into one room. The tree is a treap, which numbers that look random keep
 * shallow. Lives in one room hardly overlap, but several lives of one value may, so a sorted list would not do.
 *
 * Values are sorted by insertion, because few change places from one call to the next.
 */
#include "space/order/rooms.h"

#include <stdlib.h>
#include <string.h>
#include "base/hash.h"
#include "base/mem.h"
#include "space/order/own.h"

#define SLOTS 256

struct placed { /* a life in a room; it has the number of the life */
	uint32_t value;
	uint32_t sooner, later; /* subtrees of those that begin before it, and of the others */
	uint64_t last; /* when the last of them all ends */
};

struct rooms {
	struct placed *placed;
	uint32_t *room, *root; /* per room: the result that it is the memory of; the tree of lives in it */
	uint32_t n, words;
	uint64_t slot; /* the length of a slot */
	uint64_t *busy, *not; /* per slot a bit for each room; scratch: the rooms that a value cannot have */
	/* per operand of all nodes: 1: the node's result may be written over it, 2: it may not, 0: not asked yet */
	uint8_t *may;
};

static bool sooner(const struct program_value *x, const struct program_value *y)
{
	if (x->size != y->size)
		return x->size > y->size;
	if (x->result != y->result)
		return x->result;
	if (x->rank != y->rank)
		return x->rank < y->rank;
	return x->name < y->name;
}

static int by_rank(const void *a, const void *b)
{
	return sooner(a, b) ? -1 : sooner(b, a);
}

/* Sorts by insertion, because all but the first time the values are nearly sorted; gives up if that takes long. */
static void sort(struct program *p)
{
	uint64_t left = 16 * (uint64_t)p->n_values;

	for (uint32_t i = 1; i < p->n_values; i++) {
		struct program_value x = p->value[i];
		uint32_t k = i;
		for (; k > 0 && left > 0 && sooner(&x, &p->value[k - 1]); k--, left--)
			p->value[k] = p->value[k - 1];
		p->value[k] = x;
		if (left == 0) {
			qsort(p->value, p->n_values, sizeof *p->value, by_rank);
			return;
		}
	}
}

static bool may_share(struct program *p, uint32_t node, uint32_t operand)
{
	uint8_t *may = &p->rooms->may[p->graph->node[node].operand + operand];

	if (*may == 0)
		*may = order_may_share(p->graph, node, operand) ? 1 : 2;
	return *may == 1;
}

/* May `made`, a value that node `maker` makes, be written over the buffer `name`? */
static bool written_over(struct program *p, uint32_t name, uint32_t maker, uint32_t made)
{
	const struct graph *g = p->graph;
	struct values *v = &p->values;

	for (uint32_t o = 0; o < g->node[maker].n_operands; o++) {
		uint32_t from = node_operands(g, maker)[o];
		if (!values_array(v, from) || values_of(v, v->leaf[from]) != name || !may_share(p, maker, o))
			continue;
		/* a sort has several values, each of which may be written over its own operand */
		if (values_array(v, maker) || values_of(v, v->leaf[maker] + 1 + o) == made)
			return true;
	}
	return false;
}

static bool lives_collide(struct program *p, const struct program_value *x, const struct program_life *a,
	const struct program_value *y, const struct program_life *b)
{
	if (a->begin > b->end || b->begin > a->end)
		return false;
	if (a->end == b->begin)
		return !written_over(p, x->name, b->maker, y->name);
	if (b->end == a->begin)
		return !written_over(p, y->name, a->maker, x->name);
	return true;
}

/* Is a life of the value in the way of none in the tree? */
static bool is_free(struct program *p, uint32_t root, const struct program_value *x, const struct program_life *a)
{
	const struct placed *t = p->rooms->placed + root;

	if (root == NONE || t->last < a->begin)
		return true;
	if (lives_collide(p, &p->value[t->value], &p->life[root], x, a) || !is_free(p, t->sooner, x, a))
		return false;
	return p->life[root].begin > a->end || is_free(p, t->later, x, a);
}

static bool fits(const struct program *p, uint32_t room, const struct program_value *x)
{
	const struct rooms *r = p->rooms;

	if (p->value[r->room[room]].size < x->size)
		return false;
	for (uint32_t i = x->first; i < x->first + x->n; i++)
		if (!is_free((struct program *)p, r->root[room], x, &p->life[i]))
			return false;
	return true;
}

static uint64_t last_of(const struct rooms *r, uint32_t root)
{
	return root == NONE ? 0 : r->placed[root].last;
}

static void note_last(const struct program *p, uint32_t root)
{
	struct placed *t = p->rooms->placed + root;
	uint64_t sooner = last_of(p->rooms, t->sooner), later = last_of(p->rooms, t->later);

	t->last = p->life[root].end > sooner ? p->life[root].end : sooner;
	t->last = t->last > later ? t->last : later;
}

/* Cuts a tree in two: the lives that begin before this time, and the others. */
static void cut(const struct program *p, uint32_t root, uint64_t begin, uint32_t *sooner, uint32_t *later)
{
	struct placed *t = p->rooms->placed + root;

	if (root == NONE) {
		*sooner = *later = NONE;
		return;
	}
	if (p->life[root].begin < begin) {
		cut(p, t->later, begin, &t->later, later);
		*sooner = root;
	} else {
		cut(p, t->sooner, begin, sooner, &t->sooner);
		*later = root;
	}
	note_last(p, root);
}

/* Adds a life to a tree; returns its new root. */
static uint32_t plant(const struct program *p, uint32_t root, uint32_t life)
{
	struct placed *all = p->rooms->placed;

	if (root != NONE && hash_mix(0, root) >= hash_mix(0, life)) {
		uint32_t *side = p->life[root].begin < p->life[life].begin ? &all[root].later : &all[root].sooner;
		*side = plant(p, *side, life);
		note_last(p, root);
		return root;
	}
	cut(p, root, p->life[life].begin, &all[life].sooner, &all[life].later);
	note_last(p, life);
	return life;
}

static uint32_t slot_of(const struct rooms *r, uint64_t time)
{
	return time / r->slot < SLOTS ? (uint32_t)(time / r->slot) : SLOTS - 1;
}

static void move_in(struct program *p, uint32_t room, uint32_t value)
{
	struct rooms *r = p->rooms;
	const struct program_value *x = &p->value[value];

	p->value[value].room = room;
	for (uint32_t i = x->first; i < x->first + x->n; i++) {
		const struct program_life *y = &p->life[i];
		r->placed[i].value = value;
		r->root[room] = plant(p, r->root[room], i);
		for (uint32_t s = slot_of(r, y->begin); y->begin < y->end && s <= slot_of(r, y->end - 1); s++)
			r->busy[s * r->words + room / 64] |= UINT64_C(1) << room % 64;
	}
}

/* Returns the room of an operand of one of the value's makers, if the value fits there too; else NONE. */
static uint32_t with_operand(const struct program *p, const struct program_value *x)
{
	const struct graph *g = p->graph;
	const struct values *v = &p->values;

	for (uint32_t i = x->first; i < x->first + x->n; i++) {
		uint32_t m = p->life[i].maker;
		if (!values_array(v, m))
			continue;
		for (uint32_t o = 0; o < g->node[m].n_operands; o++) {
			uint32_t from = node_operands(g, m)[o], at;
			if (!values_array(v, from))
				continue;
			at = p->of_name[values_of(v, v->leaf[from])];
			if (at != NONE && p->value[at].room != NONE && fits(p, p->value[at].room, x))
				return p->value[at].room;
		}
	}
	return NONE;
}

/* Returns the smallest of the rooms so far in which the value fits, or NONE. */
static uint32_t smallest(const struct program *p, const struct program_value *x)
{
	const struct rooms *r = p->rooms;

	memset(r->not, 0, r->words * sizeof *r->not);
	for (uint32_t i = x->first; i < x->first + x->n; i++) {
		const struct program_life *y = &p->life[i];
		uint64_t from = (y->begin + r->slot - 1) / r->slot, to = y->end / r->slot;
		for (uint64_t s = from; s < to && s < SLOTS; s++)
			for (uint32_t w = 0; w < r->words; w++)
				r->not[w] |= r->busy[s * r->words + w];
	}
	for (uint32_t k = r->n; k-- > 0;)
		if (!(r->not[k / 64] >> k % 64 & 1) && fits(p, k, x))
			return k;
	return NONE;
}

static void begin(struct program *p)
{
	struct rooms *r = p->rooms;
	uint32_t results = 0;
	uint64_t last = 0;

	if (!r) {
		r = p->rooms = MEM_NEW(1, struct rooms);
		for (uint32_t i = 0; i < p->n_values; i++)
			results += p->value[i].result;
		r->words = results / 64 + 1;
		r->placed = MEM_NEW(p->n_lives, struct placed);
		r->room = MEM_NEW(results, uint32_t);
		r->root = MEM_NEW(results, uint32_t);
		r->busy = MEM_NEW((size_t)SLOTS * r->words, uint64_t);
		r->not = MEM_NEW(r->words, uint64_t);
		r->may = MEM_NEW(p->graph->n_edges, uint8_t);
	}
	for (uint32_t i = 0; i < p->n_values; i++)
		last = p->value[i].begin > last ? p->value[i].begin : last;
	r->slot = last / SLOTS + 1;
	r->n = 0;
	memset(r->busy, 0, (size_t)SLOTS * r->words * sizeof *r->busy);
}

void rooms_give(struct program *p)
{
	struct rooms *r;

	begin(p);
	r = p->rooms;
	sort(p);
	for (uint32_t i = 0; i < p->n_values; i++) {
		p->of_name[p->value[i].name] = i;
		p->value[i].room = NONE;
	}
	for (uint32_t i = 0; i < p->n_values; i++) {
		struct program_value *x = &p->value[i];
		uint32_t room;
		if (x->result) {
			r->room[r->n] = i;
			r->root[r->n] = NONE;
			move_in(p, r->n++, i);
			continue;
		}
		room = r->n ? with_operand(p, x) : NONE;
		if (room == NONE)
			room = smallest(p, x);
		if (room != NONE)
			move_in(p, room, i);
	}
}

void rooms_free(struct rooms *r)
{
	if (!r)
		return;
	mem_free(r->placed);
	mem_free(r->room);
	mem_free(r->root);
	mem_free(r->busy);
	mem_free(r->not);
	mem_free(r->may);
	mem_free(r);
}
