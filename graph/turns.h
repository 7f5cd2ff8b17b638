/*
 * turns.h - how often a loop turns, where only running the program can tell.
 *
 * What loops.c cannot read off (a solver that stops when it is close enough) is counted: the program is
 * rewritten so that its only result is the number of turns of one loop, compiled and run by whoever has a
 * device. The count goes into the `while` as a frontend attribute, which compilers carry along and do not
 * act upon: unlike the compiler's own note of a known count, it says what happened, not what must happen.
 */
#ifndef GRAPH_TURNS_H
#define GRAPH_TURNS_H

#include "graph/graph.h"

/*
 * Writes a program that takes what g takes and gives one s32: `step` times the turns of `loop` in all its
 * executions. False where the count cannot be carried out to the entry: on the way lies a call, a branch,
 * a state that is no tuple, or a computation with two callers.
 */
bool turns_program(const struct graph *g, uint32_t loop, int32_t step, struct buf *out);

/* How often a run of the program comes to the loop, by the turns of those around it; 0 where that is unknown. */
double turns_entered(const struct graph *g, uint32_t loop);

/* Notes the turns of one execution in the message; they count when what graph_write gives is read again. */
void turns_note(struct graph *g, uint32_t loop, double turns);
double turns_noted(const Hlo__HloInstructionProto *loop); /* 0: none */

#endif
