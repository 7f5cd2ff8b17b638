/*
 * placing.h - searches for a good placement (place.h), by one of the strategies in schemas/placing.def.
 *
 *	struct placing_options o = {.strategy = PLACING_ANNEAL, .seconds = 60};
 *	struct placing_result r;
 *	placing_solve(&p, &o, &r);
 *	... r.device, r.cost ...
 *	placing_result_release(&r);
 */
#ifndef SPACE_PLACE_PLACING_H
#define SPACE_PLACE_PLACING_H

#include "space/place/place.h"

enum placing_strategy {
#define STRATEGY(id, ...) PLACING_##id,
#include "schemas/placing.def"
#undef STRATEGY
	PLACING_COUNT
};
const char *placing_name(enum placing_strategy s);

struct placing_options { /* all zero: annealing for one second */
	enum placing_strategy strategy;
	enum place_goal goal;
	double seconds;	 /* <= 0 means one second, or no limit if `steps` is given */
	uint64_t steps;	 /* the largest number of moves; 0: no limit */
	uint64_t seed;
	bool (*stop)(void); /* true ends the search; may be NULL */
	void (*progress)(void *with, uint64_t steps, double cost); /* called now and then; may be NULL */
	void *with;
};

struct placing_result {
	double cost;	  /* infinite if no allowed placement was found */
	uint32_t *device; /* [n_nodes] */
	uint64_t steps;
	double seconds, best_seconds; /* in all, and until the answer was found */
};

void placing_solve(const struct place *p, const struct placing_options *o, struct placing_result *r);
void placing_result_release(struct placing_result *r);

#endif
