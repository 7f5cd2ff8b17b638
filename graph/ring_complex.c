/*
 * ring_complex.c - see ring.h: complex numbers, whose parts are numbers of the ring.
 *
 * What moves or adds numbers does so with the real and the imaginary parts. A product, of matrices or number by number,
 * is four products of parts.
 */
#include "graph/ring.h"

#include <string.h>

static uint32_t operands(const struct ring_node *n)
{
	uint32_t k = n->g->node[n->v].n_operands;

	return k < 8 ? k : 8;
}

bool ring_is_complex(const struct ring_node *n)
{
	bool any = n->out->imag;

	for (uint32_t k = 0; k < operands(n); k++)
		any = any || n->x[k]->imag;
	return any;
}

/* The real or the imaginary parts of an operand; those of real numbers are zero. */
static const struct tensor *part(const struct ring_node *n, uint32_t k, bool imag)
{
	struct tensor *x = arena_dup(n->mem, n->x[k], sizeof *x);

	if (imag)
		x->v = x->imag ? x->imag : ARENA_NEW(n->mem, x->n, uint64_t);
	x->imag = NULL;
	return x;
}

/* Runs the node on one part of each operand; operand k has its imaginary parts taken if bit k is set. */
static int run_part(const struct ring_node *n, int (*run)(const struct ring_node *), uint32_t imag, uint64_t *out)
{
	struct ring_node one = *n;
	struct tensor result = *n->out;

	for (uint32_t k = 0; k < operands(n); k++)
		one.x[k] = part(n, k, imag >> k & 1);
	result.v = out;
	result.imag = NULL;
	one.out = &result;
	return run(&one);
}

static int product(const struct ring_node *n, int (*run)(const struct ring_node *))
{
	uint64_t *one = ARENA_NEW(n->mem, n->out->n, uint64_t), *two = ARENA_NEW(n->mem, n->out->n, uint64_t);

	if (run_part(n, run, 0, n->out->v) < 0 || run_part(n, run, 3, one) < 0 ||
		run_part(n, run, 1, n->out->imag) < 0 || run_part(n, run, 2, two) < 0)
		return -1;
	for (size_t i = 0; i < n->out->n; i++) {
		n->out->v[i] = ring_add(n->ring, n->out->v[i], ring_negative(n->ring, one[i]));
		n->out->imag[i] = ring_add(n->ring, n->out->imag[i], two[i]);
	}
	return 0;
}

static bool adds(const struct ring_node *n)
{
	return n->g->node[n->g->comp[node_calls(n->g, n->v)[0]].root].opcode == OP_ADD;
}

/* Is it the zero that a sum starts from? No other constant is known. */
static bool is_zero(const struct ring_node *n)
{
	const Hlo__Literal *l = n->in->literal;
	bool zero = n->out->imag;

	for (size_t i = 0; l && i < l->n_c64s; i++)
		zero = zero && !(l->c64s[i] < 0) && !(l->c64s[i] > 0);
	return zero && l && l->n_c64s;
}

int ring_complex(const struct ring_node *n, int (*run)(const struct ring_node *))
{
	size_t bytes = n->out->n * sizeof(uint64_t);

	for (uint32_t k = 0; k < operands(n) && n->g->node[n->v].opcode == OP_COMPLEX; k++)
		if (n->x[k]->n != n->out->n || n->x[k]->imag)
			return -1;
	switch (n->g->node[n->v].opcode) {
	case OP_REAL:
	case OP_IMAG:
		if (n->x[0]->n != n->out->n || !n->x[0]->imag || n->out->imag)
			return -1;
		memcpy(n->out->v, n->g->node[n->v].opcode == OP_REAL ? n->x[0]->v : n->x[0]->imag, bytes);
		return 0;
	case OP_COMPLEX:
		memcpy(n->out->v, n->x[0]->v, bytes);
		memcpy(n->out->imag, n->x[1]->v, bytes);
		return 0;
	case OP_CONSTANT:
		return is_zero(n) ? 0 : -1;
	case OP_DOT:
	case OP_CONVOLUTION:
	case OP_MULTIPLY:
		return n->out->imag ? product(n, run) : -1;
	case OP_REDUCE:
		if (!adds(n))
			return -1;
		/* fall through */
	case OP_ADD:
	case OP_SUBTRACT:
	case OP_CONVERT:
	case OP_COPY:
	case OP_OPTIMIZATION_BARRIER:
	case OP_RESHAPE:
	case OP_TRANSPOSE:
	case OP_BROADCAST:
		if (!n->out->imag)
			return -1;
		return run_part(n, run, 0, n->out->v) < 0 ? -1 : run_part(n, run, UINT32_MAX, n->out->imag);
	default:
		return -1;
	}
}
