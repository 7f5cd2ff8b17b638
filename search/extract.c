/*
 * extract.c - the way of Tensat: all ways to compute each value side by side, and the cheapest program among them.
 *
 * Places are found in the program as it was given, so one round of the rules saturates: the classes are its nodes, and
 * the members of a class are the node's own operation and what each choice of its site writes. Each member reads other
 * classes. A program is a member for each class that is read, beginning with the results. Its cost is the sum of the
 * members' operators, each measured once, and a class that nobody reads costs nothing. An integer program finds the
 * cheapest; members only read earlier nodes, so no chosen program has a circle.
 *
 * A greedy choice cannot see that a concatenation is gone once all its readers read the parts; this one does. What it
 * cannot see is what a compiler makes of the sum.
 *
 * Two choices exclude each other if one looks through the node that the other replaces, as only the first would take
 * effect (space/rewrite/effect.c); the program found still takes effect without that, so it is not asked for. Choices
 * that join several nodes are left out: the members of a class stand alone.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "base/progress.h"
#include "base/stop.h"
#include "base/talk.h"
#include "search/integer.h"
#include "search/rival_own.h"

#define MEMBERS_MOST 50000 /* Tensat's own limit */
#define SOLVER_SECONDS 60.0 /* if the user gave no limit; else it is what measuring leaves, */
#define SOLVER_SHARE 0.1    /* ... but always so much of the whole */
#define SCALE 1e9	    /* costs in nanoseconds: solvers round at 1e-6 */

struct extract {
	struct rival *r;
	struct integer p;
	uint8_t *needed;     /* per node: is it read whatever is chosen? */
	uint32_t *column;    /* per node: its class is in the program; NONE: always */
	uint32_t *member;    /* per site and choice: that it is chosen; NONE: it cannot be */
	uint32_t *reads;     /* scratch */
	size_t n_reads, cap_reads, members;
	uint32_t left;	     /* choices that were not looked at */
};

/* Which nodes are read whatever is chosen: results, and what is read by those without a choice. */
static void find_needed(struct extract *x)
{
	const struct graph *g = x->r->s->graph;

	for (uint32_t v = g->n_nodes; v-- > 0;) {
		const struct node *n = &g->node[v];
		bool read = (n->flags & NODE_ROOT) != 0 || n->n_users == 0;
		for (uint32_t k = 0; k < n->n_users && !read; k++) {
			uint32_t u = node_users(g, v)[k];
			read = x->needed[u] && x->r->s->site_of[u] == NONE;
		}
		x->needed[v] = read;
	}
}

/* What a member costs in a run of the program; x->reads are the classes that it reads. NAN: it cannot be taken. */
static int price_member(struct extract *x, uint32_t v, uint8_t choice, double *cost, struct err *err)
{
	const struct graph *g = x->r->s->graph;
	struct regions ops = {0};
	int rc;

	x->n_reads = 0;
	*cost = NAN;
	rc = x->r->s->ops->alternative(x->r->s, v, choice, &ops, &x->reads, &x->n_reads, &x->cap_reads, err);
	if (rc == 1)
		rc = rival_add_up(x->r, &ops, cost, err);
	*cost *= SCALE * g->comp[g->node[v].comp].trips;
	regions_release(&ops);
	return rc < 0 ? -1 : 0;
}

/* Whoever is chosen needs what it reads. */
static void add_reads(struct extract *x, uint32_t column)
{
	for (size_t i = 0; i < x->n_reads; i++) {
		if (x->column[x->reads[i]] == NONE)
			continue;
		integer_row(&x->p, '>', 0);
		integer_term(&x->p, x->column[x->reads[i]], 1);
		integer_term(&x->p, column, -1);
	}
}

/* Adds the members of a node with choices; one of them is chosen if the node is read. */
static int add_site(struct extract *x, uint32_t v, uint32_t site, struct err *err)
{
	const struct space *s = x->r->s;
	uint32_t *member = x->member + (size_t)site * s->stride;
	double cost;

	for (uint8_t k = 0; k < s->site[site].choices; k++) {
		member[k] = NONE;
		if (k && (x->members >= MEMBERS_MOST || device_late(x->r->d) || stop_asked())) {
			x->left++;
			continue;
		}
		if (price_member(x, v, k, &cost, err) < 0)
			return -1;
		if (k && isnan(cost))
			continue;
		x->members++;
		member[k] = integer_column(&x->p, isnan(cost) ? 0 : cost);
		add_reads(x, member[k]);
	}
	integer_row(&x->p, '=', x->column[v] == NONE ? 1 : 0);
	for (uint8_t k = 0; k < s->site[site].choices; k++)
		if (member[k] != NONE)
			integer_term(&x->p, member[k], 1);
	if (x->column[v] != NONE)
		integer_term(&x->p, x->column[v], -1);
	return 0;
}

