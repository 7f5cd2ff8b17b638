/*
 * user_program.h - opens a graph from whatever a user names as a program.
 *
 * It may be an HloModuleProto, an HloProto, HLO text, StableHLO (text or bytecode) or TensorFlow's CostGraphDef as text
 * (.pbtxt), each also packed with zstd, or the folder that a run with --xla_dump_to wrote. A compiler's plugin lowers
 * StableHLO: the plugin of `d`, or that of the default backend if `d` is NULL or our performance model.
 */
#ifndef READY_USER_PROGRAM_H
#define READY_USER_PROGRAM_H

#include "device/device.h"
#include "graph/graph.h"

struct user_program { /* all zero is empty */
	char *name;	    /* file name without folders and endings */
	struct graph graph; /* before all optimisation */
	struct extracted extracted; /* what `d` showed while lowering; else empty */
};

int user_program_fetch(struct user_program *p, const char *path, struct device *d, struct err *err);
/* Can the file be read without a compiler that lowers it? */
bool user_program_is_hlo(const char *path);
/* Does a path name a CostGraphDef? Of its operations only the memory is known, so no device can compile them. */
bool user_program_is_cost_graph(const char *path);
void user_program_release(struct user_program *p);

#endif
