/*
 * subject.h - the program under tuning: from a file name to a space.
 *
 * Opens whatever --graph names: what program.h reads, or a program that a kind of space makes. With a plugin, one
 * compile gives the module before the fusion pass, which the space is built on, and the one after, from which the
 * compiler's defaults are decoded. With `sim` or without a plugin the program is taken as it is, and
 * the default is the greedy rule of space/fusion/fusion.h. A program that took long to open is opened from what was kept of it the
 * next time (opened.h).
 */
#ifndef READY_SUBJECT_H
#define READY_SUBJECT_H

#include "device/device.h"
#include "ready/opened.h"
#include "space/space.h"

struct subject { /* all zero is empty */
	char *name;	     /* file name without folders and endings */
	struct buf original; /* HloModuleProto bytes as given (or lowered): what the user runs */
	struct graph graph;  /* before fusion, restated where that was needed (space.h) */
	struct buf bytes;    /* ... its bytes, as the store keeps them */
	struct space *space;
	char *decoded;	     /* how the default decodes, one sentence */
	double extract_seconds; /* of compiling; when it was opened before: then */
	struct opened opened;	/* what it taught, or was taught before */
	bool known;		/* it was opened before: nothing was compiled */
};

int subject_open(struct subject *s, const char *path, const char *space_kind, struct device *d,
	struct err *err);
void subject_release(struct subject *s);

#endif
