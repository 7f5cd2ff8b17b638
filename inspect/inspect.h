/*
 * inspect.h - the views of the program `inspect`, one function each.
 *
 * The user asks for one view by an option (--dot, --nodes ...); if none is asked for, it is the summary. A view writes
 * to `out`, which main prints, or returns -1 with a sentence.
 */
#ifndef INSPECT_INSPECT_H
#define INSPECT_INSPECT_H

#include <stdbool.h>
#include <stdint.h>
#include "base/buf.h"
#include "device/device.h"
#include "graph/graph.h"

struct inspect_settings {
	bool json, dot, hlo, space, pipeline, memory;
	const char *nodes, *around;
	const char *space_kind, *flip, *device;
	int64_t hops, replicas, partitions;
};

struct inspection {
	const struct inspect_settings *set;
	const char *path;
	const struct graph *graph; /* for views that need only the graph; NULL for the others, which read `path` */
	struct buf *out;
	struct err *err;
};

int inspect_summary(struct inspection *in);
int inspect_nodes(struct inspection *in);
int inspect_dot(struct inspection *in);
int inspect_decisions(struct inspection *in);
int inspect_device(struct inspection *in);
/* A device that gives up what it is asked for when the user stops the program. */
struct device *inspect_open(const struct device_options *o, struct err *err);
int inspect_memory(struct inspection *in);
int inspect_pipeline(struct inspection *in); /* needs no file */

#endif
