/*
 * lock.h - what only one program of this host may measure on at a time: a core, or an accelerator.
 *
 * A lock is an flock on a small file in $XDG_RUNTIME_DIR (or /tmp), named after what is locked. It goes with the
 * process, however it ends.
 */
#ifndef DEVICE_LOCK_H
#define DEVICE_LOCK_H

#include <stdbool.h>
#include "base/err.h"

struct lock { /* all zero is empty; lock_release accepts it */
	int fd; /* 0: none */
	char path[256];
};

/*
 * 1 locked, 0 taken by somebody, -1 error. `name` becomes part of the file's name; `what` ("cpu on core 3") is
 * for sentences. With `wait` it is never 0, and if it has to wait it says so on stderr, once.
 */
int lock_take(struct lock *l, const char *name, const char *what, bool wait, struct err *err);
void lock_release(struct lock *l);

/*
 * Does another process hold a lock whose name ends so? Nobody is disturbed by asking. False where the system does not
 * say who holds locks.
 */
bool lock_claimed(const char *ending);

/* The process that has it, as it wrote itself down; 0: unknown. After lock_take gave 0. */
long lock_holder(const struct lock *l);

#endif
