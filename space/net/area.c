/*
 * area.c - eliminates variables one after the other (Bertele and Brioschi 1972).
 *
 * To eliminate a variable, we write a table: for every combination of choices of its neighbours, the least that the
 * variable can cost and the choice that costs it. The table becomes a cost of those neighbours, which are then
 * neighbours of each other. When all variables are gone, the choices are read back in the opposite order.
 *
 * First we find the order of elimination (area_order.c). Then we make the tables. The axes of a table are sorted by
 * that order, backwards: the variable that is eliminated next is the last axis, which is the fastest. So the inner loop
 * runs over neighbouring numbers.
 */
#include "space/net/area_own.h"

#include <math.h>
#include <string.h>

struct area_solver *area_new(const struct reduced *m)
{
	struct area_solver *r = MEM_NEW(1, struct area_solver);

	r->m = m;
	r->number = MEM_NEW(m->n_vars + 1, uint32_t);
	return r;
}

void area_free(struct area_solver *r)
{
	if (!r)
		return;
	mem_free(r->number);
	mem_free(r->local);
	mem_free(r->order);
	mem_free(r->table);
	mem_free(r->heap);
	arena_release(&r->mem);
	mem_free(r);
}

static double memory_price(const struct var *v, uint32_t k, const double *price)
{
	double sum = 0;

	for (uint32_t i = 0; i < v->n_uses; i++)
		sum += v->use[i].usage[k] * (price[v->use[i].to] - price[v->use[i].from]);
	return sum;
}

/* Adds up what each choice of a variable costs with everything outside the area. Leaves out forbidden choices. */
static void take_var(struct area_solver *r, struct local *l)
{
	const struct area_task *task = r->task;
	const struct var *v = &r->m->var[l->var];
	uint16_t now = task->x[l->var];
	double *cost = arena_alloc(&r->mem, v->choices * sizeof *cost);
	uint32_t n = 0;

	l->choice = arena_alloc(&r->mem, v->choices * sizeof *l->choice);
	l->cost = arena_alloc(&r->mem, v->choices * sizeof *l->cost);
	memcpy(cost, v->cost, v->choices * sizeof *cost);
	for (uint32_t i = 0; i < v->n_links; i++) {
		const struct link *e = &v->link[i];
		uint32_t width = r->m->var[e->other].choices;
		const double *column = e->cost + task->x[e->other];
		if (r->number[e->other])
			continue;
		for (uint32_t k = 0; k < v->choices; k++)
			cost[k] += column[(size_t)k * width];
	}
	bool strict = REDUCED_ALLOWED(cost[now]);
	for (uint32_t k = 0; k < v->choices; k++) {
		if (strict && !REDUCED_ALLOWED(cost[k]))
			continue;
		if (task->price)
			cost[k] += memory_price(v, k, task->price);
		if (task->noise > 0)
			cost[k] += task->noise * rng_unit(task->rng);
		l->choice[n] = (uint16_t)k;
		l->cost[n++] = cost[k];
	}
	l->n = n;
}

static size_t entries(const struct area_solver *r, const struct table *t)
{
	size_t n = 1;

	for (uint32_t a = 0; a < t->n_axes; a++)
		n *= r->local[t->axis[a]].n;
	return n;
}

/*
 * Puts a table into the list of its last axis, which is the first of its variables to be eliminated. If a table with
 * the same axes is there, adds to that one instead.
 */
static void file_table(struct area_solver *r, const struct table *t)
{
	struct local *l = &r->local[t->axis[t->n_axes - 1]];

	for (uint32_t i = l->table; i != NEVER_YET; i = r->table[i].next) {
		struct table *o = &r->table[i];
		if (o->n_axes != t->n_axes || memcmp(o->axis, t->axis, t->n_axes * sizeof *t->axis) != 0)
			continue;
		for (size_t n = entries(r, t), k = 0; k < n; k++)
			o->v[k] += t->v[k];
		return;
	}
	MEM_GROW(&r->table, &r->cap_tables, r->n_tables + 1);
	r->table[r->n_tables] = *t;
	r->table[r->n_tables].next = l->table;
	l->table = (uint32_t)r->n_tables++;
}

