/*
 * spread.h - over how many devices one program runs.
 *
 * A program has replicas, each of which computes the whole of it, and each replica has partitions, among which the
 * compiler splits the values of the program. Every partition of every replica runs on a device of its own: partition p
 * of replica r is device r * partitions + p. A number that is 0 means 1, so that all zero is a program for one device.
 */
#ifndef BASE_SPREAD_H
#define BASE_SPREAD_H

#include <stdint.h>

struct spread {
	uint32_t replicas, partitions;
};

static inline uint32_t spread_replicas(struct spread s)
{
	return s.replicas ? s.replicas : 1;
}

static inline uint32_t spread_partitions(struct spread s)
{
	return s.partitions ? s.partitions : 1;
}

static inline uint32_t spread_devices(struct spread s)
{
	return spread_replicas(s) * spread_partitions(s);
}

#endif
