/*
 * deciding.h - placement as a kind of decision: which device runs what.
 *
 * Wherever a program is named, these name a problem:
 *
 *	place:FILE			 one of dnn-partitioning, NAME.json or NAME.json.gz; the busiest device counts
 *	place:cut:NODES:SEED:FILE	 a connected piece of it with about so many nodes, around a random one
 *	place:FAMILY:NODES:DEVICES:SEED	 a made-up one: erdos, small, attach, blocks or layers; layers if none is named
 *
 * "latency:" or "time:" before the rest makes the latency of one sample, or its time by the list scheduler, what
 * counts. Other programs are placed on a machine, which --machine describes; the price is their time by the list
 * scheduler.
 */
#ifndef SPACE_PLACE_DECIDING_H
#define SPACE_PLACE_DECIDING_H

#include "space/place/place.h"
#include "space/space.h"

#define PLACE_PROGRAM "place:%s:%s" /* the goal, the file's path */
#define PLACE_TARGET "vantage.place.node"
#define PLACE_PROBLEM "vantage.place.problem"

extern const struct space_kind place_kind;

/* make.c. Appends the text of a made-up problem; of a piece of one with about so many nodes. */
int place_family(const char *family, uint32_t nodes, uint32_t devices, uint64_t seed, struct buf *text);
void place_cut(const struct place *p, uint32_t nodes, uint64_t seed, struct buf *text);

#endif
