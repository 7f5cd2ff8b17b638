/*
 * placing_quick.h - placements that need no search. Each fills device[] (per group) so that everything fits, if it can.
 */
#ifndef SPACE_PLACE_PLACING_QUICK_H
#define SPACE_PLACE_PLACING_QUICK_H

#include "space/place/place.h"

void placing_one(const struct place *p, uint32_t *device);
/* Stretches of an order of the program: without r breadth first, with it branch after branch, as chance has it. */
void placing_contiguous(const struct place *p, struct rng *r, uint32_t *device);
void placing_heft(const struct place *p, uint32_t *device);
void placing_random(const struct place *p, struct rng *r, uint32_t *device);

#endif
