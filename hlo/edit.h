/*
 * edit.h - changes a packed module: reads it, hands it to a function with its entry, and packs what that leaves.
 */
#ifndef HLO_EDIT_H
#define HLO_EDIT_H

#include "base/buf.h"
#include "hlo/module.h"

struct edit {
	struct arena *mem; /* for what the change makes */
	Hlo__HloModuleProto *module;
	Hlo__HloComputationProto *entry;
	const void *arg;
};

/* Changes the module. Returns NULL, or what the program lacks ("has no result"). */
typedef const char *hlo_change(const struct edit *e);

/* Appends the module (any form that hlo_unpack reads) as the change leaves it. -1 with a sentence that has `name`. */
int hlo_edit(const void *p, size_t n, const char *name, hlo_change *change, const void *arg, struct buf *out,
	struct err *err);

#endif
