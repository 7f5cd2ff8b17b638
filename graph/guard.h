/*
 * guard.h - unpacking protobuf bytes from anywhere without trusting them.
 *
 * protobuf-c recurses on nesting and allocates by what the bytes claim; a few hundred kilobytes can
 * make it overflow the stack or take gigabytes. guard_unpack first walks the bytes by the message
 * descriptors and refuses nesting beyond GUARD_DEPTH, then unpacks into an arena whose size may not
 * exceed GUARD_FACTOR times the bytes (real programs take 4 to 9 times).
 */
#ifndef GRAPH_GUARD_H
#define GRAPH_GUARD_H

#include <protobuf-c/protobuf-c.h>
#include "base/err.h"
#include "base/mem.h"

#define GUARD_DEPTH 64
#define GUARD_FACTOR 40

/* NULL with a sentence. The message and all it refers to lie in `mem`. */
void *guard_unpack(struct arena *mem, const ProtobufCMessageDescriptor *d, const void *p, size_t n,
	const char *name, struct err *err);

#endif
