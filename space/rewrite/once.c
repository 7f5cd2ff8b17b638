/*
 * once.c - rewrites operations on numbers of 16 bits, alone or in a chain, so that they are done in f32.
 *
 *	f(g(x))  =  bf16(f(g(f32(x))))		instead of bf16(f(f32(bf16(g(f32(x))))))
 *
 * XLA:CPU computes them in f32 and rounds after each, which takes longer than the operations. (A gelu of half a million
 * numbers took 1.8 ms, and 0.4 in f32; a logistic function of a million 2.8 and 0.8: Xeon, one core.) By default XLA
 * allows excess precision, of which such a chain is an instance.
 *
 * What it does not do in f32 are comparisons, and conversions from and to whole numbers and truths, so no vector
 * instructions come of them. (A million times max(x, 0) took 8.4 ms, and 0.6 in f32; a choice by x > 0, as of a
 * gradient, 8.2 and 0.5; to make s8 of them 8.2 and 0.4.) In f32 they have the same results on the same numbers.
 *
 * Numbers of type f16 it computes as they are, and well, but for exponentials and logarithms, which it takes one by
 * one. (Of 131,072 an exponential took 0.50 ms, and 0.12 in f32; a logarithm 1.39 and 0.10.)
 *
 * A chain ends where a value is read more than once, or by anything else. It ends before what jumps, too, a test or a
 * whole number, because what comes a little nearer to the truth may be on the other side; a floor is left out. What
 * jumps reads numbers that stay rounded (draft_rounded): where a maximum is looked for by an equality, none would be
 * found among numbers that were not.
 */
#include "space/rewrite/codes.h"

static const char *const measures[] = {"elements", "steps", "tests", "functions", NULL};

/*
 * What the compiler makes of an operation on bf16: how often it rounds, and how often it compares. Is it a function
 * that has no vector code in f16?
 */
struct labour {
	bool belongs;
	int roundings, tests, function;
};

static uint8_t first_type(const struct graph *g, uint32_t v)
{
	return g->node[node_operands(g, v)[0]].dtype;
}

static bool is_narrow(uint8_t type)
{
	return type == DT_BF16 || type == DT_F16;
}

static bool is_whole(uint8_t type)
{
	return type == DT_PRED || type == DT_S8 || type == DT_U8 || type == DT_S16 || type == DT_U16 ||
		type == DT_S32 || type == DT_U32 || type == DT_S64 || type == DT_U64;
}

static struct labour labour_in_bf16(const struct graph *g, uint32_t v)
{
	switch (g->node[v].opcode) {
	case OP_NEGATE:
	case OP_ABS:
	case OP_SELECT:
		return (struct labour){true, 0, 0, 0};
	case OP_MAXIMUM:
	case OP_MINIMUM:
	case OP_COMPARE:
	case OP_SIGN:
		return (struct labour){true, 0, 1, 0};
	case OP_CLAMP:
		return (struct labour){true, 0, 2, 0};
	case OP_ADD:
	case OP_SUBTRACT:
	case OP_MULTIPLY:
	case OP_DIVIDE:
	case OP_POWER:
	case OP_LOG_PLUS_ONE:
	case OP_TANH:
	case OP_ERF:
	case OP_SQRT:
	case OP_RSQRT:
	case OP_SINE:
	case OP_COSINE:
		return (struct labour){true, 1, 0, 0};
	case OP_EXPONENTIAL:
	case OP_EXPONENTIAL_MINUS_ONE:
	case OP_LOG:
		return (struct labour){true, 1, 0, 1};
	case OP_CONVERT:
		if (is_whole(g->node[v].dtype) || is_whole(first_type(g, v)))
			return (struct labour){true, 0, 1, 0};
		return (struct labour){true, 1, 0, 0};
	case OP_LOGISTIC: /* taken apart before it is rounded */
		return (struct labour){true, 3, 0, 0};
	default:
		return (struct labour){false, 0, 0, 0};
	}
}

static struct labour labour_of(const struct graph *g, uint32_t v)
{
	struct labour of = labour_in_bf16(g, v);

	if (!of.belongs)
		return of;
	if (g->node[v].dtype == DT_F16 || first_type(g, v) == DT_F16)
		return (struct labour){true, 0, 0, of.function};
	return (struct labour){true, of.roundings, of.tests, 0};
}

/* Does its result jump? */
static bool jumps(const struct graph *g, uint32_t v)
{
	return g->node[v].opcode == OP_COMPARE || g->node[v].opcode == OP_SIGN || is_whole(g->node[v].dtype);
}

