/*
 * draft.h - new instructions, written one after the other in place of an old one.
 *
 * A rule hands in values (instructions of the program or earlier ones of the draft) and gets the value of what it
 * wrote. What would change nothing (a slice of everything, a transposition that moves nothing) is not written: the
 * value itself comes back. Sizes follow from the operands; a rule that asks for what does not fit is a bug.
 *
 * Numbers of new instructions start above all of the module's, so that one draft may serve a whole program. Layouts
 * are the plain ones, from the first dimension down to the last: in a program before all passes the compiler
 * chooses anew.
 */
#ifndef SPACE_REWRITE_DRAFT_H
#define SPACE_REWRITE_DRAFT_H

#include "graph/graph.h"

#define DRAFT_RANK 16 /* of what a rule may touch */

struct draft { /* draft_begin fills it */
	struct arena *mem;
	const struct graph *g;
	const Hlo__HloInstructionProto *like; /* what is replaced: where its metadata come from */
	Hlo__HloInstructionProto **v;	      /* written since draft_at, in order */
	size_t n, cap;
	Hlo__HloComputationProto **comp; /* computations that the instructions call, of the whole draft */
	size_t n_comps, cap_comps;
	int64_t next_id, next_comp;
};

/* `mem` outlives the draft and holds all that it writes. */
void draft_begin(struct draft *d, const struct graph *g, struct arena *mem);
void draft_at(struct draft *d, uint32_t anchor); /* what follows replaces this node; the list begins anew */
void draft_release(struct draft *d);

static inline Hlo__HloInstructionProto *draft_value(const struct draft *d, uint32_t node)
{
	return d->g->node[node].proto;
}
static inline Hlo__HloInstructionProto *draft_operand(const struct draft *d, uint32_t node, uint32_t k)
{
	return d->g->node[node_operands(d->g, node)[k]].proto;
}
static inline uint32_t draft_rank(const Hlo__HloInstructionProto *x)
{
	return (uint32_t)x->shape->n_dimensions;
}

Hlo__HloInstructionProto *draft_unary(struct draft *d, const char *opcode, Hlo__HloInstructionProto *x);
Hlo__HloInstructionProto *draft_binary(struct draft *d, const char *opcode, Hlo__HloInstructionProto *a,
	Hlo__HloInstructionProto *b);
/* A zero, or one other small whole number, of the type of `like`. */
Hlo__HloInstructionProto *draft_scalar(struct draft *d, const Hlo__HloInstructionProto *like, int value);

/*
 * The same numbers for all dimensions: low[i] elements in front, high[i] behind, inner[i] between
 * (NULL: none), all of them `with` (NULL: 0).
 */
Hlo__HloInstructionProto *draft_pad(struct draft *d, Hlo__HloInstructionProto *x, const int64_t *low,
	const int64_t *high, const int64_t *inner, Hlo__HloInstructionProto *with);
/* Elements first[i], first[i] + step[i] ... of which there are count[i]; step NULL: all next to each other. */
Hlo__HloInstructionProto *draft_slice(struct draft *d, Hlo__HloInstructionProto *x, const int64_t *first,
	const int64_t *count, const int64_t *step);
/* The same, of one dimension. */
Hlo__HloInstructionProto *draft_part(struct draft *d, Hlo__HloInstructionProto *x, uint32_t dim, int64_t first,
	int64_t count);
Hlo__HloInstructionProto *draft_reshape(struct draft *d, Hlo__HloInstructionProto *x, const int64_t *dims, uint32_t rank);
/* Dimension i of the result is perm[i] of x. */
Hlo__HloInstructionProto *draft_transpose(struct draft *d, Hlo__HloInstructionProto *x, const int64_t *perm);
/* Dimension i of x is map[i] of the result. */
Hlo__HloInstructionProto *draft_broadcast(struct draft *d, Hlo__HloInstructionProto *x, const int64_t *dims,
	uint32_t rank, const int64_t *map);
Hlo__HloInstructionProto *draft_concat(struct draft *d, Hlo__HloInstructionProto **x, uint32_t n, uint32_t dim);
/* Sum over `dims`. */
Hlo__HloInstructionProto *draft_sum(struct draft *d, Hlo__HloInstructionProto *x, const int64_t *dims, uint32_t n);

/*
 * A product; its result has the dimensions that are shared, then the rest of a, then the rest of b. `like` gives
 * precision.
 */
struct dot_dims { /* which of a's and of b's dimensions go together, in pairs */
	int64_t batch[2][DRAFT_RANK], sum[2][DRAFT_RANK];
	uint32_t n_batch, n_sum;
};
Hlo__HloInstructionProto *draft_dot(struct draft *d, Hlo__HloInstructionProto *a, Hlo__HloInstructionProto *b,
	const struct dot_dims *dims, const Hlo__HloInstructionProto *like);
/* The dimensions of an array that a product neither shares nor sums over, ascending; returns how many. */
uint32_t dot_rest(const struct dot_dims *dims, int side, uint32_t rank, int64_t *rest);

/* A copy of an instruction with its attributes, of this shape and these operands, to be changed by the caller. */
Hlo__HloInstructionProto *draft_copy(struct draft *d, const Hlo__HloInstructionProto *of, const int64_t *dims,
	uint32_t rank, Hlo__HloInstructionProto **x, uint32_t n);

#endif