/* Adds a node without choices, which is in the program if somebody reads it. */
static int add_node(struct extract *x, uint32_t v, struct err *err)
{
	const struct graph *g = x->r->s->graph;
	double cost = 0;

	x->n_reads = 0;
	if (!opcode_is_idle(g->node[v].opcode) && price_member(x, v, 0, &cost, err) < 0)
		return -1;
	x->p.cost[x->column[v]] = isnan(cost) ? 0 : cost;
	x->members++;
	if (x->n_reads == 0) /* idle: it is its operands */
		for (uint32_t k = 0; k < g->node[v].n_operands; k++) {
			MEM_GROW(&x->reads, &x->cap_reads, x->n_reads + 1);
			x->reads[x->n_reads++] = node_operands(g, v)[k];
		}
	add_reads(x, x->column[v]);
	return 0;
}

static int build(struct extract *x, struct err *err)
{
	const struct space *s = x->r->s;
	const struct graph *g = s->graph;
	int rc = 0;

	find_needed(x);
	for (uint32_t v = 0; v < g->n_nodes; v++)
		x->column[v] = x->needed[v] ? NONE : integer_column(&x->p, 0);
	for (uint32_t v = 0; v < g->n_nodes && rc == 0; v++) {
		if (s->site_of[v] != NONE)
			rc = add_site(x, v, s->site_of[v], err);
		else if (!x->needed[v])
			rc = add_node(x, v, err);
	}
	return rc;
}

/* The sum of a solution; `plain`: of the program as it is. */
static double sum_of(const struct integer *p, const uint8_t *value)
{
	double sum = 0;

	for (size_t i = 0; i < p->n; i++)
		sum += value[i] ? p->cost[i] : 0;
	return sum / SCALE;
}

/* The program as it is, as a solution: each node that is not always there, and choice 0 of each site. */
static double sum_as_it_is(const struct extract *x)
{
	const struct space *s = x->r->s;
	uint8_t *value = MEM_NEW(x->p.n + 1, uint8_t);
	double sum;

	for (uint32_t v = 0; v < s->graph->n_nodes; v++)
		if (x->column[v] != NONE)
			value[x->column[v]] = 1;
	for (uint32_t i = 0; i < s->n_sites; i++)
		value[x->member[(size_t)i * s->stride]] = 1;
	sum = sum_of(&x->p, value);
	mem_free(value);
	return sum;
}

static int extract(struct extract *x, uint8_t *config, struct err *err)
{
	const struct space *s = x->r->s;
	double began = now_seconds(), seconds = x->r->until > 0
		? fmax(x->r->until - began, SOLVER_SHARE * x->r->o->seconds) : SOLVER_SECONDS;
	uint8_t *value = MEM_NEW(x->p.n + 1, uint8_t);
	bool proved = false;
	int rc = integer_solve(&x->p, seconds, value, &proved, err);

	for (uint32_t i = 0; i < s->n_sites && rc == 0; i++)
		for (uint8_t k = 1; k < s->site[i].choices; k++) {
			uint32_t at = x->member[(size_t)i * s->stride + k];
			if (at != NONE && value[at])
				config[i] = k;
		}
	if (rc == 0) {
		x->r->a->believed = sum_as_it_is(x) - sum_of(&x->p, value);
		x->r->a->programs = 1;
		talk("%zu members of classes, an integer program of %zu columns and %zu rows, %s in %.1f s", x->members,
			x->p.n, x->p.n_rows, proved ? "solved" : "not solved to the end", now_seconds() - began);
	}
	mem_free(value);
	return rc;
}

int rival_extract(struct rival *r, uint8_t *config, struct err *err)
{
	const struct space *s = r->s;
	struct extract x = {.r = r};
	int rc;

	if (!s->ops->alternative)
		return err_set(err, "the kind %s cannot say all ways to compute a value", s->kind);
	if (!integer_solver_exists())
		return integer_solve(&x.p, 0, NULL, NULL, err); /* it says so before anything is measured */
	if (s->n_sites == 0)
		return 0;
	x.needed = MEM_NEW(s->graph->n_nodes, uint8_t);
	x.column = MEM_NEW(s->graph->n_nodes, uint32_t);
	x.member = MEM_NEW((size_t)s->n_sites * s->stride, uint32_t);
	rc = build(&x, err);
	if (x.left)
		talk("the time or the limit of %d members was reached: %u choices are not looked at", MEMBERS_MOST,
			x.left);
	if (rc == 0)
		rc = extract(&x, config, err);
	mem_free(x.needed);
	mem_free(x.column);
	mem_free(x.member);
	mem_free(x.reads);
	integer_release(&x.p);
	return rc;
}
