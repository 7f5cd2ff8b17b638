/*
 * place.h - problems of placing operations on devices, so that a sample takes the least time, or that the busiest
 * device has the least to do.
 *
 * A problem has nodes and edges as a program has operations and values, some accelerators of limited memory, and some
 * processors without a limit. This is the form of the public dnn-partitioning problems (NeurIPS 2020):
 *
 * load      samples stream through a pipeline. A device's load is the time of its nodes. An accelerator's load
 *	     includes the transfers between it and main memory: a value counts once for the device that made it,
 *	     and once for every other device that needs it. Transfers of processors cost nothing. The cost is the
 *	     load of the busiest device.
 * latency   one sample runs alone. What an accelerator holds is cut into pieces that no path leaves and enters
 *	     again. A piece starts when all its inputs are made; it transfers them in, computes, and transfers out
 *	     what others need. A node on a processor starts when its inputs are there.
 *
 * Nodes of one color class stay together, in a group. Devices are numbered, accelerators first.
 */
#ifndef SPACE_PLACE_PLACE_H
#define SPACE_PLACE_PLACE_H

#include <stdbool.h>
#include <stdint.h>
#include "base/buf.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/rng.h"

#define PLACE_NODES ((uint32_t)1 << 22)
#define PLACE_EDGES ((uint32_t)1 << 24)
#define PLACE_DEVICES 64

enum place_goal { PLACE_LOAD, PLACE_LATENCY };

struct place {
	uint32_t n_nodes, n_edges, n_groups;
	uint32_t n_accelerators, n_devices;
	double memory;		/* of an accelerator */
	int64_t *id;		/* [n_nodes] the file's */
	double *time[2];	/* [n_nodes] on an accelerator, on a processor */
	double *size, *transfer;
	bool *supported;	/* [n_nodes] may it run on an accelerator? */
	uint32_t *group;	/* [n_nodes] nodes of one group stay together */
	uint32_t *from, *to;	/* [n_edges] */
	/* neighbours of each node; an edge that is given twice counts once */
	uint32_t *out_first, *out, *in_first, *in;
	uint32_t *order;	/* [n_nodes] nodes, each after what it needs */
	uint32_t *group_first, *member; /* nodes of each group */
	struct arena mem;
};

int place_parse(struct place *p, const void *text, size_t n, struct err *err);
bool place_looks_like(const void *text, size_t n);
void place_release(struct place *p);

/*
 * What a placement is worth; `device` is per node. Both are slow and plain. The result is infinite if the placement is
 * not allowed, or if pieces wait for each other.
 */
double place_load(const struct place *p, const uint32_t *device);
double place_latency(const struct place *p, const uint32_t *device);
/* Is the placement allowed: does everything fit, run where it may, and stay with its group? */
bool place_allowed(const struct place *p, const uint32_t *device);
double place_cost(const struct place *p, enum place_goal goal, const uint32_t *device);

/* Writes the placement in the form of the problems' owners. */
void place_write(const struct place *p, enum place_goal goal, const uint32_t *device, struct buf *out);

/*
 * For readers and generators of problems. place_alloc gives room, all zero. Once ids, times and edges are filled in,
 * the second call finds neighbours, groups and the order; it refuses cycles.
 */
void place_alloc(struct place *p, uint32_t nodes, uint32_t edges);
int place_finish(struct place *p, struct err *err);

#endif
