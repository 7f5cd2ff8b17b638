/*
 * crew.h - the threads with which a plugin compiles, and the cores that they use.
 *
 * A worker is pinned to the cores on which its programs run, and XLA:CPU makes as many threads for compiling as the
 * process may use cores at its first compilation. So a worker on one core compiled on one core, for minutes, while
 * others were idle. Here the plugin makes its threads while more cores are allowed; they use these only for programs
 * that are worth it, and otherwise those of the worker. What decides about a program is the thread that asks for it to
 * be compiled, which never leaves the worker's cores: the program that comes out is the same.
 *
 *	crew_raise	once, after the plugin was opened and before anything is compiled
 *	crew_spread	before a large compilation
 *	crew_gather	after it: nothing of the worker runs elsewhere then
 */
#ifndef DEVICE_WORKER_CREW_H
#define DEVICE_WORKER_CREW_H

#include <stddef.h>
#include "device/worker/pjrt.h"

struct crew;
/* `own`: the worker's cores; `other`: more cores to compile on. NULL: there are none, or the plugin has no threads. */
struct crew *crew_raise(struct pjrt *p, const int *own, size_t n_own, const int *other, size_t n_other);
/*
 * Lets the threads use the other cores, but none on which another process measures; that is looked at again and again
 * until crew_gather. Accept NULL.
 */
void crew_spread(struct crew *c, bool caller); /* `caller`: the calling thread as well, which only loads */
void crew_gather(struct crew *c);
size_t crew_others(const struct crew *c, const int **core); /* the cores beside the worker's own; accepts NULL */

#endif
