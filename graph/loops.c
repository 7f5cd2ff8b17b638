/*
 * loops.c - finds how often a `while` runs.
 *
 * A compiler that knows the count writes it into backend_config. Before that it follows from the usual
 * form of a counted loop: the state holds a counter that starts at a constant, the condition compares it
 * with a constant, and the body adds a constant to it. Each of these may be hidden behind copies, calls,
 * fusions, and tuples that are taken apart at once. So we look through those first (`see`), up through
 * parameters and down into roots.
 *
 * A limit may also be an element of the state that the body passes on unchanged. For any other loop we
 * take the count that turns.h noted in the program, if there is one; else the count is unknown, and negative.
 */
#include <math.h>
#include <string.h>
#include "graph/own.h"
#include "graph/turns.h"

#define SEE_STEPS 64 /* the most steps to look through; also ends walks in circles */

static bool passes_on(uint16_t opcode)
{
	return opcode == OP_COPY || opcode == OP_BITCAST || opcode == OP_RESHAPE ||
	       opcode == OP_OPTIMIZATION_BARRIER || opcode == OP_CONVERT;
}

/* The fusion or call whose operand the parameter stands for, or NONE. */
static uint32_t plain_caller(const struct graph *g, uint32_t v)
{
	const struct comp *c = &g->comp[g->node[v].comp];
	if (c->n_callers != 1)
		return NONE;
	uint16_t op = g->node[c->caller].opcode;
	return op == OP_FUSION || op == OP_CALL ? c->caller : NONE;
}

/* The node one step closer to where a value comes from; NONE where there is no further step. */
static uint32_t source(const struct graph *g, uint32_t v)
{
	const struct node *n = &g->node[v];
	if (passes_on(n->opcode) && n->n_operands == 1)
		return node_operands(g, v)[0];
	if ((n->opcode == OP_FUSION || n->opcode == OP_CALL) && n->n_called == 1)
		return g->comp[node_calls(g, v)[0]].root;
	if (n->opcode == OP_PARAMETER && plain_caller(g, v) != NONE)
		return node_operands(g, plain_caller(g, v))[n->proto->parameter_number];
	return NONE;
}

static uint32_t see(const struct graph *g, uint32_t v)
{
	for (int step = 0; step < SEE_STEPS; step++) {
		uint32_t from = source(g, v);
		if (from == NONE && g->node[v].opcode == OP_GET_TUPLE_ELEMENT) {
			uint32_t t = node_operands(g, v)[0], next;
			while (step < SEE_STEPS && (next = source(g, t)) != NONE) {
				t = next;
				step++;
			}
			if (g->node[t].opcode == OP_TUPLE &&
				(uint64_t)g->node[v].proto->tuple_index < g->node[t].n_operands)
				from = node_operands(g, t)[g->node[v].proto->tuple_index];
		}
		if (from == NONE)
			return v;
		v = from;
	}
	return v;
}

static bool constant(const struct graph *g, uint32_t v, double *out)
{
	const Hlo__Literal *l = g->node[v].proto->literal;
	if (!(g->node[v].flags & NODE_SCALAR_CONST) || !l)
		return false;
	if (l->n_s32s == 1)
		*out = l->s32s[0];
	else if (l->n_s64s == 1)
		*out = (double)l->s64s[0];
	else if (l->n_u32s == 1)
		*out = l->u32s[0];
	else if (l->n_u64s == 1)
		*out = (double)l->u64s[0];
	else
		return false;
	return true;
}

/* The element of the loop's state that v is, for a v inside the body or condition; -1 if it is none. */
static int64_t state_element(const struct graph *g, uint32_t v, uint32_t comp)
{
	if (g->node[v].opcode != OP_GET_TUPLE_ELEMENT)
		return -1;
	uint32_t t = see(g, node_operands(g, v)[0]);
	return g->node[t].opcode == OP_PARAMETER && g->node[t].comp == comp ? g->node[v].proto->tuple_index :
									      -1;
}

struct loop {
	const struct graph *g;
	uint32_t body, cond; /* computations */
	uint32_t start, end; /* tuples: the state before the first round and after each */
};

static bool element(const struct loop *l, uint32_t tuple, int64_t i, uint32_t *v)
{
	const struct node *t = &l->g->node[tuple];
	if (t->opcode != OP_TUPLE || i < 0 || (uint64_t)i >= t->n_operands)
		return false;
	*v = see(l->g, node_operands(l->g, tuple)[i]);
	return true;
}

