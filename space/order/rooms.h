/*
 * rooms.h - which values live in the memory of the program's results, by XLA's rules.
 *
 * Values get their memory from the largest to the smallest, results before others of the same size, then by when they begin.
 * A result has memory of its own. Any other value takes the first memory of a result that is large enough and free for all
 * of its life: where one of its maker's operands is, else the smallest. What finds none goes into the heap.
 *
 * Two values are in each other's way where their lives overlap. Where one ends at the step that makes the other they do
 * not, if that step may write its result over this operand (share.c).
 */
#ifndef SPACE_ORDER_ROOMS_H
#define SPACE_ORDER_ROOMS_H

#include "space/order/program.h"

/* Wants begin and end of all values; sets their rooms. */
void rooms_give(struct program *p);

#endif
