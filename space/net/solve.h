/*
 * solve.h - looks for the best answer of a net in a given time. An answer is a choice for each node.
 *
 *	struct network_options o = {.seconds = 60};
 *	struct network_result r;
 *	network_solve(&net, &o, &r);
 *	if (r.found) network_write_answer(&net, r.choice, &out);
 *	network_result_release(&r);
 */
#ifndef SPACE_NET_SOLVE_H
#define SPACE_NET_SOLVE_H

#include "space/net/network.h"

struct network_options {	   /* all zero: one second, as many threads as cores */
	double seconds;	    /* counted from the call; <= 0 means one second, or no limit if `steps` is given */
	uint64_t steps;	    /* the most steps of each thread; given without seconds, the answer is always the same */
	uint32_t jobs;		   /* threads; 0: one for each core that the process may use */
	uint64_t seed;
	bool (*stop)(void);    /* threads call it now and then; true ends the search; may be NULL */
	void (*progress)(void *with, double seconds, uint64_t steps, bool found, network_sum cost);
	void *with;
};

struct network_result {
	bool found;	      /* a feasible answer was found */
	bool hopeless;	       /* it is certain that no answer is feasible */
	bool exact;	       /* the answer is the best there is: few were left, and all were tried */
	uint32_t *choice;      /* [n_nodes]; the first choice of each node if no answer was found */
	struct network_value value;
	uint32_t n_vars;      /* variables of the reduced model (reduced.h) */
	uint32_t n_ticks;     /* ticks of that model */
	uint32_t jobs, walks; /* threads, and the walks that they began; none if all answers were tried */
	uint64_t steps;	      /* of all threads together */
	double seconds, best_seconds; /* in all, and until the answer was found */
};

void network_solve(const struct network *net, const struct network_options *o, struct network_result *r);
void network_result_release(struct network_result *r);

#endif
