/*
 * area_own.h - the data that area.c (tables) and area_order.c (order of elimination) share. No other file
 * includes it.
 */
#ifndef SPACE_NET_AREA_OWN_H
#define SPACE_NET_AREA_OWN_H

#include "base/mem.h"
#include "space/net/area.h"

#define MOST_AXES 16

struct local { /* a variable of the area */
	uint32_t var;
	uint32_t n;	     /* the number of choices that are not forbidden */
	uint16_t *choice;    /* [n] */
	double *cost;	     /* [n] includes memory at its prices, and all edges to variables that keep their choice */
	uint32_t *near;	     /* its neighbours in the area, while the order is sought */
	uint32_t n_near, cap_near;
	uint32_t when;	     /* position in the order; LEFT: it keeps its choice */
	bool gone;
	uint32_t table;	     /* the first of its list of tables */
	uint32_t chosen;
	uint32_t n_axes, axis[MOST_AXES]; /* of its new table; the variable that is eliminated soonest is the last */
	uint16_t *arg;
};
#define LEFT (UINT32_MAX - 1)
#define NEVER_YET UINT32_MAX

struct table {
	uint32_t n_axes, axis[MOST_AXES + 1];
	double *v;
	uint32_t next; /* the next table in the list of the last axis */
};

struct waiting { /* an entry of the heap: a variable, and the size of its table */
	double size;
	uint32_t i;
};

struct area_solver {
	const struct reduced *m;
	const struct area_task *task;
	uint32_t *number; /* per variable of the model: local number + 1, or 0 */
	struct local *local;
	size_t cap_local;
	uint32_t n, n_order;
	double made; /* entries of all tables */
	double whim; /* how much chance matters when a variable is chosen that keeps its choice; 0: not at all */
	uint32_t *order;
	size_t cap_order;
	struct table *table;
	size_t n_tables, cap_tables;
	struct waiting *heap;
	size_t n_heap, cap_heap;
	struct arena mem;
};

/* Finds the order of elimination, and the variables that keep their choice (`when` is LEFT). */
void area_find_order(struct area_solver *r);
void area_add_near(struct area_solver *r, uint32_t i, uint32_t j); /* j becomes a neighbour of i */

#endif
