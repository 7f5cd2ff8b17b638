/*
 * ops.h - what a kind of device implements; inside device/ only.
 *
 * A kind (host.c: a worker process with a plugin; sim.c: our model) embeds struct device as its
 * first member and fills ops, info and generation. device.c dispatches, and answers by itself what
 * is the same for all: results are emptied first, handles of an older generation are "crashed", and
 * a pair of identical programs is equal without a run. So an op sees only live handles, and `out`
 * all zero with outcome ok and the device's cost kind in it.
 */
#ifndef DEVICE_OPS_H
#define DEVICE_OPS_H

#include "device/pool.h"

struct device_ops {
	void (*close)(struct device *d); /* frees d */
	int (*compile)(struct device *d, enum compile_how how, const char *format, const void *p,
		size_t n, unsigned want, struct compiled *out, struct err *err);
	int (*drop)(struct device *d, uint32_t handle, struct err *err);
	int (*extract)(struct device *d, const char *format, const void *p, size_t n,
		struct extracted *out, struct err *err);
	int (*pair)(struct device *d, uint32_t a, uint32_t b, const struct precision *p,
		struct timing *out, struct err *err);
	int (*run)(struct device *d, uint32_t a, const struct precision *p, struct timing *out,
		struct err *err);
	int (*compare)(struct device *d, uint32_t a, uint32_t b, const struct compare_options *o,
		struct comparison *out, struct err *err);
	void (*effort)(const struct device *d, struct effort *out); /* NULL: nothing depends on it */
	int (*arrange)(struct device *d, enum compile_how how, const char *options, const void *p, size_t n,
		struct arranged *out, struct err *err); /* NULL: it cannot show how it arranges a program */
	/* compile of HLO with COMPILE_APPLIED, from executables made elsewhere. NULL: it can load none */
	int (*load)(struct device *d, const void *p, size_t n, const struct ahead *ahead, struct compiled *out,
		struct err *err);
	void (*renew)(struct device *d); /* NULL: it has nothing to begin anew */
};

struct device {
	const struct device_ops *ops;
	struct device_info info;
	uint32_t generation; /* starts at 1 */
	struct device_passes passes;
	int *core; /* that it is pinned to, n_cores of them; the device's own */
	size_t n_cores;
	struct pool *pool; /* NULL: it has no helpers */
	struct helper *helper; /* NULL: it is not one */
	bool alone; /* it has locked an accelerator */
	bool planned;	   /* helpers were told what to do: their cores are in use */
	double until;	   /* device_until; 0: no such time */
	bool heeds_stop;   /* device_heed_stop */
	struct given *given; /* the user's inputs; NULL: they are made up */
	uint32_t codegen;  /* device_codegen */
	struct veto veto; /* device_veto; all zero: there is none */
};

/* host_open, sim_open, ...: the openers that the rows of backend.def name. */
#define BACKEND(opener, ...) struct device *opener##_open(const struct device_options *o, struct err *err);
#include "schemas/backend.def"
#undef BACKEND

#endif
