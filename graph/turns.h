/*
 * turns.h - counts how often parts of a program run, where only running it can tell.
 *
 * The parts are the bodies of loops and the branches of conditionals. loops.c cannot find the number of turns of, for
 * example, a solver that stops when it is close enough, and which branch is taken follows from the inputs. So
 * turns_program rewrites the program: its only results are the numbers of runs. The caller, who has a device, compiles
 * and runs that. turns_note puts into a `while` how often it turns, and into a conditional how often each branch is
 * taken, on average over its executions, as a frontend attribute. Compilers keep such attributes and do not act on
 * them, unlike on their own note of a known count: ours says what happened once, not what must happen.
 */
#ifndef GRAPH_TURNS_H
#define GRAPH_TURNS_H

#include "graph/graph.h"

/*
 * Can the runs of a computation be counted? Not unless it is the body of a loop or a branch, and all around it are, up
 * to the entry; nor if any computation of these loops and conditionals has two callers, because then a count cannot be
 * carried there.
 */
bool turns_countable(const struct graph *g, uint32_t comp);

/*
 * Writes a program with g's parameters and one s32 for each of these computations as its results, in a tuple: how often
 * it ran. Returns false if one of them is not countable.
 */
bool turns_program(const struct graph *g, const uint32_t *comp, uint32_t n, struct buf *out);

/*
 * How often one run of the program executes a loop or conditional, from what is known of those around it; -1 if that is
 * unknown, or it is not countable.
 */
double turns_entered(const struct graph *g, uint32_t node);

/* Notes the runs of each of the `n` computations in one execution of the node. graph_parse uses them from then on. */
void turns_note(struct graph *g, uint32_t node, const double *runs, uint32_t n);
/* What was noted of the node's computation number k; -1: nothing. */
double turns_noted(const Hlo__HloInstructionProto *node, uint32_t k);

#endif
