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
	struct buf tail; /* the end of what it printed since the last good answer, from the start of a line */
	bool listen;	 /* set before the start: tail keeps all that is printed, also before good answers */
	/* NAME=VALUE, up to a NULL: added to the worker's environment; NULL: it gets ours */
	const char *const *environment;
	/* asked now and then while a reply is waited for; true: nobody wants it any more; NULL: it is always wanted */
	bool (*unwanted)(void *ctx);
	void *ctx;
	void (*watch)(void *watcher, pid_t pid); /* as in device_options */
	void *watcher;
	int status;	 /* as from waitpid, of the last one that ended */
	uint32_t next_id;
};

/* Starts the program with a socket pair, by exec. Returns -1 with a sentence; then nothing is left of it. */
int child_start(struct child *c, const char *program, struct err *err);

/*
 * How long a reply is waited for. First `seconds` by the clock. After that the wait goes on while the child is
 * computing and has had less than `seconds` of processor time, up to `most` seconds by the clock. So on a busy machine
 * an answer is late, but not lost, and a child that waits for something that never comes is ended after `seconds`. A
 * caller that has no use for a late answer sets `until`. A child that has nothing to wait for, and sleeps, is ended
 * after `asleep`: its threads wait for each other.
 */
struct patience {
	double seconds, most; /* most <= seconds: the clock on the wall is all that counts */
	double until;	      /* the clock (now_seconds) at which it is over in any case; 0: none */
	bool heeds_stop;      /* it is over, too, once the user asks the program to stop */
	double asleep;	      /* seconds for which no thread of the child may want to run; 0: any number */
};

enum exchange {
	EXCHANGE_OK,
	EXCHANGE_TIMEOUT,
	EXCHANGE_STALLED,
	EXCHANGE_DIED,
	EXCHANGE_BROKEN,
	EXCHANGE_UNWANTED
};
/*
 * Sends a request and receives its reply. After any result but EXCHANGE_OK the child has been killed and reaped, and
 * `status` and `tail` tell how it ended.
 */
enum exchange child_exchange(struct child *c, enum wire_type type, const struct buf *request,
	struct patience patience, struct frame *reply);

/* Lets it quit, or kills it; reaps; closes. Accepts one that is not running. */
void child_stop(struct child *c);
void child_release(struct child *c); /* child_stop, and frees tail */

#endif
