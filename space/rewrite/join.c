/*
 * join.c - finds which nodes can be computed together, and which are in a configuration.
 *
 * Products that read the same operand can become one larger product, whose result is cut into theirs. The first node of
 * such a group is its leader. Each other node has a decision of its own: it joins the leader, or it stays alone. All
 * that join make one product with the leader.
 *
 * Two nodes can be joined if neither needs the other's value. With several groups that is not enough: if each of two
 * groups needs a value of the other, the program has a circle. So before a node joins, joins_try follows all that reads
 * the group's values, through the groups that exist already. If that reaches the node, it stays alone. Nodes join in
 * ascending order, so what comes after it cannot lead back and is not followed. If the next node joins the same group,
 * joins_try goes on from there, so that a group of thousands is followed once.
 */
#include "space/rewrite/own.h"

#include <string.h>

#define CANDIDATES 64 /* leaders that are tried for a node */
#define LOOK 65536    /* nodes that are followed at most; beyond, a node stays alone */

struct joins {		 /* scratch of a space; per node */
	uint32_t *ring;	 /* the next node of the same group, round and round */
	uint32_t *stack; /* nodes to follow */
	uint8_t *mark;	 /* is it on the stack? */
	uint32_t leader; /* whose group joins_try followed last, or NONE */
	uint32_t last;	 /* ... up to this node */
	uint32_t n;	 /* ... which put so many on the stack: the group, and all that need it */
	bool *control;	 /* per computation: is an instruction bound to another without reading its value? */
	/* Of a node v that was tried, at 2 * v + side: a hash that it shares with the nodes it is like; else 0. */
	uint64_t *alike;
	uint32_t *unneeded; /* ... and the first of these that it does not need; v itself: it needs all before it */
};

void joins_open(struct space *s)
{
	const struct graph *g = s->graph;
	struct joins *j = ARENA_NEW(&s->mem, 1, struct joins);

	j->ring = arena_alloc(&s->mem, g->n_nodes * sizeof *j->ring);
	j->stack = arena_alloc(&s->mem, (g->n_nodes + 1) * sizeof *j->stack);
	j->mark = ARENA_NEW(&s->mem, g->n_nodes, uint8_t);
	j->control = ARENA_NEW(&s->mem, g->n_comps, bool);
	j->alike = ARENA_NEW(&s->mem, 2 * g->n_nodes, uint64_t);
	j->unneeded = ARENA_NEW(&s->mem, 2 * g->n_nodes, uint32_t);
	for (uint32_t v = 0; v < g->n_nodes; v++) /* then operands do not say all */
		j->control[g->node[v].comp] |= (g->node[v].flags & NODE_CONTROL) != 0;
	rewrite_of(s)->joins = j;
}

struct walk {
	uint32_t side;
	uint64_t alike;
	uint32_t from; /* nodes before this one are not marked */
	uint32_t n;    /* the marked nodes are the first of the stack */
};

/*
 * Marks v and what it needs, down to node `from`; false if there is too much of that. In a recurrent net every step
 * reads the same weights and needs all steps before it, so the walk stops at a node that v is like. Of what that one
 * needs we know enough. Let f be the first of its like that it does not need. Then v needs all those before f, and
 * `from` becomes f. Those after f that lead nobody yet need f themselves, so it does not need them either.
 */
static bool mark_needed(const struct graph *g, struct joins *j, uint32_t v, struct walk *w)
{
	uint32_t at = 0;

	j->stack[w->n++] = v;
	j->mark[v] = 1;
	for (; at < w->n && w->n < LOOK; at++) {
		uint32_t u = j->stack[at], i = 2 * u + w->side;
		bool known = u != v && j->alike[i] == w->alike;
		if (known && j->unneeded[i] > w->from)
			w->from = j->unneeded[i];
		for (uint32_t k = 0; k < g->node[u].n_operands && u >= w->from && !known; k++) {
			uint32_t x = node_operands(g, u)[k];
			if (x < w->from || j->mark[x])
				continue;
			j->mark[x] = 1;
			j->stack[w->n++] = x;
		}
	}
	return at == w->n;
}

