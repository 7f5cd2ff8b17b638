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

/* Opens the session, and searches until the budget is used up. */
int single_search(struct session *s, struct err *err);
/* Judges what was found, and writes all files. */
int single_conclude(struct session *s, struct err *err);
/* What a result is made from; `info` is NULL if there is no device. */
struct result single_result(struct session *s, const struct device_info *info);

#endif
