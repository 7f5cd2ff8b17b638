/*
 * aims.h - what is asked of each kind in a search that decides several, where the last one arranges the program in
 * memory ("fusion+order").
 *
 * If time is to be small, the first kinds make the program as fast as they can, whatever memory that takes. The last
 * one then arranges it within the limit on bytes, which is that of the default unless the user says otherwise. If no
 * arrangement is within the limit, what was decided before is given up, and the compiler's own program arranged. If
 * bytes are to be few, all kinds make them few, within the limit on time. The verdict is on what comes of all of them.
 */
#ifndef SEARCH_AIMS_H
#define SEARCH_AIMS_H

#include "base/limit.h"
#include "search/settings.h"

struct aims { /* all zero: each kind gets what the user says */
	bool joint;		/* the last kind arranges what the others made */
	const char *graph;	/* the user's own program */
	bool fast;		/* time is what is made small */
	struct limit room;	/* then: the limit on bytes */
	const char *time_limit; /* else: the limit on time, as the user writes it */
	struct buf handed; /* the kinds whose folders this search has written: ",rewrite,order," */
};

/* Reads what the user wants of the kinds in set->space. -1 with a sentence if that is not to be had. */
int aims_read(struct aims *a, const struct settings *set, struct err *err);
/* Sets objective and limits for a kind: the last one, or one before it. `set` then borrows its limits from `a`. */
void aims_take(struct aims *a, bool last, struct settings *set);

#endif
