/*
 * row.h - writes one flip as a row of numbers, for learners that see no graph.
 *
 * The row is what the network sees of the target itself: the target's fixed features, its context in the configuration,
 * and the features of the flip. It has the operation's class and figures, not its number, because figures also hold for
 * operations that were never seen. Behind them stand the means of the fixed features and contexts of the target's
 * users, because what a flip is worth depends on how they read the target: a transpose that a copy takes in costs other
 * than one that a sum takes in. Models of tables of features before ROW_USERS_SINCE know no users.
 *
 * Left out: the operands, which made the order of flips no better, and the largest of the users' features instead of
 * their means, which made it worse.
 */
#ifndef LEARN_ROW_H
#define LEARN_ROW_H

#include "learn/feature.h"

enum { ROW_FLIP = NODE_FEATURES, ROW_USERS = ROW_FLIP + FLIP_FEATURES, ROW_COLUMNS = ROW_USERS + NODE_FEATURES };
#define ROW_USERS_SINCE 3

struct row_node {
	const real *fixed, *context; /* NODE_FIXED and NODE_CONTEXT numbers */
};
/* `flip`: FLIP_FEATURES numbers. The order of the users does not matter. */
void row_fill(const struct row_node *target, const real *flip, const struct row_node *user, uint32_t n_users,
	float *row);

/* The same of a node of a scene; `x` has NODE_FEATURES numbers for every node. */
void row_at_node(const struct scene *g, const real *x, uint32_t node, const real *flip, float *row);

/* Our columns of a row of the table, in its order: `column` has room for ROW_COLUMNS. Returns how many there are. */
uint32_t row_columns(uint32_t table, uint32_t *column);

#endif
