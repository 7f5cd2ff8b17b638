/*
 * guard.h - unpacking protobuf bytes from anywhere, without trusting them.
 *
 * protobuf-c recurses on nesting, allocates by what the bytes claim, and answers NULL without a
 * reason. guard_unpack first walks the bytes along the message descriptors: it names the place and
 * the offence, refuses nesting beyond GUARD_DEPTH, and adds up what unpacking would allocate, which
 * may not exceed GUARD_FACTOR times the bytes (and GUARD_FLOOR). Real programs take 4 to 9 times
 * theirs; only bytes made to hurt take more.
 *
 * The message and all it refers to lie in `mem`. NULL with a sentence that begins with `name`.
 */
#ifndef HLO_GUARD_H
#define HLO_GUARD_H

#include <protobuf-c/protobuf-c.h>
#include "base/err.h"
#include "base/mem.h"

#define GUARD_DEPTH 100 /* what protobuf itself allows */
#define GUARD_FACTOR 48
#define GUARD_FLOOR ((size_t)1 << 20)

void *guard_unpack(struct arena *mem, const ProtobufCMessageDescriptor *d, const void *p, size_t n,
	const char *name, struct err *err);

/* The walk alone: 0, or -1 with the sentence. */
int guard_check(const ProtobufCMessageDescriptor *d, const void *p, size_t n, const char *name,
	struct err *err);

#endif
