/*
 * placing_quick.h - placements that need no search.
 *
 * Each function fills device[], one entry for each group. If a group fits on no device, it is placed anyway, and the
 * placement is not allowed (place_allowed).
 */
#ifndef SPACE_PLACE_PLACING_QUICK_H
#define SPACE_PLACE_PLACING_QUICK_H

#include "space/place/place.h"

/*
 * Puts every group on the first accelerator, or on the fastest device of a machine, and those that do not fit there on
 * a processor, if there is one.
 */
void placing_one(const struct place *p, uint32_t *device);
/*
 * Puts the nodes in an order, and gives each accelerator a contiguous stretch of it. The order is breadth first if r is
 * NULL; else it goes through one branch after another, and r decides which comes next.
 */
void placing_contiguous(const struct place *p, struct rng *r, uint32_t *device);
/* List scheduling (HEFT): the most urgent node comes first, and goes where it would end soonest. */
void placing_heft(const struct place *p, uint32_t *device);
/* Puts each group on a random accelerator, or on the next device that has room for it. */
void placing_random(const struct place *p, struct rng *r, uint32_t *device);

#endif
