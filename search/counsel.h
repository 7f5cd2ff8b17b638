/*
 * counsel.h - what a guided search would try next, for optimisers that search in their own way.
 *
 *	rc = counsel_open(&c, &lab, &options, &err)
 *	counsel_propose(&c, from, &rng, config)		a candidate, from where the asker stands
 *	counsel_told(&c, from, to, &delta)		... and of every price what it showed
 *	counsel_release(&c)
 *
 * It is the hunt's own proposal (propose.c) with its own model, guide and options, so an optimiser that keeps what is
 * better and asks again does what a search does before it measures twice. As there, what was tried and not taken is not
 * proposed again until something near it changes, copies that stand alike move together, and a model that learns is
 * told what moves cost. It asks nothing of the device.
 */
#ifndef SEARCH_COUNSEL_H
#define SEARCH_COUNSEL_H

#include "search/advisor.h"
#include "search/hunt.h"
#include "search/scorer.h"

struct counsel { /* all zero is closed; counsel_release accepts it; not to be moved once open */
	bool open;
	struct advisor advisor;
	struct model_scorer scoring;
	struct hunt hunt; /* it only proposes */
};

struct counsel_options {
	const char *backend, *model; /* model NULL: the user's or the shipped one */
	uint64_t budget;	     /* prices that there will be: the fewer, the fewer sites are picked from */
};

/*
 * Borrows the lab. -1 with a sentence also where nothing speaks for any flip: no model, and a kind that promises
 * nothing.
 */
int counsel_open(struct counsel *c, struct lab *lab, const struct counsel_options *o, struct err *err);
void counsel_release(struct counsel *c);

/*
 * n_sites bytes each, which may be the same. false: every flip near `from` was tried, and random ones around it changed
 * nothing.
 */
bool counsel_propose(struct counsel *c, const uint8_t *from, struct rng *rng, uint8_t *config);
/* A move was priced in the objective. What does not begin where the last proposal did teaches nothing. */
void counsel_told(struct counsel *c, const uint8_t *from, const uint8_t *to, const struct delta *d);
/* The model's path, or "promise": what the kind's own rules promise. */
const char *counsel_by(const struct counsel *c);

#endif
