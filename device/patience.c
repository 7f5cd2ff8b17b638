/*
 * patience.c - decides how long we wait for a worker's answer.
 *
 * No fixed time suits both a region that runs for a microsecond and a language model of which one run takes half a
 * minute. So an answer gets the time in which any machine compiles a small program, more of it the larger the request
 * is, and many times the seconds that the same work (compiling, or a run) took before. All this is processor time of
 * the worker (child.h), because on a shared machine an answer takes longer, and is as good.
 *
 * The user's own program is compiled and run for the first time when nothing was seen yet. It is known to work, so it
 * gets about an hour. Whoever does not want to wait that long gives a deadline, which then bounds each answer. Only
 * starting the worker is not bounded by it: loading a plugin takes a second or more, however short the programs are.
 * VANTAGE_WORKER_START gives another time for that, in seconds by the clock.
 *
 * A worker that runs a program on the host's cores has nothing to wait for. If for ASLEEP seconds none of its threads
 * wants to run, they wait for each other, and it is ended. (XLA:CPU 0.11.2 has a thread for each core. Some kernels
 * ask the other threads to help, and wait for them. In a program of products and Fourier transforms, on two cores, both
 * threads waited so. The verdict would have waited for an hour.) VANTAGE_ASLEEP gives another time.
 *
 * All this finds out whether a worker hangs. Whether anybody still wants its answer is another question (device_until).
 */
#include <math.h>
#include <stdlib.h>
#include "base/progress.h"
#include "base/stop.h"
#include "device/host.h"

#define ANSWER 120.0	   /* seconds that any answer may take */
#define ANSWER_BYTES 1048576.0 /* so many bytes of a request add as much again */
#define TIMES 20.0	   /* how many times as long as the same work took before */
#define FIRST 180.0	   /* seconds that a user's own program is expected to need while nothing is known */
#define CROWDED 20.0	   /* processes beside us that share the machine */
#define ASLEEP 30.0	   /* seconds */
#define RUNS_EACH 4.0	   /* of an instance: first runs, and the fewest pairs there are */

struct patience patience_to_start(void)
{
	const char *given = getenv("VANTAGE_WORKER_START");
	double seconds = given && *given ? strtod(given, NULL) : ANSWER;

	return (struct patience){.seconds = seconds, .most = given && *given ? 0 : CROWDED * seconds};
}

double patience_asleep(void)
{
	const char *given = getenv("VANTAGE_ASLEEP");

	return given && *given ? strtod(given, NULL) : ASLEEP;
}

struct patience host_patience(const struct host *h)
{
	double seconds = ANSWER * (1 + (double)h->request.len / ANSWER_BYTES) + TIMES * h->work;

	struct patience p = {.seconds = seconds, .most = CROWDED * seconds, .until = h->base.until,
		.heeds_stop = h->base.heeds_stop};

	if (h->deadline > 0) {
		p.seconds = h->deadline;
		p.most = 0;
	}
	return p;
}

double work_of_compiling(const struct host *h, bool patient)
{
	return fmax(h->longest_compile, patient ? FIRST : 0);
}

double work_of_measuring(const struct host *h, const struct precision *p, double compiling)
{
	double runs = RUNS_EACH * (p->instances > 1 ? p->instances : 1);

	return p->max_seconds + fmax(runs * h->longest_run, p->patient ? FIRST : 0) + compiling;
}

double work_of_comparing(const struct host *h)
{
	return 2 * RUNS_EACH * h->longest_run;
}

void device_until(struct device *d, double clock)
{
	d->until = clock;
}

void device_heed_stop(struct device *d, bool heed)
{
	d->heeds_stop = heed;
}

bool device_late(const struct device *d)
{
	return (d->until > 0 && now_seconds() >= d->until) || (d->heeds_stop && stop_asked());
}
