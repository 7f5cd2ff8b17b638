/*
 * estimate.h - how long a program would take on a target, by the target's own compiler (schemas/estimate.def).
 *
 * An estimate is the answer of a model, never a measured time. Wherever it is printed, the text says whose model it is.
 */
#ifndef DEVICE_ESTIMATE_H
#define DEVICE_ESTIMATE_H

#include "base/err.h"
#include "base/outcome.h"
#include "base/spread.h"
#include "device/roofline.h"

/*
 * What the seconds of our model of a mesh go into. A search that knows better how long each takes on a target gives
 * each a weight (device_options.weights).
 */
enum estimate_part {
	PART_WORK,	/* products, where operations take longest */
	PART_MEMORY,	/* bytes that go from memory and to it */
	PART_EXCHANGES, /* bytes over links */
	PART_STARTS,	/* of kernels and exchanges */
	ESTIMATE_PARTS
};

/* The price of a program, and where it comes from. */
struct priced { /* all zero is empty */
	double seconds;
	double part[ESTIMATE_PARTS]; /* of the seconds; all zero: they are not told apart */
	uint32_t kernels;  /* kernels that are started; those in loops count once */
	uint32_t modelled; /* how many of them the compiler's model priced */
	uint32_t unpriced; /* how many the compiler gave no price, of any model */
	uint32_t ours;	   /* how many our roofline priced, because the model has no price */
	double our_seconds; /* the part of `seconds` by our roofline */
	double exchanged;   /* bytes that a device sends to others */
	uint64_t bytes;	    /* of memory; 0: not known */
	enum outcome outcome; /* refused if there is a kernel whose price means nothing */
	char detail[200];
};

struct estimator {
	const char *backend;
	/* `spread`: of the program over devices. NULL: there is `schedule` instead. */
	void (*read)(const struct graph *g, const char *target, struct spread spread, struct priced *out);
	/* Reads a schedule that the compiler writes in place of prices; the graph is the optimised program. */
	void (*schedule)(const char *text, size_t n, const struct graph *g, const char *target, struct spread spread,
		struct priced *out);
	/* Writes the seconds that each node takes, in all of its turns; may be NULL. */
	void (*each)(const struct graph *g, const char *target, struct spread spread, double *seconds);
	const char *whose;
	const char *options; /* debug options that make the compiler write its prices */
	/*
	 * Debug options that stop it before it generates code; "": it is not stopped. If `schedule` is set: the options
	 * that make it leave the schedule; it compiles to the end.
	 */
	const char *stop;
	const char *left;    /* the end of the name of the file that it leaves then */
	const char *brief;   /* debug options with which few kernels have no price, and the others the same, sooner */
};

/* The estimator of a backend for programs that are spread so; NULL if it has none. */
const struct estimator *estimator_find(const char *backend, struct spread spread);

/*
 * The backend whose prices of the same decisions take a fraction of the time, so that they tell which programs this one
 * had better be asked about; NULL: there is none.
 */
const char *estimate_screen(const char *backend);

/* estimate_reified.c: the prices that XLA:GPU writes beside each kernel. */
void estimate_reified(const struct graph *g, const char *target, struct spread spread, struct priced *out);
/* estimate_cycles.c: the cycles that XLA:TPU writes beside each kernel. */
/* The cycles that it writes beside a node, and 0 if there are none. */
double estimate_kernel_cycles(const struct node *n);
void estimate_cycles(const struct graph *g, const char *target, struct spread spread, struct priced *out);
/* estimate_mesh.c: our model of a partitioned program on a machine of schemas/mesh.def. */
void estimate_mesh(const struct graph *g, const char *target, struct spread spread, struct priced *out);
void estimate_mesh_each(const struct graph *g, const char *target, struct spread spread, double *seconds);
/*
 * The seconds that an exchange (enum collective) takes at least on the machine of a target, if so many devices take
 * part and each sends so many bytes; 0 if there is nobody to exchange with.
 */
double estimate_exchange(const char *target, int kind, uint32_t group, double bytes);
/* estimate_schedule.c: the schedule that XLA:TPU writes of a program on several devices. */
void estimate_schedule(const char *text, size_t n, const struct graph *g, const char *target, struct spread spread,
	struct priced *out);

#endif