/* May it be computed in f32? It gives or compares numbers of 16 bits, or makes something else of them. */
static bool belongs(const struct graph *g, uint32_t v)
{
	const struct node *n = &g->node[v];

	if (!labour_of(g, v).belongs || n->n_operands > 3 || !rule_regular(g, v))
		return false;
	if (n->opcode == OP_COMPARE || (n->opcode == OP_CONVERT && !is_narrow(n->dtype)))
		return is_narrow(first_type(g, v)) && (n->dtype == DT_F32 || is_whole(n->dtype));
	return is_narrow(n->dtype) &&
		(n->opcode != OP_CONVERT || first_type(g, v) == DT_F32 || is_whole(first_type(g, v)));
}

/* Is it read by one operation of a chain, and nothing else? Then it belongs to that chain, unless that jumps. */
static bool goes_on(const struct graph *g, uint32_t v)
{
	uint8_t type = g->node[v].dtype;

	return (is_narrow(type) || type == DT_PRED) && belongs(g, v) && g->node[v].n_users == 1 &&
	       !(g->node[v].flags & NODE_ROOT) && belongs(g, *node_users(g, v)) && !jumps(g, *node_users(g, v));
}

/* Adds what the chain's operation v reads and that belongs to the chain, and counts what is saved. */
static void add_inner(const struct graph *g, uint32_t v, struct found *f)
{
	f->measure[2] += labour_of(g, v).tests;
	f->measure[3] += labour_of(g, v).function;
	for (uint32_t k = 0; k < g->node[v].n_operands; k++) {
		uint32_t u = node_operands(g, v)[k];
		if (!goes_on(g, u) || found_inside(f, u) || f->n_inside == FOUND_INSIDE)
			continue;
		f->inside[f->n_inside++] = u;
		f->measure[1] += labour_of(g, u).roundings;
		add_inner(g, u, f);
	}
}

static bool match(const struct graph *g, uint32_t v, struct found *f)
{
	int own;

	if (!belongs(g, v) || goes_on(g, v))
		return false;
	own = labour_of(g, v).roundings;
	f->measure[0] = (double)g->node[v].elements;
	f->measure[1] = own > 1 ? own - 1 : 0; /* one remains */
	f->measure[2] = f->measure[3] = 0;
	add_inner(g, v, f);
	return f->measure[1] + f->measure[2] + f->measure[3] > 0;
}

struct values { /* of nodes of a chain that were written */
	uint32_t node[FOUND_INSIDE + 1], n;
	Hlo__HloInstructionProto *x[FOUND_INSIDE + 1];
};

static Hlo__HloInstructionProto *wide(struct draft *d, const struct found *f, uint32_t v, struct values *done);

/* Writes an operation of the chain in f32. */
static Hlo__HloInstructionProto *operation(struct draft *d, const struct found *f, uint32_t v, struct values *done)
{
	const struct node *n = &d->g->node[v];
	const Hlo__HloInstructionProto *in = n->proto;
	Hlo__HloInstructionProto *x[3], *y;

	for (uint32_t k = 0; k < n->n_operands; k++) {
		uint32_t u = node_operands(d->g, v)[k];
		x[k] = wide(d, f, u, done);
		if (jumps(d->g, v) && is_narrow(d->g->node[u].dtype))
			x[k] = draft_rounded(d, x[k], d->g->node[u].dtype);
	}
	if (n->opcode == OP_CONVERT)
		return draft_convert(d, x[0], is_whole(n->dtype) ? n->dtype : DT_F32);
	if (n->opcode == OP_SELECT)
		return draft_select(d, x[0], x[1], x[2]);
	y = draft_copy(d, in, in->shape->dimensions, draft_rank(in), x, n->n_operands);
	y->shape->element_type = n->opcode == OP_COMPARE ? DT_PRED : DT_F32;
	return y;
}

/* The value of a node of the chain, or of what the chain reads, in f32 if it has 16 bits. */
static Hlo__HloInstructionProto *wide(struct draft *d, const struct found *f, uint32_t v, struct values *done)
{
	Hlo__HloInstructionProto *x;

	if (v != f->anchor && !found_inside(f, v)) {
		x = draft_value(d, v);
		return is_narrow(d->g->node[v].dtype) ? draft_convert(d, x, DT_F32) : x;
	}
	for (uint32_t i = 0; i < done->n; i++)
		if (done->node[i] == v)
			return done->x[i];
	x = operation(d, f, v, done);
	done->node[done->n] = v;
	done->x[done->n++] = x;
	return x;
}

static Hlo__HloInstructionProto *write(struct draft *d, const struct found *f, uint32_t variant)
{
	struct values done = {.n = 0};

	(void)variant;
	return wide(d, f, f->anchor, &done);
}

const struct rule_code rounded_once_code = {.name = "rounded_once", .measures = measures, .match = match,
	.write = write};
