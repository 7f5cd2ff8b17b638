/* standing.c - computes costs and memory of a configuration, and of changes to it. */
#include "space/net/standing.h"

#include <string.h>

void standing_init(struct standing *s, const struct reduced *m)
{
	*s = (struct standing){.m = m};
	s->x = MEM_NEW(m->n_vars + 1, uint16_t);
	s->usage = MEM_NEW(m->n_ticks + 1, double);
	s->diff = MEM_NEW(m->n_ticks + 1, double);
	s->mark = MEM_NEW(m->n_vars + 1, uint32_t);
}

void standing_release(struct standing *s)
{
	mem_free(s->x);
	mem_free(s->usage);
	mem_free(s->diff);
	mem_free(s->mark);
	*s = (struct standing){0};
}

static double pair_cost(const struct reduced *m, const struct link *e, uint32_t k, uint32_t l)
{
	return e->cost[(size_t)k * m->var[e->other].choices + l];
}

static void sum_over(struct standing *s)
{
	double limit = s->m->limit;

	s->over = 0;
	for (uint32_t t = 0; t < s->m->n_ticks; t++)
		s->over += s->usage[t] > limit ? s->usage[t] - limit : 0;
}

void standing_set(struct standing *s, const uint16_t *x)
{
	const struct reduced *m = s->m;
	double now = 0;

	if (x != s->x)
		memcpy(s->x, x, m->n_vars * sizeof *x);
	s->cost = 0;
	for (uint32_t v = 0; v < m->n_vars; v++) {
		const struct var *a = &m->var[v];
		s->cost += a->cost[x[v]];
		for (uint32_t i = 0; i < a->n_links; i++)
			if (a->link[i].other > v)
				s->cost += pair_cost(m, &a->link[i], x[v], x[a->link[i].other]);
		for (uint32_t i = 0; i < a->n_uses; i++) {
			s->diff[a->use[i].from] += a->use[i].usage[x[v]];
			s->diff[a->use[i].to] -= a->use[i].usage[x[v]];
		}
	}
	for (uint32_t t = 0; t < m->n_ticks; t++) {
		now += s->diff[t];
		s->usage[t] = m->base[t] + now;
	}
	memset(s->diff, 0, (m->n_ticks + 1) * sizeof *s->diff);
	sum_over(s);
}

/* Returns how much more variable i of the change costs. An edge between two changed variables counts with the first. */
static double var_change(const struct standing *s, const uint32_t *var, const uint16_t *to, uint32_t i)
{
	const struct reduced *m = s->m;
	const struct var *a = &m->var[var[i]];
	uint32_t old = s->x[var[i]], new = to[i];
	double cost = a->cost[new] - a->cost[old];

	for (uint32_t e = 0; e < a->n_links; e++) {
		uint32_t o = a->link[e].other, mark = s->mark[o];
		if (!mark)
			cost += pair_cost(m, &a->link[e], new, s->x[o]) - pair_cost(m, &a->link[e], old, s->x[o]);
		else if (mark - 1 > i)
			cost += pair_cost(m, &a->link[e], new, to[mark - 1]) - pair_cost(m, &a->link[e], old, s->x[o]);
	}
	return cost;
}

static void add_uses(struct standing *s, uint32_t v, uint32_t to)
{
	const struct var *a = &s->m->var[v];

	for (uint32_t i = 0; i < a->n_uses; i++) {
		double d = a->use[i].usage[to] - a->use[i].usage[s->x[v]];
		s->diff[a->use[i].from] += d;
		s->diff[a->use[i].to] -= d;
	}
}

/* Adds the cost of a change of n variables to *cost, and its memory to s->diff. */
static void add_change(struct standing *s, const uint32_t *var, const uint16_t *to, uint32_t n, double *cost)
{
	for (uint32_t i = 0; i < n; i++)
		if (to[i] != s->x[var[i]])
			s->mark[var[i]] = i + 1;
	for (uint32_t i = 0; i < n; i++)
		if (s->mark[var[i]]) {
			*cost += var_change(s, var, to, i);
			add_uses(s, var[i], to[i]);
		}
	for (uint32_t i = 0; i < n; i++)
		s->mark[var[i]] = 0;
}

struct change standing_try(struct standing *s, const uint32_t *var, const uint16_t *to, uint32_t n, const double *price)
{
	const struct reduced *m = s->m;
	struct change c = {.over = 0};
	double now = 0;

	add_change(s, var, to, n, &c.cost);
	for (uint32_t t = 0; t < m->n_ticks; t++) {
		now += s->diff[t];
		double excess = s->usage[t] + now - m->limit;
		if (price)
			c.priced += now * (price[t + 1] - price[t]);
		if (excess > 0) {
			c.over += excess;
			if (excess > c.excess) {
				c.excess = excess;
				c.worst = t;
			}
		}
	}
	memset(s->diff, 0, (m->n_ticks + 1) * sizeof *s->diff);
	return c;
}

void standing_take(struct standing *s, const uint32_t *var, const uint16_t *to, uint32_t n)
{
	const struct reduced *m = s->m;
	double now = 0;

	add_change(s, var, to, n, &s->cost);
	for (uint32_t i = 0; i < n; i++)
		s->x[var[i]] = to[i];
	for (uint32_t t = 0; t < m->n_ticks; t++) {
		now += s->diff[t];
		s->usage[t] += now;
	}
	memset(s->diff, 0, (m->n_ticks + 1) * sizeof *s->diff);
	sum_over(s);
}
