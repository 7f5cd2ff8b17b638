/*
 * collective.h - what devices exchange: the collective operations of a partitioned program.
 *
 * We count the bytes that one device sends if the devices of a group form a ring, because a ring moves least. In a
 * reduction, and in a gathering, each device sends all but one part of the whole; an all-reduce does both. A
 * partitioner writes a reduce-scatter as an all-reduce of which each device cuts out its part, so that counts as a
 * reduce-scatter.
 */
#ifndef GRAPH_COLLECTIVE_H
#define GRAPH_COLLECTIVE_H

#include "base/spread.h"
#include "graph/graph.h"

enum collective { ALL_REDUCE, ALL_GATHER, REDUCE_SCATTER, ALL_TO_ALL, COLLECTIVE_PERMUTE, COLLECTIVES };
const char *collective_name(enum collective c);

struct exchange {
	enum collective kind;
	uint32_t group; /* devices that take part with each other */
	double bytes;	/* that a device sends */
};
/*
 * Finds what node v sends in a program that is spread so. Returns false if v is no collective operation, or only the
 * end of one.
 */
bool collective_read(const struct graph *g, uint32_t v, struct spread spread, struct exchange *out);

struct exchanges { /* of one run of a program, by kind; loops by their turns; also what fusions do */
	double bytes[COLLECTIVES], count[COLLECTIVES];
};
void collective_sum(const struct graph *g, struct spread spread, struct exchanges *out);

#endif
