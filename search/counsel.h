/*
 * counsel.h - tells an optimiser that searches in its own way what our guided search would try next.
 *
 *	rc = counsel_open(&c, &lab, &options, &err)
 *	counsel_propose(&c, from, &rng, config)		returns a candidate near `from`
 *	counsel_told(&c, from, to, &delta)		takes in what a move turned out to cost
 *	counsel_release(&c)
 *
 * Proposals are the hunt's (propose.c), by the same model, guide and options. So an optimiser that keeps what is better
 * and asks again does what a search does, but for its confirmations. What was tried and not taken is not proposed again
 * until something near it changes; tied sites with the same choice move together; a model that learns is told the
 * costs. The device is not used.
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
	uint64_t budget;	     /* how many prices will be asked for: if few, few sites are picked from */
};

/* Borrows the lab. -1 with a sentence also if nothing can guide: there is no model, and the kind promises nothing. */
int counsel_open(struct counsel *c, struct lab *lab, const struct counsel_options *o, struct err *err);
void counsel_release(struct counsel *c);

/*
 * Writes a candidate into `config`, which may be `from`. Returns false if every flip near `from` was tried and random
 * ones around it changed nothing.
 */
bool counsel_propose(struct counsel *c, const uint8_t *from, struct rng *rng, uint8_t *config);
/* Tells what a move cost in the objective. A move that does not begin where the last proposal did teaches nothing. */
void counsel_told(struct counsel *c, const uint8_t *from, const uint8_t *to, const struct delta *d);
/* The model's path, or "promise": what the kind's own rules promise. */
const char *counsel_by(const struct counsel *c);

#endif
