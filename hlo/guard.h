/*
 * guard.h - unpacking protobuf bytes from anywhere, without trusting them.
 *
 * protobuf-c recurses on nesting, allocates as much as the bytes claim, and returns NULL without a
 * reason. So guard_unpack first walks the bytes along the message descriptors. An error names the
 * place and what is wrong there. Nesting beyond GUARD_DEPTH is refused, and so are n bytes that would
 * unpack to more than GUARD_FACTOR * n + GUARD_FLOOR: real programs take 4 to 9 times their bytes,
 * only bytes made to hurt take more.
 *
 * guard_unpack returns the message; it and all it refers to lie in `mem`. On an error it returns NULL
 * with a sentence that begins with `name`.
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


#endif
