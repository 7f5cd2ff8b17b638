/*
 * single.h - the search of one kind of decision: opens the program, finds a model, hunts, and asks for a verdict.
 */
#ifndef SEARCH_SINGLE_H
#define SEARCH_SINGLE_H

#include "search/output.h"
#include "search/session.h"

/* What single_search says beside 0 and -1: */
#define SINGLE_ANSWERED 1 /* the kind has already given its answer */
#define SINGLE_LED 2	  /* another kind should lead */
#define SINGLE_STOPPED 3  /* the user stopped it before it was open, and a kind before it found nothing */
#define SINGLE_ALONE 4	  /* another kind follows, for which there is no time; nothing is open */
#define SINGLE_LATER 5	  /* another kind follows, and there is time for that one alone; nothing is open */

/* Opens the session, and searches until the budget is used up. */
int single_search(struct session *s, struct err *err);
/* Judges what was found, and writes all files. */
int single_conclude(struct session *s, struct err *err);
/* Puts the answer into the store, if there is one, and ends this stint of the run. */
int single_end_run(struct session *s, const struct result *r, struct err *err);
/* What a result is made from. */
struct result single_result(struct session *s);

#endif
