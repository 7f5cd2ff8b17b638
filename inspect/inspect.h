/*
 * inspect.h - what the program `inspect` can show, one function per view.
 *
 * A view is asked for by an option (--dot, --nodes ...); the first one asked for is shown, and where
 * none is, the summary. It writes to `out`, which main prints, or returns -1 with a sentence.
 */
#ifndef INSPECT_INSPECT_H
#define INSPECT_INSPECT_H

#include <stdbool.h>
#include <stdint.h>
#include "base/buf.h"
#include "graph/graph.h"

struct inspect_settings {
	bool json, dot, hlo, space, pipeline, memory;
	const char *nodes, *around;
	const char *space_kind, *flip, *device;
	int64_t hops;
};

struct inspection {
	const struct inspect_settings *set;
	const char *path;
	const struct graph *graph; /* of the views that need nothing else; NULL for --space and --device */
	struct buf *out;
	struct err *err;
};

int inspect_summary(struct inspection *in);
int inspect_nodes(struct inspection *in);
int inspect_dot(struct inspection *in);
int inspect_decisions(struct inspection *in);
int inspect_device(struct inspection *in);
int inspect_memory(struct inspection *in);
int inspect_pipeline(struct inspection *in); /* needs no file */

#endif