/* Is u a node that v might join, which reads x as operand `side`? */
static bool is_candidate(const struct graph *g, uint32_t u, uint32_t v, uint32_t x, uint32_t side,
	const uint32_t *led_by)
{
	return g->node[u].opcode == g->node[v].opcode && led_by[2 * u + side] == NONE &&
		side < g->node[u].n_operands && node_operands(g, u)[side] == x;
}

uint32_t joins_leader(struct space *s, const struct rule *r, uint32_t v, uint32_t side, const uint32_t *led_by)
{
	const struct graph *g = s->graph;
	struct joins *j = rewrite_of(s)->joins;
	uint32_t x, tried = 0, leader = NONE;
	struct walk w = {.side = side};
	bool known = true; /* is all that v needs marked, once something is? */
	uint64_t h;

	if (side >= g->node[v].n_operands || g->node[v].n_operands > 2 || j->control[g->node[v].comp])
		return NONE;
	x = node_operands(g, v)[side];
	if (g->node[x].n_users < 2 || (h = r->code->alike(g, v, side)) == 0)
		return NONE;
	w.alike = hash_mix(h, x) | 1;
	for (uint32_t k = 0; k < g->node[x].n_users && tried < CANDIDATES && known; k++) {
		uint32_t u = node_users(g, x)[k];
		if (u >= v || leader != NONE)
			break;
		if (!is_candidate(g, u, v, x, side, led_by))
			continue;
		tried++;
		if (r->code->alike(g, u, side) != h)
			continue;
		if (!w.n) { /* candidates ascend, so one walk down to the first serves all */
			w.from = u;
			known = mark_needed(g, j, v, &w);
		}
		if (known && u >= w.from && !j->mark[u])
			leader = u;
	}
	while (w.n > 0)
		j->mark[j->stack[--w.n]] = 0;
	j->alike[2 * v + side] = known ? w.alike : 0;
	j->unneeded[2 * v + side] = leader == NONE ? v : leader;
	return leader;
}

/* Forgets the group that was followed last. */
static void forget(struct joins *j)
{
	while (j->n > 0)
		j->mark[j->stack[--j->n]] = 0;
	j->leader = NONE;
}

void joins_begin(struct space *s)
{
	struct joins *j = rewrite_of(s)->joins;

	forget(j);
	for (uint32_t v = 0; v < s->graph->n_nodes && rewrite_of(s)->has_joins; v++)
		j->ring[v] = v;
}

/* Marks a group: v and all that are computed together with it. */
static void mark_group(struct joins *j, uint32_t v)
{
	for (uint32_t m = v; !j->mark[m]; m = j->ring[m]) {
		j->mark[m] = 1;
		j->stack[j->n++] = m;
	}
}

/* Marks the leader's group and all that need it, up to node v. */
static void follow(const struct graph *g, struct joins *j, uint32_t leader, uint32_t v)
{
	forget(j);
	j->leader = leader;
	mark_group(j, leader);
	for (uint32_t at = 0; at < j->n && j->n < LOOK; at++)
		for (uint32_t k = 0; k < g->node[j->stack[at]].n_users; k++)
			if (node_users(g, j->stack[at])[k] <= v)
				mark_group(j, node_users(g, j->stack[at])[k]);
}

/* The same for the group that was followed last, whose nodes after `last` are in no group yet. */
static void follow_on(const struct graph *g, struct joins *j, uint32_t v)
{
	for (uint32_t u = j->last + 1; u <= v && j->n < LOOK; u++)
		for (uint32_t k = 0; k < g->node[u].n_operands && !j->mark[u]; k++)
			if (j->mark[node_operands(g, u)[k]])
				mark_group(j, u);
}

bool joins_try(struct space *s, uint32_t v, uint32_t leader)
{
	struct joins *j = rewrite_of(s)->joins;
	uint32_t after = j->ring[leader];

	if (leader == j->leader)
		follow_on(s->graph, j, v);
	else
		follow(s->graph, j, leader, v);
	j->last = v;
	if (j->mark[v] || j->n >= LOOK)
		return false;
	j->ring[leader] = v;
	j->ring[v] = after;
	mark_group(j, v);
	return true;
}
