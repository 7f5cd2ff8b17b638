/*
 * advisor.h - the model that guides a search: which one, and what it was trained on.
 *
 * One that was named with --model must fit. Otherwise it is the user's own or the shipped one (learn/shelf.h); where
 * none fits the search has no advisor. A search that is taken up again takes the model it began with, as
 * long as that one still stands somewhere: a night may have put another in its place meanwhile.
 */
#ifndef SEARCH_ADVISOR_H
#define SEARCH_ADVISOR_H

#include "learn/facts.h"
#include "learn/infer.h"
#include "learn/shelf.h"

struct advisor { /* all zero is none; advisor_release accepts it */
	struct model *model;
	struct infer *infer;
	struct buf path;
	struct buf name;  /* what a saved search knows the model by: its checksum in hex */
	struct buf notes; /* what had to be passed over: lines */
	enum facts_seen seen; /* was it trained on this program? */
};

struct advisor_options {
	struct shelf at;
	const char *named; /* the file given; NULL: look for one */
	const char *begun; /* how the search to go on from called its model; NULL: there is none */
};

/* Borrows the space. 0 with or without a model, -1 where one was named and is of no use. */
int advisor_open(struct advisor *a, const struct advisor_options *o, struct space *space, struct err *err);
void advisor_release(struct advisor *a);

/* One line: which model, from when, trained on what. */
void advisor_text(const struct advisor *a, struct buf *out);
void advisor_json(const struct advisor *a, struct json *j);

#endif
