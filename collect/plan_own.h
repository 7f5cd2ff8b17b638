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

/* Opens a worker's labs. The first worker does so before the run begins, the others in their threads. */
int plan_open_programs(struct plan *p, struct worker *k, struct err *err);

/*
 * Returns the idle chain that takes the next step; if all programs with idle chains had their share of the time, of the
 * one that had the least. NULL if all chains are busy. Call it under the lock.
 */
struct chain *plan_next(const struct plan *p);

/* Is nothing left to measure, in a run that has no number of samples to make? Call it under the lock. */
bool plan_used_up(const struct plan *p);

/* Is the budget spent, is nothing left to measure, or were we told to stop? Call it under the lock. */
bool plan_over(const struct plan *p);

/* Finds or starts the run. The chains must be initialised, the store and all labs open. */
int plan_begin(struct plan *p, struct err *err);
/* Writes the states of all chains as the run keeps them; `at` is that of the chain `moving`, which may be NULL. */
void plan_state(const struct plan *p, const struct chain *moving, const struct chain_state *at, struct buf *out);
/* Sums up the work of the worker's labs so far. */
void worker_count(const struct worker *w, uint32_t n_programs, struct cost_totals *sum);
/* Sums up the work of all workers since the opening, up to their last steps. */
void plan_totals(const struct plan *p, struct cost_totals *sum);

#endif
