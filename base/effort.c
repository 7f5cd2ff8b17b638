/* effort.c - the rules of schemas/outcome.def. */
#include "base/effort.h"
#include "base/err.h"

/* How many times the effort must be. A machine's load and free memory vary by less from one minute to the next. */
#define MORE_TIME 1.5
#define MORE_MEMORY 1.25

enum retry { RETRY_NEVER, RETRY_TIME, RETRY_MEMORY, RETRY_RUN };

static const enum retry rule[] = {
#define OUTCOME(id, name, meaning, retry) RETRY_##retry,
#include "schemas/outcome.def"
#undef OUTCOME
};

/* The seconds of a core that the attempt got: a loaded core is shared. */
static double time_of(const struct effort *e)
{
	return e->deadline / (e->load > 1 ? e->load : 1);
}

bool effort_retries(enum outcome o, const struct effort *then, const struct effort *now, bool same_run)
{
	BUG_ON((unsigned)o >= OUTCOME_COUNT);
	switch (rule[o]) {
	case RETRY_TIME:
		return time_of(now) > MORE_TIME * time_of(then);
	case RETRY_MEMORY:
		return (double)now->memory > MORE_MEMORY * (double)then->memory;
	case RETRY_RUN:
		return !same_run;
	default:
		return false;
	}
}
