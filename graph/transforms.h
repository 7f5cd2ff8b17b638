/*
 * transforms.h - may two Fourier transforms of a program run at once?
 *
 * XLA:CPU runs what does not depend on one another side by side, on a thread for each core. A transform asks these same
 * threads for help and waits for them. As many transforms as there are threads, all waiting, wait for ever: seen in
 * XLA 0.11.2 on two cores, where a training step of eight transforms stops within seconds. Such a program is compiled
 * so that one thread computes each transform (NEEDED in schemas/codegen.def). A row of transforms, each of which needs
 * the one before, cannot stop so. It keeps the help, which is worth many cores to a large transform. Two at once
 * lose it also where there are more threads than two, and nothing could stop: how many may run at once is not counted.
 */
#ifndef GRAPH_TRANSFORMS_H
#define GRAPH_TRANSFORMS_H

#include "graph/graph.h"

/* An order by control predecessors alone is not counted. */
bool transforms_at_once(const struct graph *g);

#endif
