/*
 * place.h - problems of placing operations on devices.
 *
 * A problem is a graph: its nodes are operations, its edges are values. There are some accelerators, each with the same
 * limited memory, and some processors without a limit. A placement gives each node a device. A placement has one of two
 * goals, as in the public dnn-partitioning problems (NeurIPS 2020):
 *
 * load      Samples stream through a pipeline, and the busiest device should have as little to do as possible. A
 *	     device's load is the time of its nodes. The load of an accelerator includes the transfers between it and
 *	     main memory: a value that another device needs counts once for the device that made it, and once for
 *	     each other device that needs it. Transfers of processors cost nothing.
 * latency   One sample runs alone, and it should be done as soon as possible. The nodes on an accelerator are cut
 *	     into pieces, so that no path leaves a piece and comes back to it. A piece starts when all its inputs are
 *	     made; it transfers them in, computes, and transfers out what others need. A node on a processor starts
 *	     when its inputs are made.
 *
 * time      One run of a program on a machine (machine.h), whose devices differ, and are connected by links. The
 *	     schedule (schedule.h) says when each node runs and each value travels.
 * memory    The same run, but the most memory in use on any device should be small.
 *
 * Nodes of one color class form a group: they must be on the same device. Devices are numbered, accelerators first.
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

enum place_goal { PLACE_LOAD, PLACE_LATENCY, PLACE_TIME, PLACE_MEMORY };

struct machine;

struct place {
	uint32_t n_nodes, n_edges, n_groups;
	uint32_t n_accelerators, n_devices;
	double memory;		/* of each accelerator; of the smallest one */
	int64_t *id;		/* [n_nodes] the node's number in the file */
	double *time[2];	/* [n_nodes] on an accelerator, on a processor */
	double *size, *transfer; /* [n_nodes] memory that the node takes; time to transfer its value once */
	bool *supported;	/* [n_nodes] may it run on an accelerator? */
	uint32_t *group;	/* [n_nodes] nodes of one group stay together */
	uint32_t *from, *to;	/* [n_edges] */
	/* successors and predecessors of each node; an edge that the file gives twice counts once */
	uint32_t *out_first, *out, *in_first, *in;
	uint32_t *order;	/* [n_nodes] nodes, each after its predecessors */
	uint32_t *group_first, *member; /* nodes of each group */
	/* What follows is for the goals time and memory; place_finish fills in on, room and rank if they are empty. */
	const double *on[PLACE_DEVICES]; /* [n_nodes] the time of each node on the device */
	double room[PLACE_DEVICES];	 /* the memory of each device; infinite: no limit */
	double *rank;			 /* [n_nodes] the time of the longest path from the node to the end */
	const struct machine *machine;	 /* NULL: a value takes a transfer for each accelerator at the two ends */
	double *bytes; /* [n_nodes] what is sent if another device reads the node's value; NULL without a machine */
	/* [n_nodes] memory for its value, from its start until the last node that reads it has run; NULL: none */
	double *held;
	uint32_t n_inputs; /* values that are there from the beginning, on every device that reads them */
	uint32_t *input_first, *input_reader; /* [n_inputs + 1]; nodes */
	double *input_bytes;
	struct arena mem;
};

/* Reads a problem from JSON text (place_read.c has the form). The caller releases it, after a failure too. */
int place_parse(struct place *p, const void *text, size_t n, struct err *err);
/* Could this text be such a problem? A quick look; place_parse decides. */
bool place_looks_like(const void *text, size_t n);
void place_release(struct place *p);

/*
 * Compute the cost of a placement; `device` is per node. All are slow and plain. The result is infinite if the
 * placement is not allowed, or if pieces wait for each other.
 */
double place_load(const struct place *p, const uint32_t *device);
double place_latency(const struct place *p, const uint32_t *device);
double place_time(const struct place *p, const uint32_t *device);
double place_memory(const struct place *p, const uint32_t *device);
/* The first two, whatever memory there is; place_busy fills in each device's load. */
double place_busy(const struct place *p, const uint32_t *device, double load[PLACE_DEVICES]);
double place_piecewise(const struct place *p, const uint32_t *device);
/* The memory that the nodes and the inputs of each device take, without the values of a program. */
void place_used(const struct place *p, const uint32_t *device, double used[PLACE_DEVICES]);
/* May every node run where it is, and do groups stay together? How many may not. */
uint32_t place_misplaced(const struct place *p, const uint32_t *device);
/* Is the placement allowed? Every device must have enough memory, every node may run there, groups stay together. */
bool place_allowed(const struct place *p, const uint32_t *device);
/* One of the four, as the goal says. */
double place_cost(const struct place *p, enum place_goal goal, const uint32_t *device);

/* Appends the placement as JSON, in the form that the authors of the problems use. */
void place_write(const struct place *p, enum place_goal goal, const uint32_t *device, struct buf *out);

/*
 * For readers and generators of problems. place_alloc allocates the arrays, all zero. The caller fills in ids, times,
 * groups and edges; place_finish then finds neighbours, members and the order. It fails if the edges form a cycle.
 */
void place_alloc(struct place *p, uint32_t nodes, uint32_t edges);
int place_finish(struct place *p, struct err *err);

#endif
