/*
 * blas.h - the one matrix product of the network: C = alpha A B + beta C, all row-major and dense.
 *
 * gemm goes to OpenBLAS, on the calling thread alone: the callers above share the samples among their
 * threads. gemm_plain is the same product as a plain loop; tests compare gemm with it.
 */
#ifndef LEARN_BLAS_H
#define LEARN_BLAS_H

#include <stdbool.h>
#include <stddef.h>
#include "learn/real.h"

/* C is m x n; A is m x k, or k x m if ta; B is k x n, or n x k if tb. beta 0 overwrites C, NaN or not. */
void gemm(bool ta, bool tb, size_t m, size_t n, size_t k, real alpha, const real *a, const real *b,
	real beta, real *c);
void gemm_plain(bool ta, bool tb, size_t m, size_t n, size_t k, real alpha, const real *a, const real *b,
	real beta, real *c);

/*
 * Seconds of processor time the calling thread spent inside gemm, while timing was turned on: for
 * bench/learn_throughput.
 */
extern bool gemm_timed;
double gemm_seconds(void);
const char *gemm_name(void); /* "OpenBLAS (Cooperlake)" */

#endif
