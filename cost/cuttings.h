/*
 * cuttings.h - keeps the regions of moves that were cut out lately, because a search asks for them again.
 */
#ifndef COST_CUTTINGS_H
#define COST_CUTTINGS_H

#include <stdbool.h>
#include "space/space.h"

#define CUTTINGS 48

struct cuttings { /* all zero is empty */
	struct cutting {
		uint64_t from, to; /* hashes of the configurations */
		uint64_t used;	   /* when it was last wanted */
		size_t bytes;
		struct regions regions;
	} v[CUTTINGS];
	size_t n, bytes;
	uint64_t clock;
};

/* Adds copies of the regions of a move to `out`, if they are here. */
bool cuttings_get(struct cuttings *c, uint64_t from, uint64_t to, struct regions *out);
/* Keeps copies of them, if they are not too large. */
void cuttings_put(struct cuttings *c, uint64_t from, uint64_t to, const struct regions *r);
void cuttings_release(struct cuttings *c);

#endif
