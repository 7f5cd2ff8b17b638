/*
 * live.h - how much temporary memory a program would need: a model, exact and repeatable.
 */
#ifndef DEVICE_SIM_LIVE_H
#define DEVICE_SIM_LIVE_H

#include "graph/graph.h"

/* Bytes of one run beside its arguments and results. */
uint64_t live_bytes(const struct graph *g);

#endif
