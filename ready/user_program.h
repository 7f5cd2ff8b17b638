/*
 * user_program.h - whatever a user names as a program, as a graph.
 *
 * HloModuleProto, HloProto, HLO text and StableHLO (text or bytecode), each also packed with zstd, or
 * the folder that a run with --xla_dump_to wrote. StableHLO is lowered by a compiler's plugin: by `d`,
 * or, where `d` is NULL or our performance model, by the backend that is used where none was asked for.
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
void user_program_release(struct user_program *p);

#endif
