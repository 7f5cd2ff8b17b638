/*
 * module.h - the little that a device must know of an HloModuleProto: the types of its parameters
 * and result, and a hash by which two compiled programs are the same. Everything else is graph/'s.
 */
#ifndef DEVICE_MODULE_H
#define DEVICE_MODULE_H

#include "base/buf.h"
#include "base/err.h"
#include "base/mem.h"

#define MODULE_RANK 32 /* dimensions of an array at most */

struct module_type {   /* of a parameter; lives in the arena */
	int32_t dtype; /* XLA's PrimitiveType number */
	uint32_t rank;
	int64_t *dims, *minor_to_major; /* minor_to_major NULL: not stated */
	uint64_t elements;
};

/* The parameters of the entry computation. -1 for tuples and what makes no sense. */
int module_parameters(const void *p, size_t n, struct arena *mem, struct module_type **type,
	size_t *count, struct err *err);

/* The serialised shapes of parameters and result if any of them is not row-major; else empty. They point into p. */
struct module_layouts {
	size_t n;
	struct module_bytes {
		const uint8_t *data;
		size_t len;
	} * argument, result;
};
void module_layouts(const void *p, size_t n, struct arena *mem, struct module_layouts *out);

/* The module inside an HloModuleProtoWithConfig or an HloProto (field 1 of both), appended. */
void module_inside(const void *p, size_t n, struct buf *out);

/*
 * Returns a hash of what the module computes and how; names, ids and metadata do not count. Modules with equal hashes
 * are the same program. 0: the module cannot be read.
 */
uint64_t module_hash(const void *p, size_t n);

#endif
