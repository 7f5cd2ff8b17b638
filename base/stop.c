/*
 * stop.c - installs the handlers of signals, which only set a flag.
 */
#include "base/stop.h"

#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <unistd.h>

#define STATUS_INTERRUPTED 130

static atomic_int asked, at_second;
_Static_assert(ATOMIC_INT_LOCK_FREE == 2, "only a lock-free atomic may be used in a signal handler");

static void on_signal(int sig)
{
	(void)sig;
	if (atomic_exchange(&asked, 1) && atomic_load(&at_second))
		_exit(STATUS_INTERRUPTED);
}

/* A parent that ended before prctl cannot be waited for any more. Our own children have another parent. */
static void stop_with_parent(void)
{
	const char *parent = getenv(STOP_PARENT);

	if (!parent)
		return;
	prctl(PR_SET_PDEATHSIG, SIGTERM);
	if (strtol(parent, NULL, 10) != getppid())
		raise(SIGTERM);
	unsetenv(STOP_PARENT);
}

void stop_on_signals(enum stop_how how)
{
	struct sigaction stop = {.sa_handler = on_signal}, ignore = {.sa_handler = SIG_IGN};

	sigaction(SIGXFSZ, &ignore, NULL);
	if (how != STOP_BY_DEFAULT) {
		atomic_store(&at_second, how == STOP_AT_SECOND);
		sigaction(SIGINT, &stop, NULL);
		sigaction(SIGTERM, &stop, NULL);
	}
	stop_with_parent();
}

bool stop_asked(void)
{
	return atomic_load(&asked);
}

void stop_ask(bool stop)
{
	atomic_store(&asked, stop);
}

bool stop_ends_at_second(void)
{
	return atomic_load(&at_second);
}
