/*
 * next.c - which chain takes the next step, and whether there is a next step at all.
 *
 * The share is a bound on what a program has had at the end, so it is of the mean of all programs, and a step that
 * would lead beyond it is not begun. (It was once of the mean of those that still taught something, and only what lay
 * behind a program counted; then --share 1.5 let two of fifty have 1.9 times the mean.) Two things still lead beyond
 * it. A step may take longer than those before it. And if most programs have nothing new to say, the others share
 * their time, the one with the least of it first.
 *
 * If costs are modelled, the machine's speed decides nothing.
 *
 * A run that only a limit of seconds ends would go on when every price is known, with some hundred steps a second that
 * teach nothing and fill the store. So it ends when a whole sweep of every chain has measured nothing.
 */
#include <math.h>
#include "base/progress.h"
#include "base/stop.h"
#include "collect/plan_own.h"

#define USED_UP 64 /* steps of a chain in a row that measured nothing, at least; and at least a sweep */

static uint64_t program_steps(const struct plan *p, uint32_t i)
{
	uint64_t n = 0;

	for (uint32_t k = 0; k < p->n_chains; k++)
		n += plan_chains_of(p, i)[k].at.steps;
	return n;
}

/* The seconds that a program had so far: to be opened, and for its steps. */
static double program_seconds(const struct plan *p, uint32_t i, double now)
{
	double sum = p->opening[i];

	for (uint32_t k = 0; k < p->n_chains; k++) {
		const struct chain *c = &plan_chains_of(p, i)[k];
		sum += c->spent + (c->busy ? now - c->begun : 0);
	}
	return sum;
}

/* The seconds that a program will have had after one more step of the usual length. */
static double seconds_after(const struct plan *p, uint32_t i, double now)
{
	double sum = 0;
	uint32_t n = 0;

	for (uint32_t k = 0; k < p->n_chains; k++) {
		const struct chain *c = &plan_chains_of(p, i)[k];
		sum += c->spent;
		n += c->taken;
	}
	return program_seconds(p, i, now) + (n ? sum / n : 0);
}

/* Does the program still give what is not known? */
static bool teaches(const struct plan *p, uint32_t i)
{
	for (uint32_t k = 0; k < p->n_chains; k++) {
		const struct chain *c = &plan_chains_of(p, i)[k];
		if (c->known < USED_UP || c->known < c->n_sites)
			return true;
	}
	return false;
}

bool plan_used_up(const struct plan *p)
{
	if (p->set->samples || p->worker[0].lab->kind != COST_MEASURED)
		return false;
	for (uint32_t i = 0; i < p->n_programs; i++)
		if (teaches(p, i))
			return false;
	return true;
}

static bool has_idle_chain(const struct plan *p, uint32_t i)
{
	for (uint32_t k = 0; k < p->n_chains; k++)
		if (!plan_chains_of(p, i)[k].busy)
			return true;
	return false;
}

/*
 * Returns how many seconds a program may have had after its next step. That is --share times the mean of all programs.
 * If all that still teach would have more, it is what the one with the least of them would have.
 */
static double most_seconds(const struct plan *p, double now)
{
	double sum = 0, least = INFINITY, fair;

	if (!(p->set->share > 0) || p->worker[0].lab->kind != COST_MEASURED)
		return INFINITY;
	for (uint32_t i = 0; i < p->n_programs; i++) {
		sum += program_seconds(p, i, now);
		if (teaches(p, i) && has_idle_chain(p, i))
			least = fmin(least, seconds_after(p, i, now));
	}
	fair = p->set->share * sum / p->n_programs;
	return isfinite(least) ? fmax(fair, least) : INFINITY;
}

/*
 * Among the programs that have an idle chain and may make a step, takes the one with the fewest samples; of its idle
 * chains, the one with the fewest steps. Returns NULL if all chains are busy.
 */
struct chain *plan_next(const struct plan *p)
{
	double now = now_seconds(), most = most_seconds(p, now);
	struct chain *best = NULL;
	uint64_t best_program = 0;

	for (uint32_t i = 0; i < p->n_programs; i++) {
		uint64_t steps = program_steps(p, i);
		if (seconds_after(p, i, now) > most)
			continue;
		for (uint32_t k = 0; k < p->n_chains; k++) {
			struct chain *c = &plan_chains_of(p, i)[k];
			if (c->busy || (best && (steps > best_program ||
						(steps == best_program && c->at.steps >= best->at.steps))))
				continue;
			best = c;
			best_program = steps;
		}
	}
	return best;
}

bool plan_over(const struct plan *p)
{
	return stop_asked() || p->stop || plan_used_up(p) ||
	       (p->set->samples && p->steps + p->flying - p->before >= (uint64_t)p->set->samples) ||
	       (p->deadline > 0 && now_seconds() > p->deadline);
}
