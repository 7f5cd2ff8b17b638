/*
 * turns.h - counts how often a loop turns, where only running the program can tell.
 *
 * A turn is one execution of a loop's body. loops.c cannot find the number of turns of, for example, a solver that
 * stops when it is close enough. For such loops turns_program rewrites the program so that its only results are the
 * numbers of turns. The caller, who has a device, compiles and runs that. turns_note puts the count into the `while`
 * as a frontend attribute. Compilers keep such attributes and do not act on them, unlike on their own note of a known
 * count: ours says what happened once, not what must happen.
 */
#ifndef GRAPH_TURNS_H
#define GRAPH_TURNS_H

#include "graph/graph.h"

/* Can the turns of a loop be counted? Not if a call, a branch, a state that is no tuple, or a computation with two
 * callers lies between it and the entry, because then a count cannot be carried there. */
bool turns_countable(const struct graph *g, uint32_t loop);

/*
 * Writes a program with g's parameters and one s32 for each of these loops as its results, in a tuple: the turns of the
 * loop, over all its executions. Returns false if one of them is not countable.
 */
bool turns_program(const struct graph *g, const uint32_t *loop, uint32_t n, struct buf *out);

/* How often one run of the program starts the loop, from the turns of the loops around it; 0 if that is unknown. */
double turns_entered(const struct graph *g, uint32_t loop);

/* Notes the turns of one execution in g's message. A graph read from what graph_write then writes will use them. */
void turns_note(struct graph *g, uint32_t loop, double turns);
double turns_noted(const Hlo__HloInstructionProto *loop); /* 0: none */

#endif
