/*
 * standing_load.h - the load of every device under a placement of groups, updated as groups move.
 *
 * A move touches the nodes of the group and those whose values they need. It takes time in proportion to
 * their edges.
 */
#ifndef SPACE_PLACE_STANDING_LOAD_H
#define SPACE_PLACE_STANDING_LOAD_H

#include "space/place/place.h"

struct standing_load {
	const struct place *p;
	uint32_t *device;    /* [n_groups] */
	uint32_t *consumers; /* [n_nodes][n_devices] how many successors of a node are there */
	uint64_t *needed;    /* [n_nodes] one bit per device with consumers */
	double load[PLACE_DEVICES], used[PLACE_DEVICES];
	uint32_t *touched;   /* scratch */
	bool *mark;
	double *group_size;  /* [n_groups] */
	bool *accelerates;   /* [n_groups] may every node of it run on an accelerator? */
};

void standing_load_init(struct standing_load *s, const struct place *p);
void standing_load_release(struct standing_load *s);
void standing_load_set(struct standing_load *s, const uint32_t *device);
void standing_load_move(struct standing_load *s, uint32_t group, uint32_t device);
/* Would the group fit on the device, and may it run there? */
bool standing_load_fits(const struct standing_load *s, uint32_t group, uint32_t device);
double standing_load_most(const struct standing_load *s);
/* A smooth stand-in for the most: the eighth root of the sum of eighth powers. */
double standing_load_energy(const struct standing_load *s);
/* Turns devices per group into devices per node. */
void place_spread(const struct place *p, const uint32_t *by_group, uint32_t *by_node);

#endif
