/*
 * part.h - what a kernel costs in a program beyond its region.
 *
 * A region is run alone, again and again. In a program its kernels come after hundreds of others, and each costs up to a
 * microsecond more. Whoever prices by regions adds the same charge for it:
 *
 *	kernels more x part_seconds(device) x part_share(program)
 *
 * `collect` and `search` do so through cost.h, `learn` for what it reads from a store. A store keeps what was measured,
 * without the charge. A search also corrects the charge by what whole programs show (search/drift.c).
 */
#ifndef SPACE_PART_H
#define SPACE_PART_H

#include "base/outcome.h"
#include "space/space.h"

/*
 * Seconds for a kernel of a large program on this backend; 0 where nothing is known or nothing is measured. A plugin named
 * by its file is driven as the first backend, and costs what that does.
 */
double part_seconds(const char *backend, enum cost_kind kind);
/* The share of them that a kernel of this program costs: from 0 for a small program to 1 for a large one. */
double part_share(struct space *s);

#endif
