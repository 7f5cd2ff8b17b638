/*
 * rooms.h - which values live in the memory of the program's results, by XLA's rules.
 *
 * Buffers get their memory from the largest to the smallest, results before others of the same size, then as they are
 * listed. A result has memory of its own. Any other takes the first memory of a result that is large enough and free
 * for all of its lives: where one of its makers' operands is, else the smallest. What finds none goes into the heap.
 *
 * Two lives are in each other's way where they overlap. Where one ends at the step that begins the other they are
 * not, if that step may write its result over this operand (share.c).
 */
#ifndef SPACE_ORDER_ROOMS_H
#define SPACE_ORDER_ROOMS_H

#include "space/order/program.h"

struct rooms;

/* Wants begin and end of all values and lives; sets their rooms. */
void rooms_give(struct program *p);
void rooms_free(struct rooms *r); /* accepts NULL */

#endif
