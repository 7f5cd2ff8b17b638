/*
 * page.h - draws placements for a report: load and memory of each device, and when it does what.
 */
#ifndef SPACE_PLACE_PAGE_H
#define SPACE_PLACE_PAGE_H

#include "space/place/place.h"

/* Appends HTML (base/page.h) about two placements: the default, and what was found. */
void place_page(const struct place *p, enum place_goal goal, const uint32_t *before, const uint32_t *after,
	struct buf *out);

#endif
