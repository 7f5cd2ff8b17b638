/*
 * dlpack.h - the structures of DLPack, version 0: how programs in one process hand each other tensors. The one who gets
 * a tensor calls its deleter once, which gives the memory back to its owner.
 */
#ifndef PYTHON_DLPACK_H
#define PYTHON_DLPACK_H

#include <stdint.h>

struct dl_tensor {
	void *data;
	struct { int32_t type, id; } device; /* type 1: this machine's memory */
	int32_t ndim;
	struct { uint8_t code, bits; uint16_t lanes; } dtype;
	int64_t *shape, *strides; /* strides NULL: row by row */
	uint64_t byte_offset;
};
struct dl_managed {
	struct dl_tensor tensor;
	void *context; /* the PJRT_Buffer that owns the memory */
	void (*deleter)(struct dl_managed *);
};

#endif
