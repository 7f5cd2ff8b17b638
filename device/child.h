/*
 * child.h - a worker process: started by exec, spoken to with deadlines, killed and reaped.
 */
#ifndef DEVICE_CHILD_H
#define DEVICE_CHILD_H

#include <stdbool.h>
#include <sys/types.h>
#include "device/wire.h"

struct child { /* all zero: none running */
	pid_t pid;
	int fd;		 /* our end of the socket pair */
	int stderr_fd;	 /* what the worker and its plugin print; -1 when closed */
	struct buf tail; /* the last of that since the last good answer, from the start of a line */
	bool listen;	 /* set before the start: tail keeps all of it, good answers or not, */
	/* NAME=VALUE, up to a NULL: added to the worker's environment; NULL: it gets ours */
	const char *const *environment;
	int status;	 /* as from waitpid, of the last one that ended */
	uint32_t next_id;
};

int child_start(struct child *c, const char *program, struct err *err);

/*
 * How long a reply is waited for: `seconds`, and after that for as long as the child goes on computing and was given
 * less processor time than that, `most` seconds in all. So a busy machine delays an answer and does not forbid it,
 * while a child that waits for something that never comes is ended after `seconds`. Whoever has no use for a late
 * answer says until when.
 */
struct patience {
	double seconds, most; /* most <= seconds: the clock on the wall is all that counts */
	double until;	      /* the clock (now_seconds) at which it is over in any case; 0: none */
};

enum exchange { EXCHANGE_OK, EXCHANGE_TIMEOUT, EXCHANGE_DIED, EXCHANGE_BROKEN };
/*
 * Sends a request and receives its reply. After anything but OK the child has been killed and
 * reaped, nothing of it is left, and status and tail tell about its end.
 */
enum exchange child_exchange(struct child *c, enum wire_type type, const struct buf *request,
	struct patience patience, struct frame *reply);

/* Lets it quit, or kills it; reaps; closes. Accepts one that is not running. */
void child_stop(struct child *c);
void child_release(struct child *c); /* child_stop, and frees tail */

#endif
