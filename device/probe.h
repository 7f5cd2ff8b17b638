/*
 * probe.h - which passes a plugin runs, read from the plugin, and proved before anybody relies on it.
 */
#ifndef DEVICE_PROBE_H
#define DEVICE_PROBE_H

#include "device/host.h"
#include "device/pipeline.h"

/*
 * Finds the passes of h's plugin at h's stage, and the options of that stage with the names of passes filled in. They
 * are read once for each build of a plugin, and then kept on disk (*kept: they were there). Fails if the pipeline is
 * not understood; `out` then has what was read of it.
 */
int probe_pipeline(struct host *h, struct pipeline *out, struct buf *apply, bool *kept, struct err *err);

/* The program that is compiled for it, as HLO text. */
const char *probe_program(void);

/* Where it is kept; empty where there is no home. */
void probe_path(const struct host *h, struct buf *out);

#endif
