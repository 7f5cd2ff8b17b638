/*
 * probe.h - which passes a plugin runs, read from the plugin, and proved before anybody relies on it.
 */
#ifndef DEVICE_PROBE_H
#define DEVICE_PROBE_H

#include "device/host.h"
#include "device/pipeline.h"

/*
 * The passes of h's plugin at h's stage, and the options of that stage with their names filled in. Read once for a
 * build of a plugin and then kept on disk (*kept: it was). -1 with a sentence where the pipeline is not understood;
 * `out` is then filled all the same as far as it was read.
 */
int probe_pipeline(struct host *h, struct pipeline *out, struct buf *apply, bool *kept, struct err *err);

/* Where it is kept; empty where there is no home. */
void probe_path(const struct host *h, struct buf *out);

#endif
