/*
 * collective.h - what devices exchange: the collective operations of a partitioned program.
 *
 * What is counted is what one device sends when the group does it as a ring, which moves least: to reduce and to gather
 * each move all but one part of the whole, an all-reduce is one after the other. A partitioner writes a reduce-scatter
 * as an all-reduce of which each device cuts out its part; it counts as what it becomes.
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
 * Reads what node v sends in a program that is spread so. False if it is no such operation, or the end of one that was
 * started before.
 */
bool collective_read(const struct graph *g, uint32_t v, struct spread spread, struct exchange *out);

struct exchanges { /* of one run of a program, by kind; loops by their turns */
	double bytes[COLLECTIVES], count[COLLECTIVES];
};
void collective_sum(const struct graph *g, struct spread spread, struct exchanges *out);

#endif
