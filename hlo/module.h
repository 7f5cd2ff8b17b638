/*
 * module.h - tells which form of an HLO module some bytes are, and unpacks the message in them.
 */
#ifndef HLO_MODULE_H
#define HLO_MODULE_H

#include <stddef.h>
#include "base/err.h"
#include "base/mem.h"
#include "schemas/hlo.pb-c.h"

/* The form of a program's bytes, told by their content. */
enum hlo_format {
	HLO_UNKNOWN,
	HLO_PROTO,
	HLO_TEXT,
	HLO_MLIR,
	HLO_COST_GRAPH, /* hlo/text/cost_graph.h */
	HLO_STORE	/* no program, but a store of measurements, which people name by mistake */
};
enum hlo_format hlo_sniff(const void *p, size_t n);

/* Unpacks the module from an HloModuleProto or a message around one, into `mem`; NULL with a sentence. */
Hlo__HloModuleProto *hlo_unpack(struct arena *mem, const void *p, size_t n, const char *name,
	struct err *err);

#endif
