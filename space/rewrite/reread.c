/*
 * reread.c - what is computed more than once unless it stays in memory.
 *
 * A compiler makes one loop of what is computed element by element, and computes in it whatever it reads there.
 * XLA:CPU takes care that nothing dear is computed twice. It repeats no exponential, and makes a convolution, a window
 * or a sort no part of a loop. Rules write cheap operations instead of these, dozens for each element, and XLA repeats
 * those. It computed the first of two filters of 11 taps, one behind the other, 11 times, and the gradient of a
 * maximum once for each colour that it goes to. Rewriting took 31% off a program of openings and structural similarity
 * then, and takes 69% now.
 *
 * So what a rule writes is kept in memory, as what it replaces was, under two conditions: its elements may be computed
 * more than once, and that would be much work. They are computed again where one loop reads them more than once
 * (through slices that overlap, a window, a broadcast), and in each further loop that reads them. Several loops do not
 * count where what is replaced was no dear operation, so that each loop computed it before, too, nor where a rule
 * leaves it to measuring whether its result is kept (rule.h, `kept`).
 *
 * An operand of what is taken apart is kept under the same conditions: what a window moves over, or terms that lie side
 * by side. Terms are read once, but across, and what computes them there runs without vector code. Where these were 2
 * by 2 by 2 numbers that a stencil gives, a multigrid became 42% slower.
 */
#include <math.h>
#include <stdlib.h>
#include "space/rewrite/rule.h"

#define MANY 16 /* operations for each element; a loop may do so many again */
#define FAR 64	/* nodes that are looked at, at most */

struct reach { /* nodes that one loop may compute, from one on */
	const struct graph *g;
	uint32_t v[FAR], n;
};

static void reach(struct reach *r, uint32_t v)
{
	for (uint32_t i = 0; i < r->n; i++)
		if (r->v[i] == v)
			return;
	if (r->n < FAR)
		r->v[r->n++] = v;
}

static uint8_t class_of(const struct graph *g, uint32_t v)
{
	return opcode_facts(g->node[v].opcode)->class;
}

/* How often a window sees an element of what it moves over, away from the edges. */
static double sights(const struct graph *g, uint32_t v)
{
	const Hlo__Window *w = g->node[v].proto->window;
	double times = 1;

	for (size_t i = 0; w && i < w->n_dimensions; i++)
		times *= fmax(1, (double)w->dimensions[i]->size / (double)rule_factor(w->dimensions[i]->stride));
	return times;
}

/* The parameter of a called computation that stands for an operand; NONE: there is none. */
static uint32_t parameter_for(const struct graph *g, uint32_t call, uint32_t operand)
{
	const struct comp *c = &g->comp[*node_calls(g, call)];

	for (uint32_t p = c->first; p < c->first + c->n_nodes; p++)
		if (g->node[p].opcode == OP_PARAMETER &&
			node_operands(g, call)[g->node[p].proto->parameter_number] == operand)
			return p;
	return NONE;
}

/* Is it a product that sums over nothing? The compiler writes it element by element. */
static bool is_outer(const struct node *n)
{
	return n->opcode == OP_DOT && n->flops <= 2 * (double)n->elements;
}

/* Does a compiler compute it element by element, as part of any loop? */
static bool is_light(const struct graph *g, uint32_t v)
{
	return class_of(g, v) == CLASS_ELEMENTWISE || class_of(g, v) == CLASS_MOVE;
}

/* Does the reader u read elements of what it reads several times, or any of them? */
static bool repeats(const struct node *u)
{
	return u->opcode == OP_BROADCAST || u->opcode == OP_GATHER || is_outer(u);
}

/* The node as which the reader u goes on with v, number by number; NONE: u does something else with it. */
static uint32_t goes_on(const struct graph *g, uint32_t u, uint32_t v)
{
	if (g->node[u].opcode == OP_CALL)
		return parameter_for(g, u, v);
	if (repeats(&g->node[u]))
		return NONE;
	return is_light(g, u) ? u : NONE;
}

/* The call whose value is v's, if v is what a called computation gives; NONE: it is not. */
static uint32_t call_of(const struct graph *g, uint32_t v)
{
	const struct comp *c = &g->comp[g->node[v].comp];

	return v == c->root && c->caller != NONE && g->node[c->caller].opcode == OP_CALL ? c->caller : NONE;
}

/* How often the reader u reads each element of v. */
static double times_read(const struct graph *g, uint32_t u, uint32_t v)
{
	const struct node *n = &g->node[u];

	if (repeats(n))
		return g->node[v].elements > 1 ? (double)n->elements / (double)g->node[v].elements : 1;
	return sights(g, u);
}

/* The same of all readers of a node, of which slices are readers together. */
static double most_read(const struct graph *g, uint32_t v)
{
	double most = 1, sliced = 0;

	for (uint32_t k = 0; k < g->node[v].n_users; k++) {
		uint32_t u = node_users(g, v)[k];
		most = fmax(most, times_read(g, u, v));
		if (g->node[u].opcode == OP_SLICE)
			sliced += (double)g->node[u].elements;
	}
	return fmax(most, sliced / fmax(1, (double)g->node[v].elements));
}

