/*
 * conv.h - reads a convolution into the terms of its definition, for the rules that take it apart.
 *
 *	out[b, s, o] = sum over taps w and inner features i of
 *		in[b', s * stride + w * dilation - low, i'] * kernel[w, i, o]
 *
 * The input's spatial dimensions are spread first: `base` - 1 zeros are put between elements. With feature groups,
 * i' = group(o) * inner + i; with batch groups, b' = group(o) * (batch / groups) + b.
 */
#ifndef SPACE_REWRITE_CONV_H
#define SPACE_REWRITE_CONV_H

#include "space/rewrite/rule.h"

#define CONV_SPATIAL 4

struct conv_dims { /* the number of each dimension of an array */
	int64_t batch, feature, spatial[CONV_SPATIAL]; /* of a kernel: its output and input features */
};

struct conv {
	uint32_t n, rank; /* spatial dimensions, and all of them */
	struct conv_dims in, kernel, out;
	struct conv_window {
		int64_t size, stride, low, high, dilation, base;
		int64_t out; /* positions */
		bool reversed;
	} w[CONV_SPATIAL];
	int64_t batch, features, inner, outputs; /* of the input; of the kernel: per group, and in all */
	int64_t feature_groups, batch_groups;
	int64_t taps, positions; /* of the window; of the output's spatial dimensions */
	bool spread;		 /* the input is, somewhere */
};

/* Returns false if v is no convolution that rules understand. */
bool conv_read(const struct graph *g, uint32_t v, struct conv *c);
/*
 * The same convolution with its operands exchanged, for one without groups and reversed windows. The kernel becomes the
 * input, and the input the kernel: where it was spread, the window has holes. The output's batch becomes its feature,
 * and the feature its batch; its positions come in reverse order, the last one first.
 */
struct conv conv_exchanged(const struct graph *g, uint32_t v, const struct conv *c);
/* The input as the window meets it: spread and padded, with its dimensions in their order. */
Hlo__HloInstructionProto *conv_padded(struct draft *d, const struct conv *c, Hlo__HloInstructionProto *x);
/* Moves `index` to the next tap, or position of the output, the last dimension fastest; false after the last. */
bool conv_step(const struct conv *c, int64_t *index, bool of_output);
/* Which dimension is what, as an instruction has it. */
Hlo__ConvolutionDimensionNumbers *conv_numbers(struct draft *d, const struct conv *c);
/*
 * usual.c: a convolution of x and k with its dimensions in the usual order, and transposed back; `of` is the one that
 * it is for, and `out` the result's sizes as c has them. `convolution` gets the instruction itself.
 */
Hlo__HloInstructionProto *conv_usually(struct draft *d, const Hlo__HloInstructionProto *of, const struct conv *c,
	Hlo__HloInstructionProto *x, Hlo__HloInstructionProto *k, const int64_t *out,
	Hlo__HloInstructionProto **convolution);
/* Has XLA:CPU a fast convolution for it, in the usual order? */
bool conv_has_usual(const struct conv *c);
/* The permutation that brings an array with dimensions `from` into the order `to`. */
void conv_order(const struct conv *c, const struct conv_dims *from, const struct conv_dims *to, int64_t *perm);

#endif
