/*
 * exact.h - the order of a line that needs least memory, for lines of up to 64 steps that are not pinned.
 *
 * What is alive after some steps have run depends on which they are, not on their order. So the search is for a path
 * from no step to all steps through sets of steps, whose worst step is as good as can be. Sets are looked at by the
 * worst step on the way to them, the best first, so the first path that gets to the end is the answer. Where a step can
 * run that costs no more than the worst so far and leaves no more behind than there was, it runs at once, and no other
 * is looked at.
 */
#ifndef SPACE_ORDER_EXACT_H
#define SPACE_ORDER_EXACT_H

#include "base/err.h"
#include "space/order/line.h"

#define EXACT_STEPS 64
#define EXACT_SETS 4000000 /* what a search may well remember: 160 MB */

/*
 * `order` gets n steps, `bytes` their peak. At most `sets` sets are remembered. -1 with a sentence: too many steps, or
 * sets.
 */
int exact_order(const struct line *l, uint32_t sets, uint32_t *order, uint64_t *bytes, struct err *err);

#endif
