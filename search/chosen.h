/*
 * chosen.h - configurations that somebody else than the hunt chooses: a rival's way of searching (rival.h), the kind of
 * decision itself, or another device that says what is worth pricing (screen.h).
 */
#ifndef SEARCH_CHOSEN_H
#define SEARCH_CHOSEN_H

#include "search/session.h"

#define SOLVE_SECONDS 60 /* a kind looks by itself so long, unless the user says how long */

/* Lets them choose, if the settings say so: s->given is then what was chosen, and the hunt only measures it. */
int chosen_by_others(struct session *s, bool *chosen, struct err *err);

#endif
