/*
 * lock.h - locks for what only one program of this host may measure on at a time: a core, or an accelerator.
 *
 * A lock is an flock on a small file in $VANTAGE_LOCK_DIR (or /tmp), which is named after what is locked. The kernel
 * releases it when the process ends, in whatever way.
 */
#ifndef DEVICE_LOCK_H
#define DEVICE_LOCK_H

#include <stdbool.h>
#include "base/err.h"

struct lock { /* all zero is empty; lock_release accepts it */
	bool held;
	int fd; /* if it is held */
	char path[256];
};

/*
 * Returns 1: locked; 0: another process has the lock; -1: error, with a sentence. `name` becomes part of the file's
 * name; `what` ("cpu on core 3") is for sentences. With `wait` it never returns 0; if it has to wait, it says so on
 * stderr once.
 */
int lock_take(struct lock *l, const char *name, const char *what, bool wait, struct err *err);
void lock_release(struct lock *l);

/*
 * Does another process hold a lock whose name has this ending? Asking disturbs nobody. Returns false if the system does
 * not say who holds locks.
 */
bool lock_claimed(const char *ending);

/* After lock_take returned 0: the process that has the lock, as the file names it; 0: unknown. */
long lock_holder(const struct lock *l);

#endif
