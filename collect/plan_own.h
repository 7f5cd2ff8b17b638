/* plan_own.h - what the files of a plan share: open.c, begin.c, plan.c, summary.c. */
#ifndef COLLECT_PLAN_OWN_H
#define COLLECT_PLAN_OWN_H

#include "collect/plan.h"

static inline uint32_t plan_n_chains(const struct plan *p)
{
	return p->n_programs * p->n_chains;
}

static inline struct chain *plan_chains_of(const struct plan *p, uint32_t program)
{
	return &p->chain[program * p->n_chains];
}

/* A worker's labs. The first one opens before the run begins, the others when it has their thread. */
int plan_open_programs(struct plan *p, struct worker *k, struct err *err);

/* Is the budget spent, or all told to stop? Under the lock. */
bool plan_over(const struct plan *p);

/* Finds, or starts, the run; the chains are initialised, the store and all labs open. */
int plan_begin(struct plan *p, struct err *err);
/* The states of all chains as the run keeps them, that of `moving` (may be NULL) being `at`. */
void plan_state(const struct plan *p, const struct chain *moving, const struct chain_state *at, struct buf *out);
/* What the worker's labs have done so far. */
void worker_count(const struct worker *w, uint32_t n_programs, struct cost_totals *sum);
/* What all workers have done since the opening, as of their last turns. */
void plan_totals(const struct plan *p, struct cost_totals *sum);

#endif
