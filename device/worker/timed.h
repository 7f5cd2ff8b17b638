/*
 * timed.h - the programs of a request to measure, as measure.c runs them.
 */
#ifndef DEVICE_WORKER_TIMED_H
#define DEVICE_WORKER_TIMED_H

#include "base/rng.h"
#include "device/device.h"
#include "device/worker/pjrt.h"

#define TIMED_INSTANCES 64u

/* Programs that are timed; all zero but what is known. */
struct timed {
	struct program *program[2]; /* NULL, NULL: there is nothing to time; the second NULL: one program alone */
	bool anew; /* instances are compiled, not loaded */
	double loading; /* seconds that went into instances, of which there are so many */
	uint32_t n_loaded;
	struct instance *instance[2][TIMED_INSTANCES]; /* NULL: not yet */
	struct refusal refusal;
	double inside;
	/* pages that the runs of either side mapped in, first runs left out, and how many these were */
	double faults[2], runs[2];
	bool ran[2][TIMED_INSTANCES];
	long preempted;
	bool forgets; /* memory that a run gave back is mapped anew in the next one */
	bool on_core; /* the program runs on the core of this process */
	bool on_host; /* ... or on some of this machine */
	uint32_t id;  /* of the request */
};

/* Every reply but the first begins so. */
void put_refusal(struct buf *out, const struct refusal *v);
/* Measures, and puts the whole answer into `out`. */
void timed_answer(struct timed *s, const struct precision *p, struct rng *r, struct buf *out);

#endif
