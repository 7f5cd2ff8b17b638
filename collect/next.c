/*
 * next.c - which chain takes the next step, and whether there is a next step at all.
 */
#include <math.h>
#include "base/progress.h"
#include "base/stop.h"
#include "collect/plan_own.h"

#define USED_UP 64 /* steps of a chain in a row that measured nothing */

static uint64_t program_steps(const struct plan *p, uint32_t i)
{
	uint64_t n = 0;

	for (uint32_t k = 0; k < p->n_chains; k++)
		n += plan_chains_of(p, i)[k].at.steps;
	return n;
}

/* The seconds that a program had so far. */
static double program_seconds(const struct plan *p, uint32_t i, double now)
{
	double sum = 0;

	for (uint32_t k = 0; k < p->n_chains; k++) {
		const struct chain *c = &plan_chains_of(p, i)[k];
		sum += c->spent + (c->busy ? now - c->begun : 0);
	}
	return sum;
}

/* Does the program still give what is not known? */
static bool teaches(const struct plan *p, uint32_t i)
{
	for (uint32_t k = 0; k < p->n_chains; k++)
		if (plan_chains_of(p, i)[k].known < USED_UP)
			return true;
	return false;
}

/* A program that had more seconds than these waits. If costs are modelled, the machine's speed decides nothing. */
static double fair_seconds(const struct plan *p, double now)
{
	double sum = 0;
	uint32_t n = 0;

	for (uint32_t i = 0; i < p->n_programs; i++)
		if (teaches(p, i)) {
			sum += program_seconds(p, i, now);
			n++;
		}
	return p->set->share > 0 && p->worker[0].lab->kind == COST_MEASURED && n ? p->set->share * sum / n : INFINITY;
}

/*
 * Among the programs that had no more than `most` seconds and have an idle chain, takes the one with the fewest
 * samples; of its idle chains, the one with the fewest steps. Returns NULL if there is none.
 */
static struct chain *idle_chain(const struct plan *p, double most, double now)
{
	struct chain *best = NULL;
	uint64_t best_program = 0;

	for (uint32_t i = 0; i < p->n_programs; i++) {
		uint64_t steps = program_steps(p, i);
		if (program_seconds(p, i, now) > most)
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

struct chain *plan_next(const struct plan *p)
{
	double now = now_seconds();
	struct chain *c = idle_chain(p, fair_seconds(p, now), now);

	return c ? c : idle_chain(p, INFINITY, now);
}

bool plan_over(const struct plan *p)
{
	return stop_asked() || p->stop ||
	       (p->set->samples && p->steps + p->flying - p->before >= (uint64_t)p->set->samples) ||
	       (p->deadline > 0 && now_seconds() > p->deadline);
}
