/*
 * live.h - computes how much temporary memory a program would need: a model, which always gives the same answer.
 */
#ifndef DEVICE_SIM_LIVE_H
#define DEVICE_SIM_LIVE_H

#include "graph/graph.h"

/* The bytes that one run needs besides its arguments and results. */
uint64_t live_bytes(const struct graph *g);

#endif
