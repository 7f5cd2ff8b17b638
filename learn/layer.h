/*
 * layer.h - the layers of the network: for each a forward function and, beside it, its backward function.
 *
 * Shapes stand beside the pointers; all are dense and row-major, with `n` rows. The gradient of a value is called d +
 * its name. A backward function reads the gradient of the output and adds to those of the inputs, so a value that is
 * used twice gets both gradients. The pointer is NULL if an input's gradient is not wanted. A forward function
 * overwrites.
 */
#ifndef LEARN_LAYER_H
#define LEARN_LAYER_H

#include <stddef.h>
#include <stdint.h>
#include "learn/real.h"

#define LAYER_WIDTH 256 /* of a row that is normalised, at most */

/* y (n x out) = x (n x in) w (in x out) + b (out; may be NULL) */
void linear_forward(real *y, const real *x, const real *w, const real *b, size_t n, size_t in, size_t out);
void linear_backward(real *dx, real *dw, real *db, const real *dy, const real *x, const real *w, size_t n,
	size_t in, size_t out);

/* y (n x width) += table (rows x width) [id (n)] */
void embed_forward(real *y, const real *table, const uint16_t *id, size_t n, size_t width);
void embed_backward(real *dtable, const real *dy, const uint16_t *id, size_t n, size_t width);

/*
 * Layer norm, gain and bias, relu: y = max(0, gain * xhat + bias), xhat = (x - mean) * rstd per row.
 * x is replaced by xhat, which with rstd (n) is what the way back needs. Its backward overwrites dx, for
 * x is never used twice; the other two accumulate.
 */
void norm_relu_forward(real *y, real *x, real *rstd, const real *gain, const real *bias, size_t n, size_t width);
void norm_relu_backward(real *dx, real *dgain, real *dbias, const real *dy, const real *y, const real *xhat,
	const real *rstd, const real *gain, size_t n, size_t width);

/*
 * y (n rows, ldy apart, width of each) = mean over CSR neighbours of x (any number of rows, width):
 * neighbours of row i are to[first[i] .. first[i + 1]); the mean of none is 0. Backward adds to dx.
 */
void mean_forward(real *y, size_t ldy, const real *x, const uint32_t *first, const uint32_t *to, size_t n,
	size_t width);
void mean_backward(real *dx, const real *dy, size_t ldy, const uint32_t *first, const uint32_t *to, size_t n,
	size_t width);

/* Mean over the neighbours of both lists together. */
void mean2_forward(real *y, size_t ldy, const real *x, const uint32_t *first_a, const uint32_t *to_a,
	const uint32_t *first_b, const uint32_t *to_b, size_t n, size_t width);
void mean2_backward(real *dx, const real *dy, size_t ldy, const uint32_t *first_a, const uint32_t *to_a,
	const uint32_t *first_b, const uint32_t *to_b, size_t n, size_t width);

/* y (n rows, ldy apart) = x (ldx apart), `width` of each row; add: += instead. */
void rows_copy(real *y, size_t ldy, const real *x, size_t ldx, size_t n, size_t width);
void rows_add(real *y, size_t ldy, const real *x, size_t ldx, size_t n, size_t width);

/* Losses of one value: the loss is returned, its derivative stored. */
real huber(real value, real target, real delta, real *d);
/* Binary cross-entropy of a logit against a probability: log(1 + e^z) - p z. */
real cross_entropy(real logit, real p, real *d);
real logistic(real z);

#endif
