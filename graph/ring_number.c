/*
 * ring_number.c - see ring.h: the numbers of a ring, and arrays of them.
 */
#include "graph/ring.h"

#define PRIME UINT64_C(2147483647)

uint64_t ring_number(enum ring ring, int64_t v)
{
	return ring == RING_INTEGERS ? (uint64_t)v : (uint64_t)((v % (int64_t)PRIME + (int64_t)PRIME) % (int64_t)PRIME);
}

uint64_t ring_add(enum ring ring, uint64_t a, uint64_t b)
{
	return ring == RING_INTEGERS ? a + b : (a + b) % PRIME;
}

uint64_t ring_multiply(enum ring ring, uint64_t a, uint64_t b)
{
	return ring == RING_INTEGERS ? a * b : a * b % PRIME;
}

uint64_t ring_negative(enum ring ring, uint64_t a)
{
	return ring == RING_INTEGERS ? 0 - a : (PRIME - a) % PRIME;
}

/* The field has no order; there what is called a maximum is one all the same, of the representatives. */
uint64_t ring_combine(enum ring ring, uint16_t opcode, uint64_t a, uint64_t b)
{
	bool less = (int64_t)a < (int64_t)b;

	switch (opcode) {
	case OP_ADD:
		return ring_add(ring, a, b);
	case OP_SUBTRACT:
		return ring_add(ring, a, ring_negative(ring, b));
	case OP_MULTIPLY:
		return ring_multiply(ring, a, b);
	case OP_MAXIMUM:
		return less ? b : a;
	case OP_MINIMUM:
		return less ? a : b;
	default:
		return 0;
	}
}

struct tensor ring_tensor(struct arena *mem, const Hlo__ShapeProto *shape)
{
	struct tensor t = {.rank = (uint32_t)shape->n_dimensions, .n = 1};

	for (uint32_t i = 0; i < t.rank; i++) {
		t.dim[i] = shape->dimensions[i];
		t.n *= (size_t)t.dim[i];
	}
	t.v = ARENA_NEW(mem, t.n, uint64_t);
	if (shape->element_type == DT_C64 || shape->element_type == DT_C128)
		t.imag = ARENA_NEW(mem, t.n, uint64_t);
	return t;
}

bool ring_step(const int64_t *dim, uint32_t rank, int64_t *at)
{
	for (uint32_t i = rank; i-- > 0;) {
		if (++at[i] < dim[i])
			return true;
		at[i] = 0;
	}
	return false;
}

int64_t ring_place(const struct tensor *x, const int64_t *at)
{
	int64_t place = 0;

	for (uint32_t i = 0; i < x->rank; i++) {
		if (at[i] < 0 || at[i] >= x->dim[i])
			return -1;
		place = place * x->dim[i] + at[i];
	}
	return place;
}
