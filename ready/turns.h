/*
 * turns.h - counts the turns of loops that the program's text does not tell.
 */
#ifndef READY_TURNS_H
#define READY_TURNS_H

#include "device/device.h"
#include "graph/graph.h"

/*
 * Notes in the graph's message what was counted (graph/turns.h); nothing where the device only models. Where it
 * `noted` something, what was worked out from the message is of before.
 */
int count_turns(struct device *d, struct graph *g, bool *noted, struct err *err);

#endif
