/*
 * stations.h - workers of a verdict that load their executables side by side, to be timed one after the other.
 *
 * Where compiling is dear, all workers of a verdict load what the first one compiled. Loading a large executable takes
 * ten seconds and one thread, and there are six workers with two sides. So as many workers as there are cores begin
 * together, each on any core; then each moves to the core on which all of them time, and nothing else runs.
 */
#ifndef SEARCH_STATIONS_H
#define SEARCH_STATIONS_H

#include "device/device.h"

struct stations;
/* A worker of a verdict, alone or at one of the stations. */
struct worker { /* all zero: none yet */
	struct device *device;
	struct compiled *ready; /* both sides, if they were loaded beforehand; loading may have failed */
	struct stations *at;
	size_t left; /* of the stations, which are used from the last to the first */
	size_t room; /* for so many stations: as many as there are cores to load on */
};
/*
 * Opens the next of `left` workers, after the one before was closed. If there are executables of both sides, and cores
 * to load them on, some workers are opened together. `o` NULL: there is no device. `side` NULL: nothing was kept.
 */
int worker_next(struct worker *w, const struct device_options *o, const struct buf *side, size_t left, struct err *err);
void worker_close(struct worker *w);
void stations_close(struct stations *s); /* when there is no next one; accepts NULL */

#endif
