/*
 * turns.h - counts the turns of loops, and how often branches are taken, where that does not follow from the program's
 * text.
 */
#ifndef READY_TURNS_H
#define READY_TURNS_H

#include "device/device.h"
#include "graph/graph.h"

/*
 * Counts, and notes the counts in the graph's message (graph/turns.h); does nothing if the device only models, or may
 * not run whole programs. If something was *noted, the graph's arrays are out of date: it has to be read again.
 */
int count_turns(struct device *d, struct graph *g, bool *noted, struct err *err);

/* Are there loops or branches whose runs could be counted and are not known? */
bool turns_unknown(const struct graph *g);

#endif
