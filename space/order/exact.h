/*
 * exact.h - finds the order that needs least memory, for a line with at most 64 steps that are not pinned.
 *
 * What is alive after some steps have run depends on which steps these are, not on their order. So an order is a path
 * through sets of steps, from the empty set to all steps, and the cost of a path is the peak on it. The search always
 * goes on from the set with the smallest peak so far, so the first path that reaches the set of all steps is the best.
 * If a step can run that does not raise the peak and leaves no more bytes alive than before, it is the only one that is
 * tried at that set, because nothing is lost by it.
 */
#ifndef SPACE_ORDER_EXACT_H
#define SPACE_ORDER_EXACT_H

#include "base/err.h"
#include "space/order/line.h"

#define EXACT_STEPS 64
#define EXACT_SETS 4000000 /* a reasonable limit for the sets that a search remembers: 160 MB */

/*
 * Finds the order: all steps of the line in `order`, and their peak in `bytes`. Fails if there are too many steps, or
 * if the search would have to remember more than `sets` sets.
 */
int exact_order(const struct line *l, uint32_t sets, uint32_t *order, uint64_t *bytes, struct err *err);

#endif
