/*
 * ahead.h - opens a large program for a later kind of decision before an earlier one begins.
 *
 * A kind that decides about the user's own program has it compiled, to run it beside its answer. A kind that decides
 * at a pass of the compiler has it compiled to see what that pass does. Both are one compilation, which takes minutes
 * for a large program. So such a program is first opened for the later kind. What that teaches is kept
 * (ready/opened.h), in case the earlier kind finds nothing, and the earlier one gets the executable. It also knows then
 * how long a program takes to compile, before it has one compiled.
 */
#ifndef SEARCH_AHEAD_H
#define SEARCH_AHEAD_H

#include "search/session.h"

/*
 * Does so before s is opened, if that saves anything. s->ahead gets the executable. Returns whose turn it is (enum
 * lead_turns); -1: error.
 */
int ahead_open(struct session *s, struct err *err);
/* Gives it to the open session. */
void ahead_take(struct session *s);

#endif
