/*
 * ramps.h - writes each number of a row as a few ramps, so that a network can cut where trees cut.
 *
 * What decides a flip is often where a number stands: do the bytes still fit, is it one kernel or two, is the stride
 * 1. A tree asks just that. A network that is given the number itself must bend it by its layers, which it learns late
 * and smoothly. So we cut the range of each column at quantiles of the training rows. A ramp belongs to two
 * neighbouring cuts: it is 0 below the first, 1 above the second, and rises evenly in between. The number is then the
 * row of its ramps, the ones first, and the network has a weight for each. A column that never changed has no ramps.
 */
#ifndef LEARN_RAMPS_H
#define LEARN_RAMPS_H

#include <stdint.h>
#include "base/buf.h"
#include "learn/real.h"

#define RAMPS_MOST 64 /* of one column */

struct ramps { /* all zero is none */
	uint32_t n_columns;
	uint32_t *first; /* n_columns + 1: where the cuts of a column begin in `cut` */
	float *cut;	 /* ascending in each column; none, or one more than the column has ramps */
	uint32_t width;	 /* ramps of a row */
};

/* x: n_rows x n_columns. At most `most` ramps for a column. */
void ramps_make(struct ramps *r, const float *x, uint32_t n_rows, uint32_t n_columns, uint32_t most);
void ramps_release(struct ramps *r);

/* Writes r->width numbers. */
void ramps_of(const struct ramps *r, const float *row, real *out);

void ramps_pack(const struct ramps *r, struct buf *out);
/*
 * Column i of the file is column[i] here, of n_columns; `n` are known, ascending. The cursor is bad afterwards if it
 * makes no sense.
 */
void ramps_parse(struct ramps *r, const uint32_t *column, uint32_t n, uint32_t n_columns, struct cursor *c);

#endif
