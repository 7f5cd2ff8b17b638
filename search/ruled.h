/*
 * ruled.h - what a hunt decided by each rule of its kind (space_ops.rule).
 *
 * A rule that does harm in one place mostly does so in others. So where an answer is at fault and may be right for the
 * most part, what follows one rule is taken back, and the rest is tried again.
 */
#ifndef SEARCH_RULED_H
#define SEARCH_RULED_H

#include "search/hunt.h"

struct ruled { /* what follows one rule, and did not in the configuration before */
	uint32_t rule, site, places; /* site: one of them */
	double change;		     /* believed: seconds of the program by the steps that took its choices */
};

/* Lists the rules of what differs from `before`, the one that is believed to gain least first; the caller frees it. */
struct ruled *ruled_list(const struct hunt *h, const uint8_t *before, size_t *n);
/* Writes a configuration like `of`, which may be `out`, but as before where it follows the rule and did not. */
void ruled_without(const struct hunt *h, uint32_t rule, const uint8_t *of, const uint8_t *before, uint8_t *out);
/* The rule's name: what comes before the colon in the words for a choice. */
void ruled_name(const struct hunt *h, const struct ruled *r, char *name, size_t room);

#endif
