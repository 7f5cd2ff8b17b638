/*
 * solve.c - runs several walks (climb.h) at once, each in a thread.
 *
 * Time is cut into rounds. After each round all threads are joined, and the best walk learns from the answers of the
 * others (climb_learn). A walk that has found nothing better for some rounds goes on from the best answer. The result
 * of a round depends only on the seed and the number of steps. So with a limit of steps and no limit of time the answer
 * is always the same.
 */
#include "space/net/solve.h"

#include <math.h>
#include <pthread.h>
#include <sched.h>
#include <string.h>
#include "base/progress.h"
#include "space/net/climb.h"

#define ROUND_STEPS 200
#define ROUND_SECONDS 1.0
#define STALE_ROUNDS 5 /* a walk that found nothing better in so many rounds goes on from the best answer */
#define MOST_JOBS 256

struct worker {
	struct climb climb;
	uint64_t until_steps;
	double until, slowest; /* seconds of the slowest step so far */
	double had;	       /* cost of its best answer when the round began */
	uint32_t stale;
	bool (*stop)(void);
	pthread_t thread;
};

static void *walk(void *p)
{
	struct worker *w = p;

	while (w->climb.steps < w->until_steps && !(w->stop && w->stop())) {
		double start = now_seconds();
		if (start + w->slowest > w->until)
			break;
		climb_step(&w->climb);
		w->slowest = fmax(w->slowest * 0.98, now_seconds() - start);
	}
	return NULL;
}

static uint32_t cores(void)
{
	cpu_set_t set;

	return sched_getaffinity(0, sizeof set, &set) == 0 ? (uint32_t)CPU_COUNT(&set) : 1;
}

struct solving {
	const struct network *net;
	const struct network_options *o;
	struct reduced m;
	struct worker *worker;
	uint32_t jobs, best; /* the number of threads; the one that has the best answer */
	double started, limit;
	struct network_result *r;
};

static void run_round(struct solving *s)
{
	double until = INFINITY;

	if (isfinite(s->limit))
		until = fmin(s->limit, now_seconds() + (s->o->steps ? INFINITY : ROUND_SECONDS));
	for (uint32_t i = 0; i < s->jobs; i++) {
		struct worker *w = &s->worker[i];
		w->until = until;
		w->until_steps = s->o->steps ? w->climb.steps + ROUND_STEPS : UINT64_MAX;
		if (s->o->steps && w->until_steps > s->o->steps)
			w->until_steps = s->o->steps;
		w->had = w->climb.best_cost;
		if (i == 0 || pthread_create(&w->thread, NULL, walk, w) != 0)
			w->thread = pthread_self();
	}
	for (uint32_t i = 0; i < s->jobs; i++)
		if (pthread_equal(s->worker[i].thread, pthread_self()))
			walk(&s->worker[i]);
	for (uint32_t i = 0; i < s->jobs; i++)
		if (!pthread_equal(s->worker[i].thread, pthread_self()))
			pthread_join(s->worker[i].thread, NULL);
}

static void share(struct solving *s)
{
	for (uint32_t i = 0; i < s->jobs; i++)
		if (s->worker[i].climb.best_cost < s->worker[s->best].climb.best_cost)
			s->best = i;
	struct climb *best = &s->worker[s->best].climb;
	for (uint32_t i = 0; i < s->jobs; i++) {
		struct worker *w = &s->worker[i];
		w->stale = w->climb.best_cost < w->had ? 0 : w->stale + 1;
		if (i == s->best || !best->found)
			continue;
		if (w->climb.found && w->stale == 0)
			climb_learn(best, w->climb.best);
		if (w->climb.best_cost > best->best_cost && (w->stale >= STALE_ROUNDS || !w->climb.found)) {
			memcpy(w->climb.best, best->best, s->m.n_vars * sizeof *best->best);
			w->climb.best_cost = best->best_cost;
			w->climb.found = true;
			climb_restart(&w->climb, best->best);
			w->stale = 0;
		}
	}
}

/* Translates the best answer back to the net, and computes its cost and memory in the plain way of network.c. */
static void take_answer(struct solving *s)
{
	const struct climb *best = &s->worker[s->best].climb;
	struct network_result *r = s->r;
	uint32_t *choice;
	struct network_value v;

	if (!best->found)
		return;
	choice = MEM_NEW(s->net->n_nodes + 1, uint32_t);
	reduced_answer(&s->m, best->best, choice);
	v = network_value(s->net, choice);
	if (network_feasible(s->net, &v) && (!r->found || v.cost < r->value.cost)) {
		memcpy(r->choice, choice, s->net->n_nodes * sizeof *choice);
		r->value = v;
		r->found = true;
		r->best_seconds = now_seconds() - s->started;
	}
	mem_free(choice);
}

static bool go_on(const struct solving *s)
{
	if ((s->o->stop && s->o->stop()) || s->m.hopeless)
		return false;
	if (s->o->steps && s->worker[0].climb.steps >= s->o->steps)
		return false;
	for (uint32_t i = 0; i < s->jobs; i++)
		if (now_seconds() + s->worker[i].slowest < s->limit)
			return true;
	return false;
}

static void run_rounds(struct solving *s)
{
	struct network_result *r = s->r;

	while (go_on(s)) {
		run_round(s);
		share(s);
		take_answer(s);
		r->steps = 0;
		for (uint32_t i = 0; i < s->jobs; i++)
			r->steps += s->worker[i].climb.steps;
		if (s->o->progress)
			s->o->progress(s->o->with, now_seconds() - s->started, r->steps, r->found, r->value.cost);
	}
}

void network_solve(const struct network *net, const struct network_options *o, struct network_result *r)
{
	struct solving s = {.net = net, .o = o, .r = r, .started = now_seconds(), .limit = INFINITY};

	*r = (struct network_result){.choice = MEM_NEW(net->n_nodes + 1, uint32_t)};
	if (o->seconds > 0 || !o->steps)
		s.limit = s.started + (o->seconds > 0 ? o->seconds : 1);
	s.jobs = o->jobs ? o->jobs : cores();
	s.jobs = s.jobs > MOST_JOBS ? MOST_JOBS : s.jobs;
	reduced_build(&s.m, net);
	s.worker = MEM_NEW(s.jobs, struct worker);
	for (uint32_t i = 0; i < s.jobs; i++) {
		climb_init(&s.worker[i].climb, &s.m, o->seed, i);
		s.worker[i].stop = o->stop;
	}
	r->value = network_value(net, r->choice);
	r->hopeless = s.m.hopeless;
	if (!r->hopeless && !(o->stop && o->stop()) && climb_exhaust(&s.worker[0].climb)) {
		take_answer(&s);
		r->exact = r->found;
		r->hopeless = !r->found;
	} else {
		run_rounds(&s);
	}
	r->n_vars = s.m.n_vars;
	r->n_ticks = s.m.n_ticks;
	r->jobs = s.jobs;
	for (uint32_t i = 0; i < s.jobs; i++)
		climb_release(&s.worker[i].climb);
	mem_free(s.worker);
	reduced_release(&s.m);
	r->seconds = now_seconds() - s.started;
}

void network_result_release(struct network_result *r)
{
	mem_free(r->choice);
	*r = (struct network_result){0};
}
