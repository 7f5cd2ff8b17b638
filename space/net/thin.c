/*
 * thin.c - leaves out ticks at which memory is never larger than at another tick.
 *
 * Tick s covers tick t if memory at t is at most that at s for all choices. That is so if
 *
 *	base(t) - base(s) + sum over variables of the most, over choices, of usage(t) - usage(s)  <=  0
 *
 * We walk away from s in both directions, and update the sum as uses begin and end, one variable at a time. First we
 * walk a few steps from every tick. Then we walk all the way from the ticks that can need most memory, as long as that
 * pays. Of the thirty thousand ticks of a real net some hundreds remain. Then we join the uses of a variable that are
 * now over the same ticks.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "space/net/reduced.h"

#define NEAR 24		       /* how many ticks we walk from every tick, in each direction */
#define WORK ((size_t)1 << 28) /* steps of the long walks */

struct event {
	uint32_t var, use;
};

struct walk {
	struct reduced *m;
	uint32_t *first; /* [n_ticks + 2] the first event at each tick; an event is a use that begins or ends there */
	struct event *event;
	uint32_t *row;	 /* [n_vars + 1] where a variable's choices begin in diff */
	double *diff;	 /* per choice: its usage at the present tick minus its usage at the first */
	double *most;	 /* per variable: the largest of its diff */
	uint32_t *touched;
	uint32_t n_touched;
	bool *gone;
	size_t work;
};

static void list_events(struct walk *w)
{
	struct reduced *m = w->m;

	w->first = MEM_NEW(m->n_ticks + 3, uint32_t);
	for (uint32_t pass = 0; pass < 2; pass++) {
		for (uint32_t v = 0; v < m->n_vars; v++)
			for (uint32_t i = 0; i < m->var[v].n_uses; i++) {
				const struct use *u = &m->var[v].use[i];
				if (pass == 0) {
					w->first[u->from + 2]++;
					w->first[u->to + 2]++;
					continue;
				}
				w->event[w->first[u->from + 1]++] = (struct event){v, i};
				w->event[w->first[u->to + 1]++] = (struct event){v, i};
			}
		if (pass == 0) {
			for (uint32_t t = 2; t < m->n_ticks + 3; t++)
				w->first[t] += w->first[t - 1];
			w->event = MEM_NEW(w->first[m->n_ticks + 2] + 1, struct event);
		}
	}
}

/* Adds (sign 1) or removes (-1) a use on the walk. Returns how much the sum of all most[] changes. */
static double step(struct walk *w, const struct event *e, double sign)
{
	const struct var *v = &w->m->var[e->var];
	const double *usage = v->use[e->use].usage;
	double *diff = w->diff + w->row[e->var], most = -INFINITY, old = w->most[e->var];

	for (uint32_t k = 0; k < v->choices; k++) {
		diff[k] += sign * usage[k];
		most = diff[k] > most ? diff[k] : most;
	}
	w->most[e->var] = most;
	w->touched[w->n_touched++] = e->var;
	w->work += v->choices;
	return most - old;
}

static void forget(struct walk *w)
{
	for (uint32_t i = 0; i < w->n_touched; i++) {
		uint32_t v = w->touched[i];
		memset(w->diff + w->row[v], 0, w->m->var[v].choices * sizeof *w->diff);
		w->most[v] = 0;
	}
	w->n_touched = 0;
}

/* Marks the ticks that s covers and that are at most `far` ticks away; returns how many. */
static uint32_t walk_from(struct walk *w, uint32_t s, uint32_t far)
{
	const struct reduced *m = w->m;
	uint32_t covered = 0;
	double sum = 0;

	for (uint32_t t = s + 1; t < m->n_ticks && t - s <= far; t++) {
		for (uint32_t i = w->first[t]; i < w->first[t + 1]; i++)
			sum += step(w, &w->event[i], m->var[w->event[i].var].use[w->event[i].use].from == t ? 1 : -1);
		if (!w->gone[t] && m->base[t] - m->base[s] + sum <= 0)
			covered += w->gone[t] = true;
	}
	forget(w);
	sum = 0;
	for (uint32_t t = s; t-- > 0 && s - t <= far;) {
		for (uint32_t i = w->first[t + 1]; i < w->first[t + 2]; i++)
			sum += step(w, &w->event[i], m->var[w->event[i].var].use[w->event[i].use].from == t + 1 ? -1
				: 1);
		if (!w->gone[t] && m->base[t] - m->base[s] + sum <= 0)
			covered += w->gone[t] = true;
	}
	forget(w);
	return covered;
}

struct tall {
	double most;
	uint32_t tick;
};

static int by_height(const void *a, const void *b)
{
	const struct tall *x = a, *y = b;
	return x->most != y->most ? (x->most > y->most ? -1 : 1) : (x->tick > y->tick) - (x->tick < y->tick);
}

