/*
 * guard.c - ends a run that takes too long to be worth its answer.
 *
 * Some decisions make a compiler compute a thing anew for each of a million results: what ran for a millisecond runs
 * for an hour. Everything that matters is known after seconds, but no plugin can be asked to give up a run. So the
 * answer is written beforehand, and if the time passes, a signal sends it and ends the process; the host starts
 * another one.
 *
 * The handler may do little: it looks at clocks, sends what is ready, and exits. It comes again in short steps until
 * both the time and, where that is asked for, the processor's time have passed.
 */
#include "device/worker/guard.h"

#include <math.h>
#include <signal.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#define LONGEST 1024 /* bytes of an answer with its header */
#define STEPS 10     /* so many looks follow in each further span of the given time */

static struct {
	uint8_t frame[LONGEST];
	size_t n;
	double until, worked; /* by the clock; by the process's own */
} last;

static double clock_seconds(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void on_alarm(int signal)
{
	(void)signal;
	if (clock_seconds(CLOCK_MONOTONIC) < last.until || clock_seconds(CLOCK_PROCESS_CPUTIME_ID) < last.worked)
		return;
	(void)!send(WIRE_FD, last.frame, last.n, MSG_NOSIGNAL);
	_exit(0);
}

static void set_timer(double first, double step)
{
	struct itimerval t = {
		.it_value = {(time_t)first, (suseconds_t)(1e6 * (first - floor(first)))},
		.it_interval = {(time_t)step, (suseconds_t)(1e6 * (step - floor(step)))}};

	setitimer(ITIMER_REAL, &t, NULL);
}

void guard_begin(double seconds, bool working, enum wire_type type, uint32_t id, const struct buf *reply)
{
	struct sigaction action = {.sa_handler = on_alarm, .sa_flags = SA_RESTART};

	if (WIRE_HEADER + reply->len > LONGEST)
		return;
	wire_header(last.frame, type, id, reply->len);
	memcpy(last.frame + WIRE_HEADER, reply->data, reply->len);
	last.n = WIRE_HEADER + reply->len;
	last.until = clock_seconds(CLOCK_MONOTONIC) + seconds;
	last.worked = working ? clock_seconds(CLOCK_PROCESS_CPUTIME_ID) + seconds : 0;
	sigaction(SIGALRM, &action, NULL);
	set_timer(seconds, seconds / STEPS);
}

void guard_end(void)
{
	set_timer(0, 0);
}
