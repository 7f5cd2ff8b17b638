/*
 * trees.h - the second learner: a forest for each of the network's outputs (net.h), over rows (row.h).
 */
#ifndef LEARN_TREES_H
#define LEARN_TREES_H

#include "learn/forest.h"
#include "learn/net.h"
#include "learn/row.h"

struct trees { /* all zero: there are none */
	uint32_t n_columns;
	struct forest forest[OUT_COUNT];
};

void trees_release(struct trees *t);
/* OUT_COUNT numbers for each of n rows of ROW_COLUMNS. */
void trees_predict(const struct trees *t, const float *row, size_t n, real *out);

void trees_pack(const struct trees *t, struct buf *out);
/*
 * Reads trees that ask about rows of n columns; column[i] is the i-th of these in our rows. Sets c->bad where it makes
 * no sense; the trees are released by the caller all the same.
 */
void trees_parse(struct trees *t, const uint32_t *column, uint32_t n, struct cursor *c);

#endif
