/*
 * target.h - hardware to compile for where there is none (schemas/target.def).
 */
#ifndef DEVICE_TARGET_H
#define DEVICE_TARGET_H

#include "base/buf.h"

struct target {
	const char *backend, *name;
	const char *words;   /* the hardware, for people */
	const char *options; /* that compiling for it needs */
};

/* The target of that name, or of the part before its colon; NULL: it has no row. */
const struct target *target_find(const char *backend, const char *name);
/* Appends the names that a backend's targets have in the table, comma between; nothing where it has none. */
void target_list(const char *backend, struct buf *out);
/* Appends what XLA must be told of a GPU, in protobuf's text form (NULL: nothing); false: it is no GPU of ours. */
bool target_gpu(const char *name, struct buf *out);

/* A number of that text, 0 where it has none. */
double target_number(const char *name, const char *field);

#endif
