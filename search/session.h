/*
 * session.h - everything that one search has open: the store, the device, the program, the model, the hunt.
 *
 *	session_open(&s, &err)		opens all but the hunt
 *	session_identify(&s)		writes what decides the course of the search into s.identity and s.where
 *	hunt_begin(&s.hunt, ...)
 *	session_begin(&s, &err)		goes on from a saved state, or begins a run
 *	session_close(&s)		at the end, also after a failure
 *
 * A search with --resume goes on with the run in the store, where every evaluation is committed with the state after
 * it. Without a store it goes on with the state in the folder, which is at most a few seconds old and never older than
 * the best. Both stay until the search has used up its budget: a search that time or a signal ended has given its
 * answer and can still go on. Only a search with the same identity goes on from a state.
 */
#ifndef SEARCH_SESSION_H
#define SEARCH_SESSION_H

#include "search/advisor.h"
#include "search/aims.h"
#include "search/by_hand.h"
#include "search/hunt.h"
#include "search/form.h"
#include "search/rival.h"
#include "search/scorer.h"
#include "search/screen.h"
#include "search/settings.h"
#include "search/trim.h"
#include "search/verdict.h"
#include "search/worth.h"

struct session { /* all zero but `set` and `before` is empty */
	const struct settings *set;
	struct device_options device_options;
	struct device *device; /* NULL: the cost is a formula, or it was given back */
	struct archive archive;
	struct lab lab;
	struct advisor advisor;
	struct model_scorer scoring;
	struct hunt hunt;
	struct verdict verdict;
	struct by_hand by_hand; /* made by hand, of kinds that have such */
	struct screen screen;	/* where another device says what is worth pricing */
	struct rival_answer rival; /* what it believes, if one chose */
	struct trim trim;
	struct form form; /* of the answer as a whole */
	struct worths worth;	/* of what was found beside them */
	struct buf dir, identity; /* folder of the result; JSON */
	struct buf where; /* what its figures are true of (output.h) */
	const char *next; /* the kinds that go on with the program that comes of this one, with commas; NULL: none */
	struct spares ahead; /* the compiler's own program, compiled already (ahead.h) */
	uint8_t *given; /* the configuration of --from */
	/* The search of another kind that decided first, or NULL. This one's program is what came of its decisions. */
	struct session *before;
	const struct session *first; /* likewise, also if it found nothing and the program is the user's own */
	char made_by[sizeof((struct device_info *)0)->compile_options]; /* how to compile what this one hands over */
	struct aims *aims; /* of all the kinds; NULL: there is one kind */
	bool beyond; /* what the kinds before made needs too much memory in every arrangement; nothing was answered */
	int start; /* of enum hunt_start */
	double began, opening; /* clock at the beginning; seconds until the search */
	struct device_info info; /* of the device, also when it was given back; `backend` empty: there is none */
};

int session_open(struct session *s, struct err *err);
/* Only the device, for the kind of decision of the settings. */
int session_open_device(struct session *s, struct err *err);
/* Does the user's wish to stop end what the device is asked? From session_open on it does, for the first kind. */
void session_heed_stop(struct session *s, bool heed);
/*
 * What to say if it could not be opened, perhaps because the user wants no more; returns -1. 1: the user wants no more,
 * and a kind before this one found nothing, which is an answer.
 */
int session_not_opened(const struct session *s, struct err *err);
bool session_bundles(const struct session *s); /* does it try bundles of flips? */
/* Closes the device, because a verdict wants a fresh worker on the same core, and another kind a device of its own. */
void session_give_back(struct session *s);
/* Closes the store, because another kind writes into the same one, which has one writer at a time. */
void session_leave_store(struct session *s);
void session_identify(struct session *s);
struct state_of session_state(const struct session *s); /* what a saved state is of */
int session_begin(struct session *s, struct err *err);
void session_close(struct session *s);
/* The folder of the result if the user names none: big.pb.zst gives big.tuned. */
void session_default_dir(const char *graph, struct buf *out);

#endif
