/*
 * bins.h - a matrix of numbers with each number replaced by the bin it falls in, so that the best place to cut a column
 * is found by one pass over the rows and one over at most BINS_MOST bins.
 *
 * The edges of a column lie between values that occur: between every two where there are few, else where they leave
 * bins of equal numbers of rows. Code k of a column is bin k: the values above edge k - 1 and not above edge k.
 */
#ifndef LEARN_BINS_H
#define LEARN_BINS_H

#include <stddef.h>
#include <stdint.h>
#include "base/mem.h"

#define BINS_MOST 64 /* so many of a column: histograms of all columns stay in the second cache */

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
