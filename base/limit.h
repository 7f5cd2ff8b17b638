/*
 * limit.h - a limit: a bound on what a program may cost in a quantity other than the objective.
 *
 * A search has one objective, the quantity that it makes small, and any number of limits. A limit is relative to what
 * the compiler's own program costs, or absolute:
 *
 *	seconds:+2%	at most 2% more than the default
 *	bytes:+0%	no more than the default
 *	bytes:-10%	at least 10% less
 *	bytes:16GiB	at most so much, whatever the default needs
 *
 * A figure with a sign and without % is refused: whoever writes seconds:+2 means 2% more, not 2 seconds.
 */
#ifndef BASE_LIMIT_H
#define BASE_LIMIT_H

#include "base/buf.h"
#include "base/quantity.h"

#define LIMITS_MOST QUANTITY_COUNT /* one for each quantity */

struct limit {
	enum quantity quantity;
	bool relative;
	double bound; /* if relative: how much more than the default, as a share; otherwise a figure in the base unit */
};

/* Reads one limit, written as above. */
int limit_read(const char *text, struct limit *out, struct err *err);
/*
 * Reads several limits with "," between them; NULL: none. There is at most one for each quantity. -1 with a sentence.
 */
int limits_read(const char *list, struct limit out[LIMITS_MOST], uint32_t *n, struct err *err);
/* The largest figure that is allowed if the default costs `dflt`. */
double limit_allows(const struct limit *l, double dflt);
/* How far a cost is beyond the limit, as a share of what is allowed; 0 if it keeps the limit. */
double limit_excess(const struct limit *l, double dflt, double cost);
/* Writes a limit as people read it: "seconds:+2%", "bytes:16 GiB". */
void limit_text(const struct limit *l, struct buf *out);

#endif
