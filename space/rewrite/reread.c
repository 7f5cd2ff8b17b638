/*
 * reread.c - what is read more than once, and therefore stays in memory.
 *
 * A compiler makes one loop of what is computed element by element, and computes in it whatever it reads there.
 * XLA:CPU takes care that nothing dear is computed twice. It repeats no exponential, and makes a convolution, a window
 * or a sort no part of a loop. Rules write cheap operations instead of these, dozens for each element, and XLA repeats
 * those. It computed the first of two filters of 11 taps, one behind the other, 11 times, and the gradient of a
 * maximum once for each colour that it goes to. Rewriting took 31% off a program of openings and structural similarity
 * then, and takes 69% now.
 *
 * So what a rule writes is kept in memory, as what it replaces was, under two conditions: a loop may read an element
 * of it more than once (through slices that overlap, a window, a broadcast), and would compute much for that. An
 * operand of what is taken apart is kept under the same conditions: what a window moves over, or terms that lie side
 * by side. Terms are read once, but across, and what computes them there runs without vector code. Where these were 2
 * by 2 by 2 numbers that a stencil gives, a multigrid became 42% slower.
 */
#include <math.h>
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

/* How often the reader u reads each element of v. If it may be one loop with v, it is reached. */
static double times_read(struct reach *r, uint32_t u, uint32_t v)
{
	const struct node *n = &r->g->node[u];
	uint32_t p;

	if (n->opcode == OP_BROADCAST || n->opcode == OP_GATHER || is_outer(n))
		return r->g->node[v].elements > 1 ? (double)n->elements / (double)r->g->node[v].elements : 1;
	if (n->opcode == OP_CALL && (p = parameter_for(r->g, u, v)) != NONE)
		reach(r, p);
	else if (class_of(r->g, u) == CLASS_ELEMENTWISE || class_of(r->g, u) == CLASS_MOVE)
		reach(r, u);
	return sights(r->g, u);
}

/* The same of all readers of a node, of which slices are readers together. */
static double most_read(struct reach *r, uint32_t v)
{
	const struct comp *c = &r->g->comp[r->g->node[v].comp];
	double most = 1, sliced = 0;

	for (uint32_t k = 0; k < r->g->node[v].n_users; k++) {
		uint32_t u = node_users(r->g, v)[k];
		most = fmax(most, times_read(r, u, v));
		if (r->g->node[u].opcode == OP_SLICE)
			sliced += (double)r->g->node[u].elements;
	}
	if (v == c->root && c->caller != NONE && r->g->node[c->caller].opcode == OP_CALL)
		reach(r, c->caller);
	return fmax(most, sliced / fmax(1, (double)r->g->node[v].elements));
}

/* How often the loops that read a node may read each of its elements, as far as one sees. */
static double times_read_at_most(const struct graph *g, uint32_t v)
{
	struct reach r = {.g = g, .v = {v}, .n = 1};
	double most = 1;

	for (uint32_t i = 0; i < r.n; i++)
		most = fmax(most, most_read(&r, r.v[i]));
	return most;
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

Hlo__HloInstructionProto *rule_kept(struct draft *d, uint32_t v, Hlo__HloInstructionProto *x)
{
	double most = elements_of(x), work = 0;

	for (size_t i = 0; i < d->n; i++)
		if (opcode_facts(opcode_of(d->v[i]->opcode))->class == CLASS_ELEMENTWISE)
			work += elements_of(d->v[i]) / most;
	return work * (times_read_at_most(d->g, v) - 1) > MANY ? draft_unary(d, "opt-barrier", x) : x;
}
