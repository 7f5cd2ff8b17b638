/*
 * rooms.h - finds the values that live in the memory of the program's results, by XLA's rules.
 *
 * A room is the memory of one result. Buffers get their memory from the largest to the smallest; of the same size,
 * results come first, and the others by their rank (program.h). A result moves into its own room. Any other buffer
 * takes a room that is large enough and free during all of its lives: the room of one of its makers' operands, or else
 * the smallest. A buffer that finds no room goes into the heap.
 *
 * Two lives are in each other's way if they overlap. If one ends at the step that begins the other, they are not, as
 * long as that step may write its result over this operand (share.c).
 */
#ifndef SPACE_ORDER_ROOMS_H
#define SPACE_ORDER_ROOMS_H

#include "space/order/program.h"

struct rooms;

/* Sets the room of each value. Begin and end of all values and lives must be set. */
void rooms_give(struct program *p);
void rooms_free(struct rooms *r); /* accepts NULL */

#endif
