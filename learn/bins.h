/*
 * bins.h - replaces each number of a matrix by the bin that it falls into. Then one pass over the rows and one over at
 * most BINS_MOST bins find the best place to cut a column.
 *
 * The edges of a column lie between values that occur: between every two if there are few values, otherwise so that all
 * bins hold as many rows. Bin k holds the values above edge k - 1 and not above edge k.
 */
#ifndef LEARN_BINS_H
#define LEARN_BINS_H

#include <stddef.h>
#include <stdint.h>
#include "base/mem.h"

#define BINS_MOST 64 /* bins of a column; with these, the histograms of all columns fit into the second cache */

struct bins { /* all zero is empty */
	struct arena mem;
	uint32_t n_rows, n_columns;
	uint32_t *n_edges; /* per column: one less than it has bins */
	float *edge;	   /* n_columns x BINS_MOST, ascending */
	uint8_t *code;	   /* n_rows x n_columns */
};

/* x: n_rows x n_columns, no NANs. */
void bins_make(struct bins *b, const float *x, uint32_t n_rows, uint32_t n_columns);
void bins_release(struct bins *b);

#endif
