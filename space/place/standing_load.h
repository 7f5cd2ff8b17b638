/*
 * standing_load.h - keeps the load of every device up to date while groups move from device to device.
 *
 * Call standing_load_init, then standing_load_set with a placement, then standing_load_move for each move. A move
 * touches the nodes of the group and the nodes whose values they need, so it takes time in proportion to their edges.
 */
#ifndef SPACE_PLACE_STANDING_LOAD_H
#define SPACE_PLACE_STANDING_LOAD_H

#include "space/place/place.h"

struct standing_load {
	const struct place *p;
	uint32_t *device;    /* [n_groups] */
	uint32_t *consumers; /* [n_nodes][n_devices] how many successors of the node are on the device */
	uint64_t *needed;    /* [n_nodes] one bit per device that has such successors */
	double load[PLACE_DEVICES], used[PLACE_DEVICES]; /* per device: its load; the memory in use */
	uint32_t *touched;   /* scratch */
	bool *mark;	     /* scratch, all false between calls */
	double *group_size;  /* [n_groups] memory that the group takes */
	bool *accelerates;   /* [n_groups] may every node of it run on an accelerator? */
};

void standing_load_init(struct standing_load *s, const struct place *p);
void standing_load_release(struct standing_load *s);
/* Takes a device for each group, and computes all loads anew. `device` may be the struct's own array. */
void standing_load_set(struct standing_load *s, const uint32_t *device);
/* Moves one group. Does not ask whether it may be there: standing_load_fits does. */
void standing_load_move(struct standing_load *s, uint32_t group, uint32_t device);
/* Is there memory for the group on the device, and may all of its nodes run there? */
bool standing_load_fits(const struct standing_load *s, uint32_t group, uint32_t device);
/* The load of the busiest device. */
double standing_load_most(const struct standing_load *s);
/* A smooth stand-in for the largest load: the eighth root of the sum of the eighth powers of all loads. */
double standing_load_energy(const struct standing_load *s);
/* Turns devices per group into devices per node. */
void place_spread(const struct place *p, const uint32_t *by_group, uint32_t *by_node);

#endif
