/*
 * place_own.h - a problem of placement as a decision space, for the files of this folder.
 */
#ifndef SPACE_PLACE_PLACE_OWN_H
#define SPACE_PLACE_PLACE_OWN_H

#include "space/place/deciding.h"
#include "space/place/machine.h"
#include "space/place/standing_load.h"

struct place_space {
	struct place p;
	struct machine machine;
	enum place_goal goal;
	double second;	   /* what a figure of the problem is in seconds */
	double worst;	   /* no placement takes longer, in figures of the problem */
	uint32_t *task_of; /* [nodes of the graph] node of p, or NONE */
	uint32_t *node_of; /* [n_nodes of p] node of the graph */
	uint32_t *group;   /* [n_sites] */
	uint32_t *by_group, *device; /* [n_groups], [n_nodes] scratch */
	/* For features: the problem with its figures rounded, so that sums do not depend on their order. */
	struct place rounded;
	struct standing_load now;
	double unit, memory; /* a hundredth of the time of a node, a thousandth of a device's memory */
	double *critical; /* [n_nodes] of the schedule in `scheduled` */
	uint8_t *scheduled; /* [n_sites] */
	bool has_schedule;
};

static inline struct place_space *place_own(const struct space *s)
{
	return s->own;
}

extern const struct space_features place_features;

int place_make(const char *program, struct buf *module, char *kind, struct err *err);

/* features.c. The device of each node; the array is a scratch of the space. */
const uint32_t *place_devices(const struct space *s, const uint8_t *config);
void place_begin_features(struct space *s);
void place_context(struct space *s, const uint8_t *config, const uint32_t *nodes, uint32_t count, float *out);
double place_grain(const struct space *s, enum quantity q);
void place_effect(struct space *s, uint8_t *config, uint32_t site, uint8_t choice, float *out);

#endif