/* The loops that end at a node: one that writes it to memory, and one for each sum over it. */
static uint32_t loops_at(const struct graph *g, uint32_t v)
{
	bool written = g->node[v].flags & NODE_ROOT && call_of(g, v) == NONE;
	uint32_t sums = 0;

	for (uint32_t k = 0; k < g->node[v].n_users; k++) {
		uint32_t u = node_users(g, v)[k];
		if (g->node[u].opcode == OP_REDUCE)
			sums++;
		else
			written |= goes_on(g, u, v) == NONE;
	}
	return sums + written;
}

/* Adds to what is reached all that may be one loop with it. */
static void reach_readers(struct reach *r)
{
	for (uint32_t i = 0; i < r->n; i++) {
		uint32_t v = r->v[i], u;
		for (uint32_t k = 0; k < r->g->node[v].n_users; k++)
			if ((u = goes_on(r->g, node_users(r->g, v)[k], v)) != NONE)
				reach(r, u);
		if ((u = call_of(r->g, v)) != NONE)
			reach(r, u);
	}
}

/* How often an element may be computed again, in the loops that what is reached goes on in. */
static double times_again(struct reach *r, bool loops_count)
{
	double most = 1;
	uint32_t loops = 0;

	reach_readers(r);
	for (uint32_t i = 0; i < r->n; i++) {
		most = fmax(most, most_read(r->g, r->v[i]));
		loops += loops_at(r->g, r->v[i]);
	}
	return fmax(most, loops_count ? loops : 0) - 1;
}

/* The operations for each element of v in the loop that reads it, if it stays out of memory. */
static double work_behind(const struct graph *g, uint32_t v)
{
	struct reach r = {.g = g, .v = {v}, .n = 1};
	double work = 0;

	for (uint32_t i = 0; i < r.n; i++) {
		const struct node *n = &g->node[r.v[i]];
		bool counts = class_of(g, r.v[i]) == CLASS_ELEMENTWISE;
		work += counts || n->opcode == OP_CALL ? n->flops : 0;
		for (uint32_t k = 0; k < n->n_operands && (counts || class_of(g, r.v[i]) == CLASS_MOVE); k++)
			reach(&r, node_operands(g, r.v[i])[k]);
	}
	return work / fmax(1, (double)g->node[v].elements);
}

Hlo__HloInstructionProto *rule_from_memory(struct draft *d, uint32_t v, uint32_t k, double times)
{
	Hlo__HloInstructionProto *x = draft_operand(d, v, k);
	double again = work_behind(d->g, node_operands(d->g, v)[k]) * (times - 1);

	return again > MANY ? draft_unary(d, "opt-barrier", x) : x;
}

Hlo__HloInstructionProto *rule_seen(struct draft *d, uint32_t v, uint32_t k)
{
	return rule_from_memory(d, v, k, sights(d->g, v));
}

static double elements_of(const Hlo__HloInstructionProto *in)
{
	double n = 1;

	for (size_t i = 0; i < in->shape->n_dimensions; i++)
		n *= (double)in->shape->dimensions[i];
	return n;
}

static int by_id(const void *key, const void *element)
{
	int64_t a = *(const int64_t *)key, b = (*(Hlo__HloInstructionProto *const *)element)->id;

	return (a > b) - (a < b);
}

/* The operations for each element of a value in the loop that reads it, of those that the draft wrote. */
static double work_written(const struct draft *d, const Hlo__HloInstructionProto *x)
{
	bool *in_loop = arena_zalloc(d->mem, d->n + 1, sizeof *in_loop);
	double work = 0;

	for (size_t i = d->n; i-- > 0;) {
		const Hlo__HloInstructionProto *y = d->v[i];
		uint8_t class = opcode_facts(opcode_of(y->opcode))->class;
		if ((y != x && !in_loop[i]) || (class != CLASS_ELEMENTWISE && class != CLASS_MOVE))
			continue;
		work += class == CLASS_ELEMENTWISE ? elements_of(y) / fmax(1, elements_of(x)) : 0;
		for (size_t k = 0; k < y->n_operand_ids; k++) {
			Hlo__HloInstructionProto **o = bsearch(&y->operand_ids[k], d->v, i, sizeof *d->v, by_id);
			if (o)
				in_loop[o - d->v] = true;
		}
	}
	return work;
}

Hlo__HloInstructionProto *rule_kept(struct draft *d, uint32_t v, Hlo__HloInstructionProto *x, bool loops_count)
{
	struct reach r = {.g = d->g, .v = {v}, .n = 1};
	double again = work_written(d, x) * times_again(&r, loops_count && !is_light(d->g, v));

	return again > MANY ? draft_unary(d, "opt-barrier", x) : x;
}

/* Reaches what reads part i of a tuple. */
static void reach_part(struct reach *r, uint32_t v, uint32_t i)
{
	for (; v != NONE; v = call_of(r->g, v))
		for (uint32_t k = 0; k < r->g->node[v].n_users; k++) {
			uint32_t u = node_users(r->g, v)[k];
			if (r->g->node[u].opcode == OP_GET_TUPLE_ELEMENT && r->g->node[u].proto->tuple_index == i)
				reach(r, u);
		}
}

void rule_kept_parts(struct draft *d, uint32_t v, Hlo__HloInstructionProto **part, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		struct reach r = {.g = d->g};
		double work = work_written(d, part[i]);
		reach_part(&r, v, i);
		if (work * times_again(&r, true) > MANY)
			part[i] = draft_unary(d, "opt-barrier", part[i]);
	}
}
