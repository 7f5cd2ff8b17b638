/*
 * ring.h - what a program computes, in numbers that never round.
 *
 * Two programs that are the same by the laws of addition and multiplication give the same numbers in every ring; in
 * floating point they do not, and a tolerance that forgives rounding forgives mistakes too. So rewriting is proven
 * here: in integers modulo 2^64, where maximum and minimum have a meaning as well, and in the field of the prime
 * 2^31 - 1, where what differs as a polynomial differs almost surely.
 *
 * Only the tests run it. It is here and not with them because it must keep up with what the rules of rewriting write.
 *
 * A complex number is two numbers of the ring. Their products are those of real and imaginary parts, as everywhere.
 *
 * A loop is as many turns of its body as the program says of it; its condition is not computed, because order means
 * nothing in a field.
 *
 * Slow and obvious: one loop per operation over its definition. It knows what rules read and write; an instruction
 * that it does not know is an error, never a guess.
 */
#ifndef GRAPH_RING_H
#define GRAPH_RING_H

#include "graph/graph.h"

#define RING_RANK 16
#define RING_ELEMENTS (1u << 22) /* of one value */

enum ring { RING_INTEGERS, RING_FIELD };

struct tensor { /* row by row, the last dimension fastest */
	uint32_t rank;
	int64_t dim[RING_RANK];
	size_t n;
	uint64_t *v;
	uint64_t *imag; /* the imaginary parts of complex numbers, else NULL */
	const struct tensor *const *part; /* of a tuple; then the rest means nothing */
};

/* Runs the entry on `param`, by number; the result lies in `mem`. -1 with a sentence: something is not known. */
int ring_run(const struct graph *g, enum ring ring, const struct tensor *param, struct arena *mem, struct tensor *out,
	struct err *err);
/* An array of that shape, of zeros. */
struct tensor ring_tensor(struct arena *mem, const Hlo__ShapeProto *shape);
/* A whole number, perhaps negative, as an element. */
uint64_t ring_number(enum ring ring, int64_t v);

/* Of ring*.c among themselves. */
struct ring_node {
	const struct graph *g;
	uint32_t v;
	enum ring ring;
	const Hlo__HloInstructionProto *in;
	const struct tensor *x[8]; /* the first operands */
	const struct tensor *value; /* per node of the program */
	struct arena *mem;
	struct tensor *out;
};
uint64_t ring_add(enum ring ring, uint64_t a, uint64_t b);
uint64_t ring_multiply(enum ring ring, uint64_t a, uint64_t b);
uint64_t ring_negative(enum ring ring, uint64_t a);
uint64_t ring_combine(enum ring ring, uint16_t opcode, uint64_t a, uint64_t b);
/* Counts an index through `dim`; false when all were seen. */
bool ring_step(const int64_t *dim, uint32_t rank, int64_t *at);
/* The element's place, or -1 outside the array. */
int64_t ring_place(const struct tensor *x, const int64_t *at);
int ring_dot(const struct ring_node *n);
int ring_convolution(const struct ring_node *n);
int ring_gather(const struct ring_node *n);
int ring_scatter(const struct ring_node *n);
int ring_window(const struct ring_node *n);
/* Where the window's tap meets the input from position `out`; false: in the padding or between elements. */
bool ring_meets(const Hlo__WindowDimension *w, int64_t size, int64_t out, int64_t tap, int64_t *in);
int ring_compare(const struct ring_node *n);
int ring_select(const struct ring_node *n);
int ring_clamp(const struct ring_node *n);
int ring_logic(const struct ring_node *n);
int ring_iota(const struct ring_node *n);
int ring_select_and_scatter(const struct ring_node *n);
/* Whatever has to do with complex numbers; `run` runs a node whose numbers are real. */
bool ring_is_complex(const struct ring_node *n);
int ring_complex(const struct ring_node *n, int (*run)(const struct ring_node *));

#endif
