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

#define ROUND 4 /* so many entries are looked at together, in two registers */
typedef double lanes __attribute__((vector_size(16)));
typedef int64_t lane_places __attribute__((vector_size(16)));

/* A table of n entries, which may be read a few further. */
static double *new_table(struct area_solver *r, size_t n)
{
	double *v = arena_alloc(&r->mem, (n + ROUND) * sizeof *v);

	memset(v + n, 0, ROUND * sizeof *v);
	return v;
}

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

/* Lists the choices that a variable may take. Returns how many they are. */
static uint32_t list_choices(const struct area_task *task, const struct var *v, uint32_t var, uint16_t *list)
{
	uint32_t n = 0;

	if (task->n_also == 0) {
		for (; n < v->choices; n++)
			list[n] = (uint16_t)n;
		return n;
	}
	list[n++] = task->x[var];
	for (uint32_t a = 0; a < task->n_also; a++) {
		uint32_t k = 0;
		while (k < n && list[k] != task->also[a][var])
			k++;
		if (k == n)
			list[n++] = task->also[a][var];
	}
	return n;
}

/* Adds up what each choice of a variable costs with everything outside the area. Leaves out forbidden choices. */
static void take_var(struct area_solver *r, struct local *l)
{
	const struct area_task *task = r->task;
	const struct var *v = &r->m->var[l->var];
	uint16_t now = task->x[l->var];
	uint32_t most = task->n_also ? task->n_also + 1 : v->choices, listed;
	double stays = v->cost[now];

	l->choice = arena_alloc(&r->mem, most * sizeof *l->choice);
	l->cost = arena_alloc(&r->mem, most * sizeof *l->cost);
	listed = list_choices(task, v, l->var, l->choice);
	for (uint32_t k = 0; k < listed; k++)
		l->cost[k] = v->cost[l->choice[k]];
	for (uint32_t i = 0; i < v->n_links; i++) {
		const struct link *e = &v->link[i];
		uint32_t width = r->m->var[e->other].choices;
		const double *column = e->cost + task->x[e->other];
		if (r->number[e->other])
			continue;
		stays += column[(size_t)now * width];
		for (uint32_t k = 0; k < listed; k++)
			l->cost[k] += column[(size_t)l->choice[k] * width];
	}
	l->n = 0;
	for (uint32_t k = 0; k < listed; k++) {
		double cost = l->cost[k];
		if (REDUCED_ALLOWED(stays) && !REDUCED_ALLOWED(cost))
			continue;
		if (task->price)
			cost += memory_price(v, l->choice[k], task->price);
		if (task->noise > 0)
			cost += task->noise * rng_unit(task->rng);
		l->choice[l->n] = l->choice[k];
		l->cost[l->n++] = cost;
	}
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
		double *v_cost = new_table(r, (size_t)l->n * o->n);
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

/* The least of n costs, and its place. */
static double least_of(const double *cost, uint32_t n, uint16_t *arg)
{
	uint32_t best = 0;

	for (uint32_t k = 1; k < n; k++)
		best = cost[k] < cost[best] ? k : best;
	*arg = (uint16_t)best;
	return cost[best];
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

static inline lanes load(const double *p)
{
	lanes v;

	memcpy(&v, p, sizeof v);
	return v;
}

/* Where x is lower than *least, takes it and its places over. */
static inline void take_lower(lanes x, lane_places at, lanes *least, lane_places *best)
{
	lane_places lower = x < *least;

	*least = (lanes)(((lane_places)x & lower) | ((lane_places)*least & ~lower));
	*best = (at & lower) | (*best & ~lower);
}

/*
 * The least of a[k] + b[k], and a k that gives it. Four k compete side by side, without a branch, because most of a
 * search's time goes here. Both arrays must be readable for ROUND further, and a must be infinite beyond n.
 */
static double least_sum(const double *a, const double *b, uint32_t n, uint16_t *arg)
{
	lanes even = {INFINITY, INFINITY}, odd = even;
	lane_places at = {0, 1}, best = at, best_odd = at;

	for (uint32_t k = 0; k < n; k += ROUND, at += ROUND) {
		take_lower(load(a + k) + load(b + k), at, &even, &best);
		take_lower(load(a + k + 2) + load(b + k + 2), at + 2, &odd, &best_odd);
	}
	take_lower(odd, best_odd, &even, &best);
	bool second = even[1] < even[0];
	*arg = (uint16_t)(second ? best[1] : best[0]);
	return second ? even[1] : even[0];
}

static void move_along(struct sum *s, uint32_t axis, size_t times, bool back)
{
	for (uint32_t t = 0; t < s->n; t++)
		s->v[t] = back ? s->v[t] - s->stride[t][axis] * times : s->v[t] + s->stride[t][axis] * times;
}

/* Puts the tables in front that change along the last axis. Returns how many they are: at least one has that axis. */
static uint32_t moving_first(struct sum *s, uint32_t last)
{
	uint32_t n = 0;

	for (uint32_t t = 0; t < s->n; t++) {
		const double *v = s->v[t];
		size_t stride[MOST_AXES];
		if (s->stride[t][last] == 0)
			continue;
		memcpy(stride, s->stride[t], sizeof stride);
		memcpy(s->stride[t], s->stride[n], sizeof stride);
		memcpy(s->stride[n], stride, sizeof stride);
		s->v[t] = s->v[n];
		s->v[n++] = v;
	}
	return n;
}

/*
 * Fills one row of the new table, along its last axis. Of the tables, the first `moving` change along it; the others
 * are added up once.
 */
static void fill_row(const struct local *l, const struct sum *s, uint32_t moving, uint32_t width, double *scratch,
	double *out, uint16_t *arg)
{
	double *row = scratch, *sum = moving > 1 ? scratch + l->n + ROUND : row;
	uint32_t last = l->n_axes - 1;

	memcpy(row, l->cost, l->n * sizeof *row);
	for (uint32_t t = moving; t < s->n; t++)
		for (uint32_t k = 0; k < l->n; k++)
			row[k] += s->v[t][k];
	for (uint32_t j = 0; j < width; j++) {
		const double *v = s->v[0] + j * s->stride[0][last];
		for (uint32_t t = 1; t < moving; t++) {
			const double *add = s->v[t] + j * s->stride[t][last], *from = t == 1 ? row : sum;
			for (uint32_t k = 0; k < l->n; k++)
				sum[k] = from[k] + add[k];
		}
		out[j] = least_sum(sum, v, l->n, &arg[j]);
	}
}

/* Fills the new table; its last axis is the fastest. */
static void fill(struct area_solver *r, struct local *l, struct sum *s, double *out)
{
	uint32_t at[MOST_AXES] = {0}, last = l->n_axes - 1, width = r->local[l->axis[last]].n, a;
	double *scratch = arena_alloc(&r->mem, 2 * (l->n + ROUND) * sizeof *scratch);
	uint32_t moving = moving_first(s, last);
	uint16_t *arg = l->arg;

	for (uint32_t i = 0; i < ROUND; i++)
		scratch[l->n + i] = scratch[2 * l->n + ROUND + i] = INFINITY;
	do {
		fill_row(l, s, moving, width, scratch, out, arg);
		out += width;
		arg += width;
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
	out = new_table(r, size);
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

double area_work(const struct area_solver *r)
{
	return r->made;
}
