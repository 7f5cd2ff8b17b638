/*
 * lead.h - several kinds of decision, one after the other: which of them, if the user names none, and how much of a
 * search the first ones may take.
 */
#ifndef SEARCH_LEAD_H
#define SEARCH_LEAD_H

#include "search/hunt.h"
#include "search/settings.h"

#define LEAD_AUTO "auto"

/*
 * Puts kinds in the place of LEAD_AUTO: the default one, after another that leads to it if that promises something of
 * this program; with --from, those that were decided there. Says so. A program that only the user's own plugin can
 * lower is looked at when it is open: until then it gets the default kind, and set->kinds_open.
 */
void lead_settle(struct settings *set);
/* The program is open: should another kind lead after all? */
bool lead_belatedly(const struct settings *set, const struct graph *g);
/* Sets both kinds, and says so. */
void lead_take(struct settings *set);

/* Is it worth deciding first what leads to the default kind, in a program that takes `seconds` at the least? */
bool lead_promises(const struct graph *g, double seconds);

/*
 * With --from, a kind that others follow stays as it was decided, in the folder of its name there; the last one goes
 * on. `path` keeps the name of that folder.
 */
void lead_from(const char *kind, struct buf *path, struct settings *set);
/* Sets what a kind that others follow may take, `set` being all that is left. */
void lead_allow(struct hunt_options *o, const struct settings *set);
/*
 * Is there time for a kind that is not the user's to hand on what it finds in the program, which is opened for a later
 * kind? If not, says which of them is left out. Compiling and loading are the least that a check of the whole program
 * takes.
 */
enum lead_turns {LEAD_BOTH, LEAD_FIRST, LEAD_LATER}; /* who decides: both kinds, or one of them alone */
enum lead_turns lead_turns(const struct settings *set, const struct subject *program);
/*
 * Bounds the hunt of a kind that is not the user's: by what opening the program took, if the seconds are not the user's
 * either; and to nothing, if a check of the whole program would take several times the seconds.
 */
void lead_bound(struct hunt *h, const struct settings *set, double opening);
/* Takes from the settings what such a kind used. */
void lead_spend(const struct hunt *h, struct settings *set);
/* Did it find anything that others should go on with? */
bool lead_found(const struct hunt *h);

#endif
