/*
 * list.h - list scheduling: from a key per step to an order.
 *
 * Of the steps whose predecessors have all run, the one with the smallest key runs next; ties go to the smaller number,
 * and what is pinned (line.h) goes first. So every set of keys is a legal order, and every legal order is the order of
 * its own positions as keys.
 */
#ifndef SPACE_ORDER_LIST_H
#define SPACE_ORDER_LIST_H

#include "space/order/line.h"

/* `order` gets n steps. */
void list_schedule(const struct line *l, const double *key, uint32_t *order);
/*
 * A base order with some steps shifted by so many places, to the front where negative. A step is worth nothing in front
 * while what it needs stays behind, so its ancestors come along; what waits for a step that goes to the back waits
 * longer by itself. Ties go to the base. `shift`: per step.
 */
void list_shifted(const struct line *l, const uint32_t *base, const double *shift, uint32_t *order);
/*
 * Depth first: from each step that nobody reads, in the order of their numbers, what it needs is brought near it, the
 * operand first that holds most bytes in all that it needs.
 */
void list_depth_first(const struct line *l, uint32_t *order);

#endif
