/*
 * grow.h - grows one tree of a forest, by histograms.
 *
 * The tree has to lower a loss. For each row its slope g and its curvature h at the present prediction are known. A
 * leaf with sums G and H gives -G / (H + lambda), which lowers the loss by G^2 / (H + lambda) / 2. The leaf whose best
 * cut lowers the loss most is cut next, until there are enough leaves or no cut helps.
 */
#ifndef LEARN_GROW_H
#define LEARN_GROW_H

#include "base/rng.h"
#include "learn/bins.h"
#include "learn/forest.h"

struct grow_options {
	uint32_t leaves;  /* of a tree, at most */
	uint32_t least;	  /* rows of a leaf */
	double lambda;	  /* pulls leaves to 0 */
	double columns;	  /* share of the columns that a tree may ask for, drawn at random */
	double rate;	  /* share of a leaf's value that is added */
};

struct grow_rows { /* borrowed */
	const float *g, *h; /* per row of the bins */
	const uint32_t *row; /* those to grow on */
	uint32_t n;
};

struct grower; /* scratch memory, for many trees over the same bins */
struct grower *grower_new(const struct bins *b, const struct grow_options *o);
void grower_free(struct grower *w); /* accepts NULL */

/* Appends a tree to the forest and adds it to `predicted` of every row of the bins. */
void grow_tree(struct grower *w, const struct grow_rows *rows, struct rng *r, struct forest *f, float *predicted);

#endif
