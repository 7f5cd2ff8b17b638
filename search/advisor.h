/*
 * advisor.h - finds the model that guides a search, and says what it was trained on.
 *
 * A model named with --model must fit; "none" names none. Otherwise it is the user's own or the shipped one
 * (learn/shelf.h); if none fits, the search has no advisor. A search that is resumed takes the model that it began
 * with, if that still exists: a night may have put another in its place meanwhile.
 */
#ifndef SEARCH_ADVISOR_H
#define SEARCH_ADVISOR_H

#include "learn/facts.h"
#include "learn/shelf.h"
#include "search/scorer.h"

struct advisor { /* all zero is none; advisor_release accepts it */
	struct model *model;
	struct infer *infer;
	struct rater *rater; /* NULL: it cannot rate moves of several flips */
	struct buf path;
	struct buf name;  /* what a saved search knows the model by: its checksum in hex */
	struct buf notes; /* the models that were passed over, and why: lines */
	enum facts_seen seen; /* was it trained on this program? */
};

struct advisor_options {
	struct shelf at;
	const char *named; /* the file given; NULL: look for one */
	const char *begun; /* how the search to go on from called its model; NULL: there is none */
};

/* Borrows the space. Returns 0 with or without a model, -1 if one was named and cannot be used. */
int advisor_open(struct advisor *a, const struct advisor_options *o, struct space *space, struct err *err);
void advisor_release(struct advisor *a);

/* How its model scores moves in that space, with or without learning from what is measured. */
struct model_scorer advisor_scoring(const struct advisor *a, struct space *s, enum infer_by by, bool learns);

/* One line: which model, from when, trained on what. */
void advisor_text(const struct advisor *a, struct buf *out);
void advisor_json(const struct advisor *a, struct json *j);

#endif
