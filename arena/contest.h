/*
 * contest.h - what clients of the arena compete on: one program, one device, one budget, one store.
 *
 * A contest prices configurations for clients that it does not trust. It counts the budget itself. Every configuration
 * that it priced, directly or by a move from one it knew, has a known cost against the default; `best` is the one with
 * the lowest. After the verdict nothing is priced any more, so that a verdict is no way around the budget.
 *
 * With a store every price is a trial of one run, committed before the client hears of it, and what a client tells is
 * a finding. So whatever kills either side leaves a sound store, and whoever was told a price finds it there.
 */
#ifndef ARENA_CONTEST_H
#define ARENA_CONTEST_H

#include "base/opt.h"
#include "base/stat.h"
#include "cost/price.h"
#include "lab/lab.h"
#include "learn/feature.h"
#include "search/counsel.h"
#include "search/verdict.h"

struct contest_settings { /* members have the names of the options */
	const char *graph, *space, *device, *cores, *db, *out, *socket, *objective, *model;
	struct opt_list limits;
	int64_t budget, core, seed, replicas, partitions;
	double seconds, deadline, verdict_seconds, patience;
	int measure;
	bool wait, force, raw, quiet;
};

struct contest { /* all zero but `set` is empty; contest_close accepts it */
	const struct contest_settings *set;
	struct device_options device_options;
	struct device *device;	 /* NULL: the cost is a formula, or there was a verdict */
	struct device_info info; /* of the device; stays when that is given back */
	bool has_device;
	struct archive archive;
	struct lab lab;
	struct rng rng;
	uint32_t chain;
	double default_cost, default_se; /* in the base unit of the objective */
	struct prices known;	/* by the hash of a configuration: its cost against the default */
	uint8_t *dflt, *best, *told;
	struct estimate best_cost; /* against the default; 0 while that is the best */
	bool has_told, over;	/* over: there was a verdict */
	struct scene scene;	/* opened when features are asked for */
	struct counsel counsel; /* opened when our own proposals are */
	uint64_t priced, failed;
	double spent;		/* seconds of pricing */
};

int contest_open(struct contest *c, struct err *err);
/* Ends the run; -1 with a sentence where the store fails. */
int contest_end(struct contest *c, struct err *err);
void contest_close(struct contest *c);

/* How a price is asked for: as a search would, measured anew with more precision, or by whole programs. */
enum contest_how { PRICE_USUAL, PRICE_AGAIN, PRICE_WHOLE };
struct contest_ask {
	const uint8_t *from, *to; /* from NULL: the default */
	enum contest_how how;
	int quantity; /* 1 + enum quantity; 0: the objective */
};
struct contest_price {
	struct delta delta;	/* of the move */
	double wall;		/* seconds that the answer took */
	bool known;		/* is the cost of `to` against the default known? Then it is `total` */
	struct estimate total;
};
/* -1 with `refused`: the client is told the sentence and may go on. -1 without it: the environment is broken. */
int contest_price(struct contest *c, const struct contest_ask *ask, struct contest_price *out, bool *refused,
	struct err *err);
/* Is there nothing left to price with? */
bool contest_spent(const struct contest *c);
int contest_tell(struct contest *c, const uint8_t *config, struct estimate *cost, bool *refused, struct err *err);
/*
 * Replaces `config` by what our own search would try next from there. -1: there is nothing to try, and the sentence
 * says why. `by` gets what guides the proposals.
 */
int contest_advise(struct contest *c, uint8_t *config, struct rng *rng, const char **by, struct err *err);
/* The device is given back for it, and the contest is over. */
int contest_verdict(struct contest *c, const uint8_t *config, struct verdict *v, struct err *err);

/* The known cost against the default; false: it was not priced, or so long ago that it is forgotten. */
bool contest_known(const struct contest *c, const uint8_t *config, struct estimate *cost);
/* The costs that can be asked for: the objective's, and those of the limits. NULL: there is none in that quantity. */
struct cost *contest_cost(const struct contest *c, int quantity);

#endif
