/*
 * accelerator.h - the device a plugin drives, where that is not the machine itself: its name, and its lock.
 *
 * What it is decides what programs cost on it, so it is part of the environment of what is stored: two models of
 * accelerator in equal machines share no prices. Which one it is decides who must wait for whom: so the lock is named
 * after the platform and the device's number on this host.
 */
#ifndef DEVICE_ACCELERATOR_H
#define DEVICE_ACCELERATOR_H

#include "base/buf.h"
#include "base/mem.h"
#include "device/lock.h"

struct accelerator {	/* what the plugin says of the device; all zero is none */
	bool on_host;	/* the machine's own cores and memory: the machine says what it is */
	char kind[96];	/* "NVIDIA H200" */
	int32_t number; /* on this host, among those the program sees */
	uint32_t count; /* that the program sees */
	uint64_t memory; /* bytes; 0: unknown */
};

/* In a worker's first answer: written and read. */
void accelerator_save(const struct accelerator *a, struct buf *out);
void accelerator_load(struct accelerator *a, struct cursor *in);

/* "NVIDIA H200, 1 device, 139 GiB, driver 580.65.06"; "" where the machine computes. */
void accelerator_describe(const struct accelerator *a, const char *platform, char *out, size_t n);
/* Its lock, as lock_take gives it: 1, 0 taken by somebody, -1. */
int accelerator_lock(const struct accelerator *a, const char *platform, bool wait, struct lock *l, struct err *err);

#endif
