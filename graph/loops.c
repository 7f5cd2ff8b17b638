/*
 * loops.c - finds how often a `while` runs.
 *
 * A compiler that knows the count writes it into backend_config. Before that it follows from the usual
 * form of a counted loop: the state holds a counter that starts at a constant, the condition compares it
 * with a constant, and the body adds a constant to it. Each of these may be hidden behind copies, calls,
 * fusions, and tuples that are taken apart at once. So we look through those first (`see`), up through
 * parameters and down into roots. Of conversions we look through those that keep every whole number.
 *
 * A counter that leaves its type wraps, and then we take no count from these numbers.
 *
 * A limit may also be an element of the state that the body passes on unchanged. For any other loop we
 * take the count that turns.h noted in the program, if there is one; else the count is unknown, and negative.
 */
#include <string.h>
#include "graph/own.h"
#include "graph/turns.h"

#define SEE_STEPS 64 /* the most steps to look through; also ends walks in circles */
#define UNKNOWN (-1.0)

__extension__ typedef __int128 whole; /* holds what any two numbers of 64 bits add up to */

/* The least and the largest number of a type; false if it is none of whole numbers. */
static bool range_of(uint8_t dtype, whole *least, whole *most)
{
	bool is_signed = dtype == DT_S8 || dtype == DT_S16 || dtype == DT_S32 || dtype == DT_S64;

	if (!is_signed && dtype != DT_U8 && dtype != DT_U16 && dtype != DT_U32 && dtype != DT_U64)
		return false;
	*most = ((whole)1 << (dtype_bits(dtype) - is_signed)) - 1;
	*least = is_signed ? -*most - 1 : 0;
	return true;
}

static bool holds(uint8_t dtype, whole x)
{
	whole least, most;

	return range_of(dtype, &least, &most) && least <= x && x <= most;
}

static bool widens(uint8_t from, uint8_t to)
{
	whole least, most;

	return range_of(from, &least, &most) && holds(to, least) && holds(to, most);
}

/* Does v hold the number that its only operand holds? */
static bool passes_on(const struct graph *g, uint32_t v)
{
	uint16_t opcode = g->node[v].opcode;

	if (g->node[v].n_operands != 1)
		return false;
	return opcode == OP_COPY || opcode == OP_BITCAST || opcode == OP_RESHAPE ||
	       opcode == OP_OPTIMIZATION_BARRIER ||
	       (opcode == OP_CONVERT && widens(g->node[node_operands(g, v)[0]].dtype, g->node[v].dtype));
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
	if (passes_on(g, v))
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

static bool constant(const struct graph *g, uint32_t v, whole *out)
{
	const Hlo__Literal *l = g->node[v].proto->literal;
	if (!(g->node[v].flags & NODE_SCALAR_CONST) || !l)
		return false;
	if (l->n_s32s == 1)
		*out = l->s32s[0];
	else if (l->n_s64s == 1)
		*out = l->s64s[0];
	else if (l->n_u32s == 1)
		*out = l->u32s[0];
	else if (l->n_u64s == 1)
		*out = l->u64s[0];
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
static bool limit_of(const struct loop *l, uint32_t v, whole *out)
{
	uint32_t start, next;
	int64_t i = state_element(l->g, v, l->cond);
	if (i < 0)
		return constant(l->g, v, out);
	return element(l, l->start, i, &start) && element(l, l->end, i, &next) &&
	       state_element(l->g, next, l->body) == i && constant(l->g, start, out);
}

/* Finds what each round adds to element i. */
static bool step_of(const struct loop *l, int64_t i, whole *out)
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

static bool is_true(const char *cmp, whole a, whole b)
{
	if (strcmp(cmp, "NE") == 0)
		return a != b;
	if (strcmp(cmp, "LT") == 0 || strcmp(cmp, "LE") == 0)
		return a < b || (cmp[1] == 'E' && a == b);
	return a > b || (cmp[1] == 'E' && a == b);
}

/* How many rounds `for (i = start; i CMP limit; i += step)` runs, for an i of that type. UNKNOWN: i would wrap. */
static double rounds(const char *cmp, whole start, whole limit, whole step, uint8_t dtype)
{
	bool up = step > 0, differs = strcmp(cmp, "NE") == 0, may_equal = !differs && cmp[0] && cmp[1] == 'E';
	whole way = up ? limit - start : start - limit, size = up ? step : -step, n;

	if (!differs && cmp[0] != 'L' && cmp[0] != 'G')
		return UNKNOWN;
	if (!is_true(cmp, start, limit))
		return 0;
	if (step == 0 || way < 0 || (differs ? way % size != 0 : (cmp[0] == 'L') != up))
		return UNKNOWN;
	n = (way + may_equal + size - 1) / size;
	return holds(dtype, start + n * step) ? (double)n : UNKNOWN;
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
	whole from, limit, step;
	if (g->node[test].opcode != OP_COMPARE)
		return UNKNOWN;
	const char *cmp = g->node[test].proto->comparison_direction;
	uint32_t a = see(g, node_operands(g, test)[0]), b = see(g, node_operands(g, test)[1]);
	for (int side = 0; side < 2; side++) {
		int64_t i = state_element(g, a, l->cond);
		if (i >= 0 && limit_of(l, b, &limit) && element(l, l->start, i, &start) &&
			constant(g, start, &from) && step_of(l, i, &step))
			return rounds(cmp, from, limit, step, g->node[a].dtype);
		uint32_t c = a;
		a = b;
		b = c;
		cmp = swapped(cmp);
	}
	return UNKNOWN;
}

/* The count that the compiler wrote: {"known_trip_count":{"n":"10"}}. */
static double written(const Hlo__HloInstructionProto *in)
{
	static const char key[] = "\"known_trip_count\":{\"n\":\"";
	const char *p = (const char *)in->backend_config.data;
	const char *s = p ? memmem(p, in->backend_config.len, key, sizeof(key) - 1) : NULL, *end;
	double n = 0;
	if (!s)
		return UNKNOWN;
	s += sizeof(key) - 1;
	for (end = s; end < p + in->backend_config.len && *end >= '0' && *end <= '9' && n < 1e15; end++)
		n = 10 * n + (*end - '0');
	return end > s ? n : UNKNOWN;
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
		if (g->node[v].trip_count < 0)
			g->node[v].trip_count = counted(&l);
		if (g->node[v].trip_count < 0)
			g->node[v].trip_count = turns_noted(g->node[v].proto, 0);
	}
}
