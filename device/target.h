/*
 * target.h - a target: hardware that a compiler compiles for and that need not be here (schemas/target.def).
 */
#ifndef DEVICE_TARGET_H
#define DEVICE_TARGET_H

#include "base/buf.h"

struct target {
	const char *backend, *name;
	const char *words;   /* the hardware, for people */
	const char *options; /* compile options that it needs */
};

/* The target with this name, or with the part before its colon; NULL if it has no row. */
const struct target *target_find(const char *backend, const char *name);
/* Appends the names of a backend's targets in the table, with commas between; nothing if it has none. */
void target_list(const char *backend, struct buf *out);
/* Is it a GPU of the table? If `out` is not NULL, appends what XLA has to be told about it, in protobuf's text form. */
bool target_gpu(const char *name, struct buf *out);

/* A number of that text, or of a TPU's row; 0 if it has none. */
double target_number(const char *name, const char *field);

#endif
