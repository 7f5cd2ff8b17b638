/*
 * accelerator.h - the device that a plugin drives, if that is not the machine itself: its description, and its lock.
 *
 * Costs depend on the model of the accelerator, so its description is part of the environment in stores: two models in
 * equal machines share no prices. Only one program may measure on an accelerator at a time, so its lock is named after
 * the platform and the device's number on this host.
 */
#ifndef DEVICE_ACCELERATOR_H
#define DEVICE_ACCELERATOR_H

#include "base/buf.h"
#include "base/mem.h"
#include "device/lock.h"

struct accelerator {	/* what the plugin says of the device; all zero is none */
	bool on_host;	/* the machine's own cores and memory: the machine says what it is */
	char kind[96];	/* "NVIDIA H200" */
	int32_t number; /* its number among those that the program sees */
	uint32_t count; /* how many the program sees */
	uint64_t memory; /* bytes; 0: unknown */
};

/* Writes it into a worker's first answer; reads it from there (a bad cursor leaves zeros). */
void accelerator_save(const struct accelerator *a, struct buf *out);
void accelerator_load(struct accelerator *a, struct cursor *in);

/* "NVIDIA H200, 1 device, 139 GiB, driver 580.65.06"; "" if the machine itself computes. */
void accelerator_describe(const struct accelerator *a, const char *platform, char *out, size_t n);
/* Takes its lock, as lock_take does: 1 taken, 0 another program has it, -1 error. */
int accelerator_lock(const struct accelerator *a, const char *platform, bool wait, struct lock *l, struct err *err);

#endif
