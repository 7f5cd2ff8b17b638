/*
 * anneal.c - see anneal.h.
 */
#include "space/order/anneal.h"

#include <math.h>
#include "base/mem.h"

#define WIDEST 4096	 /* places that a step is moved at most */

/* Of the window before a step: what must come with it goes to the front, the rest behind, both in their old order. */
static uint32_t pull(const struct course *c, uint32_t at, uint32_t to, uint8_t *mark, uint32_t *out)
{
	const struct line *l = c->line;
	uint32_t n = at - to + 1, moved = 0, front = 0, back;

	mark[c->order[at]] = 1;
	for (uint32_t p = at + 1; p-- > to;) {
		uint32_t v = c->order[p];
		if (!mark[v])
			continue;
		moved++;
		for (uint32_t k = l->before.first[v]; k < l->before.first[v + 1]; k++)
			if (c->place[l->before.item[k]] >= to)
				mark[l->before.item[k]] = 1;
	}
	back = moved;
	for (uint32_t p = to; p <= at; p++) {
		uint32_t v = c->order[p];
		out[mark[v] ? front++ : back++] = v;
		mark[v] = 0;
	}
	return moved < n ? n : 0;
}

/* Of the window behind a step: what must come after it goes to the back with it. */
static uint32_t push(const struct course *c, uint32_t at, uint32_t to, uint8_t *mark, uint32_t *out)
{
	const struct line *l = c->line;
	uint32_t n = to - at + 1, stay = n, front = 0, back;

	mark[c->order[at]] = 1;
	for (uint32_t p = at; p <= to; p++) {
		uint32_t v = c->order[p];
		if (!mark[v])
			continue;
		stay--;
		for (uint32_t k = l->after.first[v]; k < l->after.first[v + 1]; k++)
			if (c->place[l->after.item[k]] <= to)
				mark[l->after.item[k]] = 1;
	}
	back = stay;
	for (uint32_t p = at; p <= to; p++) {
		uint32_t v = c->order[p];
		out[mark[v] ? back++ : front++] = v;
		mark[v] = 0;
	}
	return stay > 0 ? n : 0;
}

uint32_t anneal_move(const struct course *c, uint32_t step, int64_t far, uint8_t *mark, uint32_t *out, uint32_t *first)
{
	int64_t at = c->place[step], to = at + far;

	to = to < 0 ? 0 : to >= c->line->n ? (int64_t)c->line->n - 1 : to;
	*first = (uint32_t)(to < at ? to : at);
	if (to == at)
		return 0;
	return to < at ? pull(c, (uint32_t)at, (uint32_t)to, mark, out) : push(c, (uint32_t)at, (uint32_t)to, mark, out);
}

int64_t anneal_distance(struct anneal *k)
{
	double d = exp(rng_unit(k->rng) * log((double)k->widest + 1));

	return rng_u64(k->rng) & 1 ? (int64_t)d : -(int64_t)d;
}

/* Is it to be taken? The temperature is a share of the peak; heat is a power of it. */
static bool accepted(struct anneal *k, double warmth)
{
	double now = k->course->heat, then = k->course->trial.heat;

	if (then <= now)
		return true;
	return rng_unit(k->rng) < exp(-log(then / now) / COURSE_POWER / warmth);
}

void anneal_moves(struct anneal *k, uint32_t moves, double warmth)
{
	struct course *c = k->course;

	for (uint32_t i = 0; i < moves && c->line->n > 1; i++) {
		uint32_t first, step = (uint32_t)rng_below(k->rng, c->line->n);
		uint32_t n = anneal_move(c, step, anneal_distance(k), k->mark, k->sequence, &first);
		k->moves++;
		if (n == 0)
			continue;
		course_try(c, first, n, k->sequence);
		if (!accepted(k, warmth))
			continue;
		k->taken++;
		course_take(c);
	}
}

void anneal_init(struct anneal *k, struct course *c, struct rng *r)
{
	*k = (struct anneal){.course = c, .rng = r, .widest = c->line->n < WIDEST ? c->line->n : WIDEST};
	k->mark = MEM_NEW(c->line->n, uint8_t);
	k->sequence = MEM_NEW(c->line->n, uint32_t);
}

void anneal_release(struct anneal *k)
{
	mem_free(k->mark);
	mem_free(k->sequence);
}
