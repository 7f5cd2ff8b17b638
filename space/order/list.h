/*
 * list.h - list scheduling: makes an order of a line (line.h) from a key for each step.
 *
 * Pinned steps come first. Then, of the steps whose predecessors have all run, the one with the smallest key runs next;
 * if keys are equal, the one with the smaller number. So all keys give a legal order, and each legal order can be
 * given: by its positions as keys.
 */
#ifndef SPACE_ORDER_LIST_H
#define SPACE_ORDER_LIST_H

#include "space/order/line.h"

/* Writes all steps of the line to `order`. */
void list_schedule(const struct line *l, const double *key, uint32_t *order);
/*
 * Makes an order of a base order by shifting steps: `shift` has the number of places for each step, negative to the
 * front. A step that goes to the front takes its ancestors along, because it cannot run before them. A step that goes
 * to the back holds back its descendants, without being asked. If two steps want the same place, the base decides.
 */
void list_shifted(const struct line *l, const uint32_t *base, const double *shift, uint32_t *order);
/*
 * Makes a depth-first order. It begins with each step that has no successor, in the order of their numbers, and puts
 * what such a step needs right before it. Of several predecessors the one comes first that weighs most, together with
 * all that it needs.
 */
void list_depth_first(const struct line *l, uint32_t *order);

#endif
