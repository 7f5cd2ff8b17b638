/*
 * toy.h - a decision space whose cost is a formula: small, exact, the same everywhere.
 *
 * Everything that uses spaces is tested on it first, because here the truth is known. The space is
 * "toy:SEED" (two choices a site) or "toy:SEED:CHOICES". It opens over any graph: a site is an
 * instruction of a compiled computation that computes an array. toy_graph writes a graph for it; users
 * name that graph "toy:SITES:CHOICES:SEED" where a program expects a file.
 */
#ifndef SPACE_TOY_TOY_H
#define SPACE_TOY_TOY_H

#include "space/space.h"

struct toy_spec {
	uint32_t sites, choices; /* 1..TOY_SITES, 2..TOY_CHOICES */
	uint64_t seed;
};
#define TOY_SITES 1000000
#define TOY_CHOICES 200

/* Reads "toy:SITES:CHOICES:SEED"; trailing numbers that are left out are 40, 3 and 1. */
int toy_parse(const char *name, struct toy_spec *spec, struct err *err);
/* Writes the full name of the space for the spec, "toy:SEED:CHOICES", into SPACE_KIND_ROOM bytes. */
void toy_kind_name(const struct toy_spec *spec, char *kind);

/*
 * Appends an HloModuleProto with exactly spec->sites sites: strands of elementwise operations from a few
 * repeated patterns, of such different sizes that few sites matter.
 */
void toy_graph(const struct toy_spec *spec, struct buf *module);

extern const struct space_kind toy_kind;

#endif
