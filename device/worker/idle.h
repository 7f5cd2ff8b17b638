/*
 * idle.h - programs that were dropped, and may be asked for again.
 *
 * What takes long to compile is kept as the bytes of its executable (cost/spare.h), and loaded again. Some programs
 * cannot be written down. A search compares one such program with many others, and would have it compiled each time. So
 * the last few of them stay loaded until others take their places.
 */
#ifndef DEVICE_WORKER_IDLE_H
#define DEVICE_WORKER_IDLE_H

#include "device/worker/pjrt.h"

#define IDLE_MOST 2 /* what stands, and what was tried last */

struct idle { /* all zero is empty */
	struct program *program[IDLE_MOST]; /* the last one first */
};

/* Takes a program over: keeps it, if that is worth it, or frees it. */
void idle_put(struct idle *i, struct program *g);
/* The program that was made of this, which is the caller's again; NULL: there is none. */
struct program *idle_take(struct idle *i, const char *format, const void *code, size_t n, const char *options);

#endif
