/*
 * forest.h - a forest of trees. Each tree asks a few questions about a row and gives a number; their sum is a
 * prediction.
 *
 * A node asks whether a column's value is at most `value`. If so the left child is next, otherwise the right one. The
 * two children stand side by side, after their parent, so a walk always ends. A leaf has no column; its value is the
 * number that the tree gives.
 */
#ifndef LEARN_FOREST_H
#define LEARN_FOREST_H

#include "base/buf.h"
#include "base/err.h"

#define FOREST_LEAF UINT16_MAX

struct tree_node {
	float value;
	uint32_t child; /* the left one; the right one is the next */
	uint16_t column;
};

struct forest { /* all zero is empty, and predicts 0 */
	float base;	/* what no tree has a part in */
	struct tree_node *node;
	uint32_t *root; /* per tree */
	size_t n_nodes, cap_nodes, n_trees, cap_trees;
};

void forest_release(struct forest *f);
/* The leaf that a row reaches in the t-th tree. */
uint32_t forest_leaf(const struct forest *f, size_t t, const float *row);
float forest_predict(const struct forest *f, const float *row);

/* A model file's part about one forest (schemas/model.md). Parsing sets c->bad where it makes no sense. */
void forest_pack(const struct forest *f, struct buf *out);
void forest_parse(struct forest *f, uint32_t n_columns, struct cursor *c);

#endif
