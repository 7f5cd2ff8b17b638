/*
 * row.h - writes one flip as a row of numbers, for learners that see no graph.
 *
 * The row is what the network sees of the target itself, without neighbours: the target's fixed features, its context
 * in the configuration, and the features of the flip. It has the operation's class and figures, not its number, because
 * figures also hold for operations that were never seen.
 */
#ifndef LEARN_ROW_H
#define LEARN_ROW_H

#include "learn/feature.h"

enum { ROW_COLUMNS = NODE_FEATURES + FLIP_FEATURES };

/* node: NODE_FIXED numbers; context: NODE_CONTEXT; flip: FLIP_FEATURES. */
void row_fill(const real *node, const real *context, const real *flip, float *row);

#endif
