/*
 * breed.h - a genetic algorithm on placements (breed.c has the algorithm).
 */
#ifndef SPACE_PLACE_BREED_H
#define SPACE_PLACE_BREED_H

#include "space/place/standing_load.h"

struct breeding {
	struct standing_load *now; /* says what fits where; its memory in use is overwritten */
	struct rng *rng;
	double (*cost)(void *with, const uint32_t *device); /* of devices per group; infinite: not allowed */
	bool (*over)(void *with);
	void *with;
	uint32_t *device; /* scratch */
};

/* Runs until `over`; `cost` sees every placement, so the caller keeps the best. It begins with those of `known`. */
void breed_run(struct breeding *b, uint32_t *const *known, uint32_t n_known);

#endif
