/*
 * program.h - a program as a problem of placement: which device of a machine runs which instruction.
 */
#ifndef SPACE_PLACE_PROGRAM_H
#define SPACE_PLACE_PROGRAM_H

#include "graph/graph.h"
#include "space/place/machine.h"

/*
 * Fills in p, whose goal is PLACE_TIME. task_of[v] gets the node of p that runs the graph's instruction v, or NONE;
 * `machine` must live as long as p. The caller releases p.
 */
int place_of_program(struct place *p, const struct graph *g, const struct machine *machine, uint32_t *task_of,
	struct err *err);

#endif
