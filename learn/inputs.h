/*
 * inputs.h - what the network's head is told of a flip besides the state of its node: the flip's features, then what
 * trees say if it corrects them, then the ramps of the whole row if it has any. So flip_features of the network's sizes
 * is FLIP_FEATURES + advised + ramped.
 */
#ifndef LEARN_INPUTS_H
#define LEARN_INPUTS_H

#include "learn/net.h"

/* `row` as in row.h; `advice` are OUT_COUNT numbers, and unused if none is wanted. */
void inputs_fill(const struct net *net, const float *row, const real *advice, real *to);

#endif
