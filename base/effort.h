/*
 * effort.h - how hard something was tried, and when a failure is worth another try.
 *
 * A time-out says as much about the machine as about the program. So a failure is stored with its effort: the time and
 * the memory that the attempt had. It is tried again once the effort is clearly more. Which effort counts depends on
 * the outcome (schemas/outcome.def).
 */
#ifndef BASE_EFFORT_H
#define BASE_EFFORT_H

#include <stdbool.h>
#include <stdint.h>
#include "base/outcome.h"

struct effort {		 /* a member that is 0 is not known */
	double deadline; /* seconds that we wait for an answer */
	double load;	 /* programs that want to run, per core of the machine */
	uint64_t memory; /* bytes that were free for it */
};

/*
 * Something failed with outcome `o` and effort `then`: is it worth another try with effort `now`? An unknown effort
 * counts as less than any known one. `same_run`: it failed in this run.
 */
bool effort_retries(enum outcome o, const struct effort *then, const struct effort *now, bool same_run);

#endif