/* Finds the limit if it is a constant, or an element of the state that starts as one and never changes. */
static bool limit_of(const struct loop *l, uint32_t v, double *out)
{
	uint32_t start, next;
	int64_t i = state_element(l->g, v, l->cond);
	if (i < 0)
		return constant(l->g, v, out);
	return element(l, l->start, i, &start) && element(l, l->end, i, &next) &&
	       state_element(l->g, next, l->body) == i && constant(l->g, start, out);
}

/* Finds what each round adds to element i. */
static bool step_of(const struct loop *l, int64_t i, double *out)
{
	uint32_t next;
	if (!element(l, l->end, i, &next) || l->g->node[next].n_operands != 2)
		return false;
	uint32_t a = see(l->g, node_operands(l->g, next)[0]), b = see(l->g, node_operands(l->g, next)[1]);
	uint16_t op = l->g->node[next].opcode;
	if (op == OP_ADD && state_element(l->g, b, l->body) == i)
		return constant(l->g, a, out);
	if ((op != OP_ADD && op != OP_SUBTRACT) || state_element(l->g, a, l->body) != i ||
		!constant(l->g, b, out))
		return false;
	*out = op == OP_ADD ? *out : -*out;
	return true;
}

/* How many rounds `for (i = start; i CMP limit; i += step)` runs. */
static double rounds(const char *cmp, double start, double limit, double step)
{
	bool up = step > 0, may_equal = strcmp(cmp, "LE") == 0 || strcmp(cmp, "GE") == 0;
	double way = up ? limit - start : start - limit, size = fabs(step);
	if (step == 0)
		return 0;
	if (strcmp(cmp, "NE") == 0)
		return way > 0 && fmod(way, size) == 0 ? way / size : 0;
	if ((cmp[0] == 'L') != up || (cmp[0] != 'L' && cmp[0] != 'G'))
		return 0;
	if (may_equal)
		way += 1;
	return way > 0 ? ceil(way / size) : 0;
}

static const char *swapped(const char *cmp)
{
	static const char *const pair[][2] = {{"LT", "GT"}, {"LE", "GE"}, {"GT", "LT"}, {"GE", "LE"}, {"NE", "NE"}};
	for (size_t i = 0; i < sizeof(pair) / sizeof(*pair); i++)
		if (strcmp(cmp, pair[i][0]) == 0)
			return pair[i][1];
	return "";
}

static double counted(const struct loop *l)
{
	const struct graph *g = l->g;
	uint32_t test = see(g, g->comp[l->cond].root), start;
	double from, limit, step;
	if (g->node[test].opcode != OP_COMPARE)
		return 0;
	const char *cmp = g->node[test].proto->comparison_direction;
	uint32_t a = see(g, node_operands(g, test)[0]), b = see(g, node_operands(g, test)[1]);
	for (int side = 0; side < 2; side++) {
		int64_t i = state_element(g, a, l->cond);
		if (i >= 0 && limit_of(l, b, &limit) && element(l, l->start, i, &start) &&
			constant(g, start, &from) && step_of(l, i, &step))
			return rounds(cmp, from, limit, step);
		uint32_t c = a;
		a = b;
		b = c;
		cmp = swapped(cmp);
	}
	return 0;
}

/* The count that the compiler wrote: {"known_trip_count":{"n":"10"}}. */
static double written(const Hlo__HloInstructionProto *in)
{
	static const char key[] = "\"known_trip_count\":{\"n\":\"";
	const char *p = (const char *)in->backend_config.data;
	const char *s = p ? memmem(p, in->backend_config.len, key, sizeof(key) - 1) : NULL;
	double n = 0;
	if (!s)
		return 0;
	for (s += sizeof(key) - 1; s < p + in->backend_config.len && *s >= '0' && *s <= '9' && n < 1e15; s++)
		n = 10 * n + (*s - '0');
	return n;
}

void graph_loops(struct graph *g)
{
	for (uint32_t v = 0; v < g->n_nodes; v++) {
		if (g->node[v].opcode != OP_WHILE)
			continue;
		struct loop l = {g, node_calls(g, v)[0], node_calls(g, v)[1], 0, 0};
		l.start = see(g, node_operands(g, v)[0]);
		l.end = see(g, g->comp[l.body].root);
		g->node[v].trip_count = written(g->node[v].proto);
		if (g->node[v].trip_count <= 0)
			g->node[v].trip_count = counted(&l);
		if (g->node[v].trip_count <= 0)
			g->node[v].trip_count = turns_noted(g->node[v].proto, 0);
	}
}
