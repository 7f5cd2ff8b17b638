/*
 * effort.h - how hard something was tried, and when a failure is worth another try.
 *
 * A time-out says as much about the machine as about the program: so a failure is kept with the effort it was made
 * with, and what failed is tried again once the effort is clearly more. What "more" means depends on the outcome
 * (schemas/outcome.def).
 */
#ifndef BASE_EFFORT_H
#define BASE_EFFORT_H

#include <stdbool.h>
#include <stdint.h>
#include "base/outcome.h"

struct effort {		 /* a member that is 0 is not known */
	double deadline; /* seconds an answer was waited for */
	double load;	 /* programs that want to run, per core of the machine */
	uint64_t memory; /* bytes there were for it */
};

/*
 * Is what failed with `o` worth another try with the effort of now? An effort not known is less than any that is.
 * `same_run`: it failed in this run.
 */
bool effort_retries(enum outcome o, const struct effort *then, const struct effort *now, bool same_run);

#endif
