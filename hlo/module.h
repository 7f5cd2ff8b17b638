/*
 * module.h - bytes to an HloModuleProto: which of its forms they are, and the message in them.
 */
#ifndef HLO_MODULE_H
#define HLO_MODULE_H

#include <stddef.h>
#include "base/err.h"
#include "base/mem.h"
#include "schemas/hlo.pb-c.h"

/* What bytes are, told by content. */
enum hlo_format { HLO_UNKNOWN, HLO_PROTO, HLO_TEXT, HLO_MLIR };
enum hlo_format hlo_sniff(const void *p, size_t n);

/* The module inside bytes of any of the three kinds, unpacked into `mem`; NULL with a sentence. */
Hlo__HloModuleProto *hlo_unpack(struct arena *mem, const void *p, size_t n, const char *name,
	struct err *err);

#endif
