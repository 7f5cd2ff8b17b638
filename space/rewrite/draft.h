/*
 * draft.h - writes new instructions, one after the other, to replace an old one.
 *
 * A rule passes values (instructions of the program, or earlier ones of the draft) and gets the new value. An
 * instruction that would change nothing, such as a slice of everything or a transposition that moves nothing, is not
 * written; the function returns the operand itself. Sizes follow from the operands. Operands that do not fit are a bug
 * of the rule, and abort.
 *
 * Numbers of 16 bits would round after each addition, so a draft that replaces one reads all of them as f32, and writes
 * the result in their own type again, as compilers do it.
 *
 * The ids of new instructions start above all ids of the module, and so do the numbers in their names, so one draft
 * can serve a whole program. Layouts are row-major, because the compiler chooses layouts anew in a program before all
 * passes.
 */
#ifndef SPACE_REWRITE_DRAFT_H
#define SPACE_REWRITE_DRAFT_H

#include "graph/graph.h"
#include "hlo/ids.h"

#define DRAFT_RANK 16 /* the most dimensions that a rule can handle */

struct wide {
	uint32_t node;
	Hlo__HloInstructionProto *x;
};

struct fresh { /* what is free in a program */
	struct ids ids;
	int64_t comp;	/* the next id of a computation */
	uint32_t named; /* numbers from this one on, in names of our form */
};
struct fresh fresh_of(const struct graph *g);

struct draft { /* draft_begin fills it */
	struct arena *mem;
	const struct graph *g;
	const Hlo__HloInstructionProto *like; /* the instruction that is replaced; new ones get its metadata */
	Hlo__HloInstructionProto **v;	      /* written since draft_at, in order */
	size_t n, cap;
	struct wide *wide; /* values of the program that were read as f32 since draft_at */
	size_t n_wide, cap_wide;
	bool widens;
	Hlo__HloComputationProto **comp; /* computations that the instructions call, of the whole draft */
	size_t n_comps, cap_comps;
	struct fresh fresh;
};

/* `mem` must outlive the draft; it holds all that the draft writes. */
void draft_begin(struct draft *d, const struct graph *g, const struct fresh *fresh, struct arena *mem);
void draft_at(struct draft *d, uint32_t anchor); /* starts a new list, which replaces this node */
void draft_release(struct draft *d);

/* A value of the program: a node, or operand k of a node. */
Hlo__HloInstructionProto *draft_value(struct draft *d, uint32_t node);
static inline Hlo__HloInstructionProto *draft_operand(struct draft *d, uint32_t node, uint32_t k)
{
	return draft_value(d, node_operands(d->g, node)[k]);
}
static inline uint32_t draft_rank(const Hlo__HloInstructionProto *x)
{
	return (uint32_t)x->shape->n_dimensions;
}

Hlo__HloInstructionProto *draft_unary(struct draft *d, const char *opcode, Hlo__HloInstructionProto *x);
Hlo__HloInstructionProto *draft_binary(struct draft *d, const char *opcode, Hlo__HloInstructionProto *a,
	Hlo__HloInstructionProto *b);
Hlo__HloInstructionProto *draft_convert(struct draft *d, Hlo__HloInstructionProto *x, int32_t dtype);
/*
 * The numbers x, which were of that type before they were made f32, and have no more digits than it has. XLA forgets a
 * rounding that is taken back at once, but not this one. What jumps at a number shall see it rounded.
 */
Hlo__HloInstructionProto *draft_rounded(struct draft *d, Hlo__HloInstructionProto *x, int32_t dtype);
/* The same bits, read as another type of that size. */
Hlo__HloInstructionProto *draft_bits(struct draft *d, Hlo__HloInstructionProto *x, int32_t dtype);
/* Integers and one integer, combined. */
Hlo__HloInstructionProto *draft_with(struct draft *d, const char *opcode, Hlo__HloInstructionProto *x, int64_t value);
/* Where a and b compare as `direction` says ("GE"), a truth for each element. */
Hlo__HloInstructionProto *draft_compare(struct draft *d, const char *direction, Hlo__HloInstructionProto *a,
	Hlo__HloInstructionProto *b);
/* The element of a where `which` is true, else that of b. */
Hlo__HloInstructionProto *draft_select(struct draft *d, Hlo__HloInstructionProto *which, Hlo__HloInstructionProto *a,
	Hlo__HloInstructionProto *b);
/* A scalar of that type, or of that of `like`: 0 or another whole number, which that type has exactly. */
Hlo__HloInstructionProto *draft_number(struct draft *d, int32_t dtype, int64_t value);
/* A scalar f32 or f64. */
Hlo__HloInstructionProto *draft_real(struct draft *d, int32_t dtype, double value);
Hlo__HloInstructionProto *draft_scalar(struct draft *d, const Hlo__HloInstructionProto *like, int64_t value);
/* An array of one such number; of 0, 1, 2 ... along a dimension. */
Hlo__HloInstructionProto *draft_filled(struct draft *d, int32_t dtype, int64_t value, const int64_t *dims,
	uint32_t rank);