/* Takes the edges inside the area: those to variables that keep their choice become costs, others become tables. */
static void take_edges(struct area_solver *r, uint32_t i)
{
	struct local *l = &r->local[i];
	const struct var *v = &r->m->var[l->var];

	for (uint32_t e = 0; e < v->n_links; e++) {
		uint32_t number = r->number[v->link[e].other], width = r->m->var[v->link[e].other].choices;
		const double *cost = v->link[e].cost;
		if (!number || l->when == LEFT)
			continue;
		struct local *o = &r->local[number - 1];
		if (o->when == LEFT) {
			for (uint32_t k = 0; k < l->n; k++)
				l->cost[k] += cost[(size_t)l->choice[k] * width + r->task->x[o->var]];
			continue;
		}
		if (o->when < l->when)
			continue; /* seen from its other end */
		double *v_cost = arena_alloc(&r->mem, (size_t)l->n * o->n * sizeof *v_cost);
		for (uint32_t a = 0; a < o->n; a++)
			for (uint32_t k = 0; k < l->n; k++)
				v_cost[(size_t)a * l->n + k] = cost[(size_t)l->choice[k] * width + o->choice[a]];
		file_table(r, &(struct table){2, {number - 1, i}, v_cost, 0});
	}
}

/* Lists the other variables in a variable's tables: the axes of its new table, the last to be eliminated first. */
static void find_axes(struct area_solver *r, struct local *l)
{
	l->n_axes = 0;
	for (uint32_t t = l->table; t != NEVER_YET; t = r->table[t].next)
		for (uint32_t a = 0; a + 1 < r->table[t].n_axes; a++) {
			uint32_t axis = r->table[t].axis[a], at = l->n_axes;
			while (at > 0 && r->local[l->axis[at - 1]].when < r->local[axis].when)
				at--;
			if (at > 0 && l->axis[at - 1] == axis)
				continue;
			memmove(l->axis + at + 1, l->axis + at, (l->n_axes - at) * sizeof *l->axis);
			l->axis[at] = axis;
			l->n_axes++;
		}
}

struct sum { /* the tables that are added up for an entry of the new table */
	uint32_t n;
	const double **v;
	size_t (*stride)[MOST_AXES]; /* per table and axis of the new table */
};

static void find_strides(const struct area_solver *r, const struct local *l, const struct table *t, size_t *stride)
{
	size_t size = l->n;

	memset(stride, 0, MOST_AXES * sizeof *stride);
	for (uint32_t a = t->n_axes - 1; a-- > 0;) {
		uint32_t b = 0;
		while (l->axis[b] != t->axis[a])
			b++;
		stride[b] = size;
		size *= r->local[t->axis[a]].n;
	}
}

/*
 * sum[k] = from[k] + the values of some tables: of those that change along the last axis if `moving`, else of the rest.
 */
static void add_tables(uint32_t n, const double *from, const struct sum *s, uint32_t last, bool moving, double *sum)
{
	memcpy(sum, from, n * sizeof *sum);
	for (uint32_t t = 0; t < s->n; t++) {
		const double *v = s->v[t];
		if ((s->stride[t][last] != 0) != moving)
			continue;
		for (uint32_t k = 0; k < n; k++)
			sum[k] += v[k];
	}
}

static double least_of(const double *sum, uint32_t n, uint16_t *arg)
{
	double least = sum[0];
	uint32_t best = 0;

	for (uint32_t k = 1; k < n; k++) {
		best = sum[k] < least ? k : best;
		least = sum[k] < least ? sum[k] : least;
	}
	*arg = (uint16_t)best;
	return least;
}

static void move_along(struct sum *s, uint32_t axis, size_t times, bool back)
{
	for (uint32_t t = 0; t < s->n; t++)
		s->v[t] = back ? s->v[t] - s->stride[t][axis] * times : s->v[t] + s->stride[t][axis] * times;
}

/*
 * Fills the new table; its last axis is the fastest. Tables that do not depend on it are added up once per row.
 */
