/*
 * schedule.h - when each operation of a placed program runs: a list scheduler, as REGAL's.
 *
 * Of the operations whose inputs are made, the one with the highest priority goes first, on its device, as soon as the
 * device is free and the inputs are there. A value that another device reads is sent there once. If transfers are
 * synchronous, both devices wait while it is sent. If not, it travels on the link between them, which sends one value
 * after the other, and the devices go on.
 *
 *	struct schedule s;
 *	schedule_make(&p, device, NULL, &s);
 *	... s.finish, s.start[v], s.end[v] ...
 *	schedule_release(&s);
 */
#ifndef SPACE_PLACE_SCHEDULE_H
#define SPACE_PLACE_SCHEDULE_H

#include "space/place/machine.h"

struct transfer {
	uint32_t node, to; /* whose value, to which device */
	double begin, end;
};

struct schedule {
	const uint32_t *device; /* as given */
	double finish;
	double *start, *end; /* [n_nodes] */
	struct transfer *transfer;
	size_t n_transfers, cap;
	double busy[PLACE_DEVICES]; /* seconds in which the device computes */
};

/* `priority` is per node; NULL: p->rank, the longest path to the end. */
void schedule_make(const struct place *p, const uint32_t *device, const double *priority, struct schedule *s);
void schedule_release(struct schedule *s);

/* Seconds to send the node's value from one device to another. */
double schedule_transfer(const struct place *p, uint32_t node, uint32_t from, uint32_t to);

struct course_point { /* the memory of a device from a moment on */
	double time, bytes;
};
/* The most memory in use on each device. Nodes that share a device hold their inputs until they have run. */
void schedule_peaks(const struct place *p, const struct schedule *s, double peak[PLACE_DEVICES]);
/* The memory of one device over time; returns how many points were written to *out, which the caller frees. */
size_t schedule_course(const struct place *p, const struct schedule *s, uint32_t device, struct course_point **out);
/* Does each device have the memory? */
bool schedule_fits(const struct place *p, const struct schedule *s);

#endif
