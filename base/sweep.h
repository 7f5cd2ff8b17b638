/*
 * sweep.h - takes away what killed processes left beside a file.
 *
 * io_open_neighbour names its files PATH.PID.N.tmp. A process that is killed leaves such a file, and perhaps others
 * whose names begin like it, which SQLite makes beside its own (...tmp-journal).
 */
#ifndef BASE_SWEEP_H
#define BASE_SWEEP_H

#include <stdbool.h>

/* Is there no such process on this machine? */
bool sweep_is_gone(long pid);
/*
 * Removes the neighbours of `path` whose processes are gone, as far as they are ours. Call it only while no other
 * machine or container can be writing such files, for they have processes that are not seen from here: with a lock.
 */
void sweep_neighbours(const char *path);

#endif
