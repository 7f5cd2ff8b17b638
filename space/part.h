/*
 * part.h - what a kernel costs in a program beyond its region.
 *
 * A region is run alone, again and again. In a program its kernels come after hundreds of others, and each of them
 * costs up to a microsecond more. So every price that is made of regions gets the same charge added:
 *
 *	(kernels after - kernels before) x part_seconds(device) x part_share(program)
 *
 * `collect` and `search` add it through cost.h, `learn` adds it to what it reads from a store. A store keeps what was
 * measured, without the charge. A search also corrects the charge by what whole programs show (search/drift.c).
 */
#ifndef SPACE_PART_H
#define SPACE_PART_H

#include "base/outcome.h"
#include "space/space.h"

/*
 * The seconds that a kernel of a large program costs beyond its region on this backend. 0 if they are not known, or if
 * costs are not measured. A plugin that is named by its file counts as the first backend.
 */
double part_seconds(const char *backend, enum cost_kind kind);
/* The share of these seconds that a kernel of this program costs: from 0 in a small program to 1 in a large one. */
double part_share(struct space *s);
/*
 * The most that it can be, by the default's own time: all kernels that run pay it once, and that is not all that a run
 * takes.
 */
double part_most(struct space *s, double seconds);

#endif
