/*
 * evade.h - takes what a compiler is known to compute wrongly out of a program.
 */
#ifndef READY_EVADE_H
#define READY_EVADE_H

#include "device/device.h"
#include "graph/graph.h"

/*
 * Restates those instructions of the program that this device's compiler computes wrongly (schemas/fault.def), and adds
 * a clause for each kind to `said`. Everything is made from the program that is left, the compiler's own side of a
 * comparison, too. Returns how many instructions there were; -1 with a sentence.
 */
int evade_faults(struct graph *g, const char *name, const struct device_info *device, struct buf *said,
	struct err *err);

#endif