Hlo__HloInstructionProto *draft_iota(struct draft *d, int32_t dtype, const int64_t *dims, uint32_t rank, int64_t along);

/*
 * Pads dimension i with low[i] elements in front, high[i] behind and inner[i] between elements (NULL: none); their
 * value is `with` (NULL: 0).
 */
Hlo__HloInstructionProto *draft_pad(struct draft *d, Hlo__HloInstructionProto *x, const int64_t *low,
	const int64_t *high, const int64_t *inner, Hlo__HloInstructionProto *with);
/* count[i] elements of dimension i, from first[i] on in steps of step[i]; step NULL: neighbours. */
Hlo__HloInstructionProto *draft_slice(struct draft *d, Hlo__HloInstructionProto *x, const int64_t *first,
	const int64_t *count, const int64_t *step);
/* The same for one dimension, in steps or of neighbours; the others stay whole. */
Hlo__HloInstructionProto *draft_every(struct draft *d, Hlo__HloInstructionProto *x, uint32_t dim, int64_t first,
	int64_t count, int64_t step);
Hlo__HloInstructionProto *draft_part(struct draft *d, Hlo__HloInstructionProto *x, uint32_t dim, int64_t first,
	int64_t count);
Hlo__HloInstructionProto *draft_reshape(struct draft *d, Hlo__HloInstructionProto *x, const int64_t *dims,
	uint32_t rank);
/* Dimension i of the result is perm[i] of x. */
Hlo__HloInstructionProto *draft_transpose(struct draft *d, Hlo__HloInstructionProto *x, const int64_t *perm);
/* Dimension `from` becomes dimension `to`; the others stay in their order. */
Hlo__HloInstructionProto *draft_moved(struct draft *d, Hlo__HloInstructionProto *x, int64_t from, int64_t to);
/* Dimension i of x is map[i] of the result. */
Hlo__HloInstructionProto *draft_broadcast(struct draft *d, Hlo__HloInstructionProto *x, const int64_t *dims,
	uint32_t rank, const int64_t *map);
Hlo__HloInstructionProto *draft_concat(struct draft *d, Hlo__HloInstructionProto **x, uint32_t n, uint32_t dim);
/* Integers sorted along a dimension, the smallest first. */
Hlo__HloInstructionProto *draft_sort(struct draft *d, Hlo__HloInstructionProto *x, int64_t dim);
/* Reduces `dims` by an operation ("maximum"), beginning with `first`; the sum over them. */
Hlo__HloInstructionProto *draft_reduce(struct draft *d, const char *opcode, Hlo__HloInstructionProto *x,
	Hlo__HloInstructionProto *first, const int64_t *dims, uint32_t n);
Hlo__HloInstructionProto *draft_sum(struct draft *d, Hlo__HloInstructionProto *x, const int64_t *dims, uint32_t n);

/* A window of the shape and steps of another one. */
Hlo__HloInstructionProto *draft_window(struct draft *d, const Hlo__HloInstructionProto *of, const char *opcode,
	Hlo__HloInstructionProto *x, Hlo__HloInstructionProto *first);

/*
 * A product. The result has the dimensions that a and b share, then the rest of a's, then the rest of b's. The
 * precision is that of `like`; NULL: the highest.
 */
struct dot_dims { /* pairs of a dimension of a and one of b */
	int64_t batch[2][DRAFT_RANK], sum[2][DRAFT_RANK];
	uint32_t n_batch, n_sum;
};
Hlo__HloInstructionProto *draft_dot(struct draft *d, Hlo__HloInstructionProto *a, Hlo__HloInstructionProto *b,
	const struct dot_dims *dims, const Hlo__HloInstructionProto *like);
/* The dimensions of an array that a product neither shares nor sums over, ascending; returns how many. */
uint32_t dot_rest(const struct dot_dims *dims, int side, uint32_t rank, int64_t *rest);

/*
 * A copy of an instruction with its attributes, but this shape and these operands, of whose first it gets the type. The
 * caller may change it.
 */
Hlo__HloInstructionProto *draft_copy(struct draft *d, const Hlo__HloInstructionProto *of, const int64_t *dims,
	uint32_t rank, Hlo__HloInstructionProto **x, uint32_t n);

/* The same with its own shape, which may be a tuple's. */
Hlo__HloInstructionProto *draft_again(struct draft *d, const Hlo__HloInstructionProto *of,
	Hlo__HloInstructionProto **x, uint32_t n);
Hlo__HloInstructionProto *draft_element(struct draft *d, Hlo__HloInstructionProto *tuple, uint32_t i);
Hlo__HloInstructionProto *draft_tuple(struct draft *d, Hlo__HloInstructionProto **x, uint32_t n);
/* Replaces values by what comes out of a barrier around all of them: the compiler computes each once. */
void draft_keep(struct draft *d, Hlo__HloInstructionProto **x, uint32_t n);

#endif
