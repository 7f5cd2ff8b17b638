/*
 * subject.h - the subject: the program that is tuned, from its file name to its space.
 *
 * --graph names a file that user_program.h reads, or a program that a kind of decision makes. With a plugin, one
 * compile gives the module before the stage of the decision, on which the space is built, and the module after it, from
 * which the compiler's defaults are read back. With `sim`, or without a plugin, the program is taken as it is, and the
 * defaults come from a rule of the kind. If opening took long, the next time starts from what was kept (opened.h).
 */
#ifndef READY_SUBJECT_H
#define READY_SUBJECT_H

#include "device/device.h"
#include "ready/opened.h"
#include "space/space.h"

struct subject { /* all zero is empty */
	char *name;	     /* file name without folders and endings */
	struct buf original; /* HloModuleProto bytes as given (or lowered): what the user runs */
	struct graph graph;  /* before the decisions, restated or flattened where that was needed (space.h) */
	struct buf bytes;    /* ... its bytes, as the store keeps them */
	struct space *space;
	char *decoded;	     /* how the default decodes, one sentence */
	double extract_seconds; /* that compiling took, now or when it was opened before */
	struct opened opened;	/* what opening it taught, now or before */
	bool known;		/* was it opened before? Then nothing was compiled */
	bool regions;		/* does the kind price by regions, so that turns of loops count? */
};

int subject_open(struct subject *s, const char *path, const char *space_kind, struct device *d,
	struct err *err);
void subject_release(struct subject *s);
/*
 * Is what the compiler's stage makes of the program many times as large? Then its kernels are large, and repeat each
 * other's work. Such a program takes minutes to compile and longer to run than it need.
 */
bool subject_is_blown(const struct subject *s);
/* Bytes of what goes into a program and what comes out: the least that running it takes. */
uint64_t subject_least_memory(const struct graph *g);

#endif