/* Lists the ticks, sorted by the most memory that they can need. */
static struct tall *by_most(const struct walk *w)
{
	const struct reduced *m = w->m;
	double *change = MEM_NEW(m->n_ticks + 1, double), now = 0;
	struct tall *tall = MEM_NEW(m->n_ticks + 1, struct tall);

	for (uint32_t v = 0; v < m->n_vars; v++)
		for (uint32_t i = 0; i < m->var[v].n_uses; i++) {
			const struct use *u = &m->var[v].use[i];
			double most = 0;
			for (uint32_t k = 0; k < m->var[v].choices; k++)
				most = fmax(most, u->usage[k]);
			change[u->from] += most;
			change[u->to] -= most;
		}
	for (uint32_t t = 0; t < m->n_ticks; t++) {
		now += change[t];
		tall[t] = (struct tall){now + m->base[t], t};
	}
	mem_free(change);
	qsort(tall, m->n_ticks, sizeof *tall, by_height);
	return tall;
}

static void mark(struct walk *w)
{
	struct tall *tall;
	uint32_t poor = 0;

	for (uint32_t t = 0; t < w->m->n_ticks; t++)
		if (!w->gone[t])
			walk_from(w, t, NEAR);
	tall = by_most(w);
	w->work = 0;
	for (uint32_t i = 0; i < w->m->n_ticks && w->work < WORK && poor < 200; i++)
		if (!w->gone[tall[i].tick])
			poor = walk_from(w, tall[i].tick, UINT32_MAX) ? 0 : poor + 1;
	mem_free(tall);
}

static int by_place(const void *a, const void *b)
{
	const struct use *x = a, *y = b;
	if (x->from != y->from)
		return x->from < y->from ? -1 : 1;
	return (x->to > y->to) - (x->to < y->to);
}

/* Joins the uses of a variable that are over the same ticks. */
static void join_uses(struct reduced *m, struct var *v)
{
	uint32_t n = 0;

	if (v->n_uses > 1)
		qsort(v->use, v->n_uses, sizeof *v->use, by_place);
	for (uint32_t i = 0; i < v->n_uses;) {
		uint32_t same = i + 1;
		while (same < v->n_uses && by_place(&v->use[i], &v->use[same]) == 0)
			same++;
		if (same > i + 1) {
			double *sum = ARENA_NEW(&m->mem, v->choices, double);
			for (uint32_t j = i; j < same; j++)
				for (uint32_t k = 0; k < v->choices; k++)
					sum[k] += v->use[j].usage[k];
			v->use[i].usage = sum;
		}
		v->use[n++] = v->use[i];
		i = same;
	}
	v->n_uses = n;
}

static void renumber(struct walk *w)
{
	struct reduced *m = w->m;
	uint32_t *number = MEM_NEW(m->n_ticks + 1, uint32_t), n = 0;
	double *base = ARENA_NEW(&m->mem, m->n_ticks + 1, double);
	int64_t *tick = ARENA_NEW(&m->mem, m->n_ticks + 1, int64_t);

	for (uint32_t t = 0; t < m->n_ticks; t++) {
		number[t] = n;
		tick[n] = m->tick[t];
		base[n] = m->base[t];
		n += !w->gone[t];
	}
	number[m->n_ticks] = n;
	for (uint32_t v = 0; v < m->n_vars; v++) {
		struct var *x = &m->var[v];
		uint32_t kept = 0;
		for (uint32_t i = 0; i < x->n_uses; i++) {
			struct use u = {number[x->use[i].from], number[x->use[i].to], x->use[i].usage};
			if (u.from < u.to)
				x->use[kept++] = u;
		}
		x->n_uses = kept;
		join_uses(m, x);
	}
	m->base = base;
	m->tick = tick;
	m->n_ticks = n;
	mem_free(number);
}

void reduced_thin(struct reduced *m)
{
	struct walk w = {.m = m};
	size_t uses = 0, choices = 0;

	w.row = MEM_NEW(m->n_vars + 1, uint32_t);
	for (uint32_t v = 0; v < m->n_vars; v++) {
		w.row[v] = (uint32_t)choices;
		choices += m->var[v].choices;
		uses += m->var[v].n_uses;
	}
	w.diff = MEM_NEW(choices + 1, double);
	w.most = MEM_NEW(m->n_vars + 1, double);
	w.touched = MEM_NEW(2 * uses + 1, uint32_t);
	w.gone = MEM_NEW(m->n_ticks + 1, bool);
	list_events(&w);
	mark(&w);
	renumber(&w);
	mem_free(w.first);
	mem_free(w.event);
	mem_free(w.row);
	mem_free(w.diff);
	mem_free(w.most);
	mem_free(w.touched);
	mem_free(w.gone);
}