static void fill(struct area_solver *r, struct local *l, struct sum *s, double *out)
{
	uint32_t at[MOST_AXES] = {0}, last = l->n_axes - 1, width = r->local[l->axis[last]].n, a;
	double *row = arena_alloc(&r->mem, 2 * l->n * sizeof *row), *sum = row + l->n;
	uint16_t *arg = l->arg;

	do {
		add_tables(l->n, l->cost, s, last, false, row);
		for (uint32_t j = 0; j < width; j++) {
			add_tables(l->n, row, s, last, true, sum);
			*out++ = least_of(sum, l->n, arg++);
			move_along(s, last, 1, false);
		}
		move_along(s, last, width, true);
		for (a = last; a-- > 0;) {
			uint32_t n = r->local[l->axis[a]].n;
			if (++at[a] < n) {
				move_along(s, a, 1, false);
				break;
			}
			move_along(s, a, n - 1, true);
			at[a] = 0;
		}
	} while (a != UINT32_MAX);
}

/* Adds a table of one axis to the variable's own costs. */
static void absorb(struct local *l, const struct table *t)
{
	for (uint32_t k = 0; k < l->n; k++)
		l->cost[k] += t->v[k];
}

/* Eliminates variable i. Returns its least cost if that depends on no other variable, else 0: a table has it. */
static double eliminate(struct area_solver *r, uint32_t i)
{
	struct local *l = &r->local[i];
	struct sum s = {0};
	size_t size = 1, n = 0;
	double *out;

	find_axes(r, l);
	for (uint32_t t = l->table; t != NEVER_YET; t = r->table[t].next)
		n++;
	s.v = arena_alloc(&r->mem, n * sizeof *s.v);
	s.stride = arena_alloc(&r->mem, n * sizeof *s.stride);
	for (uint32_t t = l->table; t != NEVER_YET; t = r->table[t].next) {
		if (r->table[t].n_axes == 1) {
			absorb(l, &r->table[t]);
			continue;
		}
		find_strides(r, l, &r->table[t], s.stride[s.n]);
		s.v[s.n++] = r->table[t].v;
	}
	for (uint32_t a = 0; a < l->n_axes; a++)
		size *= r->local[l->axis[a]].n;
	l->arg = arena_alloc(&r->mem, size * sizeof *l->arg);
	out = arena_alloc(&r->mem, size * sizeof *out);
	if (l->n_axes == 0)
		return least_of(l->cost, l->n, l->arg);
	fill(r, l, &s, out);
	struct table t = {.n_axes = l->n_axes, .v = out};
	memcpy(t.axis, l->axis, l->n_axes * sizeof *t.axis);
	file_table(r, &t);
	return 0;
}

static void read_back(struct area_solver *r, uint16_t *out)
{
	for (uint32_t i = 0; i < r->n; i++)
		out[i] = r->task->x[r->local[i].var];
	for (uint32_t o = r->n_order; o-- > 0;) {
		struct local *l = &r->local[r->order[o]];
		size_t entry = 0;
		for (uint32_t a = 0; a < l->n_axes; a++)
			entry = entry * r->local[l->axis[a]].n + r->local[l->axis[a]].chosen;
		l->chosen = l->arg[entry];
		out[r->order[o]] = l->choice[l->chosen];
	}
}

double area_solve(struct area_solver *r, const struct area_task *task, uint16_t *out)
{
	double cost = 0;

	r->task = task;
	r->n = task->n;
	r->n_tables = 0;
	arena_reset(&r->mem);
	MEM_GROW(&r->local, &r->cap_local, r->n + 1);
	for (uint32_t i = 0; i < r->n; i++) {
		r->number[task->some[i]] = i + 1;
		r->local[i] = (struct local){.var = task->some[i], .table = NEVER_YET};
	}
	for (uint32_t i = 0; i < r->n; i++) {
		const struct var *v = &r->m->var[task->some[i]];
		take_var(r, &r->local[i]);
		for (uint32_t e = 0; e < v->n_links; e++)
			if (r->number[v->link[e].other])
				area_add_near(r, i, r->number[v->link[e].other] - 1);
	}
	area_find_order(r);
	for (uint32_t i = 0; i < r->n; i++)
		take_edges(r, i);
	for (uint32_t o = 0; o < r->n_order; o++)
		cost += eliminate(r, r->order[o]);
	read_back(r, out);
	for (uint32_t i = 0; i < r->n; i++)
		r->number[task->some[i]] = 0;
	return cost;
}
