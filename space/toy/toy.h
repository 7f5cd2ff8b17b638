/*
 * toy.h - a decision space whose cost is a formula: small, exact, the same everywhere.
 *
 * Every program above this folder is tried on it first, for here the truth is known. The space is
 * "toy:SEED" (two choices a site) or "toy:SEED:CHOICES", and it opens over any graph: a site is an
 * instruction of a compiled computation that computes an array. The graph that goes with it is
 * written by toy_graph; programs name it "toy:SITES:CHOICES:SEED" where they expect a file.
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

/* "toy:SITES:CHOICES:SEED"; with trailing parts left out, 40, 3 and 1. */
int toy_parse(const char *name, struct toy_spec *spec, struct err *err);
/* The kind of space for the spec, "toy:SEED:CHOICES", into SPACE_KIND_ROOM bytes. */
void toy_kind_name(const struct toy_spec *spec, char *kind);

/*
 * Appends a HloModuleProto with exactly spec->sites sites: strands of elementwise operations made
 * from a few repeated patterns, of sizes so different that few sites matter.
 */
void toy_graph(const struct toy_spec *spec, struct buf *module);

extern const struct space_kind toy_kind;

#endif
