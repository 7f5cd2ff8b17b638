/*
 * solve.c - runs several walks (climb.h) in a few threads.
 *
 * Time is cut into rounds. After each round all threads are joined, and the best walk learns from the answers of the
 * others (climb_learn). A walk that has found nothing better for some rounds goes on from the best answer. The result
 * of a round depends only on the seed and the number of steps. So with a limit of steps and no limit of time the answer
 * is always the same.
 *
 * Walks end in different answers: at 0.99 to 1.0 of the best of iopddl's net Q, for example. (Before there were
 * sketches they ended at 1.2 to 3 times the best of net M, and at 1.7 of B.) So there are LEAST_WALKS, even with one
 * thread. A thread with several walks begins with one; when that is stuck, it rests, and the next one begins, by
 * itself; when all have been stuck once, they go on in turns. (All in turns from the beginning leaves large nets too
 * little time for any descent.)
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
#define LEAST_WALKS 4
#define VAIN_ROUNDS 20 /* a walk that found no answer at all in so many rounds is stuck, if another walk has one */
#define MOST_JOBS 256

struct walk {
	struct climb climb;
	double slowest;	/* seconds of the slowest step so far */
	double had;	/* cost of its best answer when the round began */
	uint32_t stale;	/* rounds since it found a better one */
	bool ran;	/* in this round */
};

struct worker { /* a thread, which has every jobs-th walk */
	struct solving *s;
	uint32_t number;
	uint32_t n_begun, n_walks; /* walks of its own; those that have begun */
	bool settled;		   /* all of them were stuck once */
	uint64_t steps; /* of its walks together */
	double until;	/* when the round ends; infinite if only steps count */
	pthread_t thread;
};

struct solving {
	const struct network *net;
	const struct network_options *o;
	struct reduced m;
	struct walk *walk;
	struct worker *worker;
	uint32_t jobs, n_walks, best; /* threads; walks; the one that has the best answer */
	double started, limit;
	struct network_result *r;
};

static bool told_to_stop(const struct solving *s)
{
	return s->o->stop && s->o->stop();
}

/* Is there time for another step of the walk? */
static bool has_time(const struct solving *s, const struct walk *w)
{
	return now_seconds() + w->slowest < s->limit;
}

/*
 * Lets a walk make steps until some time, or until the thread has made so many. It makes one at least, because a step
 * may take longer than a round, but none that may not end before the search does.
 */
static void go(struct worker *t, struct walk *w, double until, uint64_t steps)
{
	double now = 0;

	while (now < until && t->steps < steps && !told_to_stop(t->s) && has_time(t->s, w)) {
		double start = now_seconds();
		climb_step(&w->climb);
		t->steps++;
		now = now_seconds();
		w->slowest = fmax(w->slowest * 0.98, now - start);
	}
}

/* A thread's part of a round: the newest walk alone until all are settled, then one after the other, each its share. */
static void *run_worker(void *p)
{
	struct worker *t = p;
	const struct solving *s = t->s;

	for (uint32_t i = t->settled ? 0 : t->n_begun - 1; i < t->n_begun; i++) {
		struct walk *w = &s->walk[t->number + i * s->jobs];
		uint64_t steps = UINT64_MAX;
		double until = t->until, now = now_seconds();
		if (s->o->steps)
			steps = t->steps + ROUND_STEPS < s->o->steps ? t->steps + ROUND_STEPS : s->o->steps;
		else
			until = now + (until - now) / (t->n_begun - i);
		go(t, w, until, steps);
		w->ran = true;
	}
	return NULL;
}

static uint32_t cores(void)
{
	cpu_set_t set;

	return sched_getaffinity(0, sizeof set, &set) == 0 ? (uint32_t)CPU_COUNT(&set) : 1;
}

static void run_round(struct solving *s)
{
	double turns = 1, until = INFINITY;

	for (uint32_t i = 0; i < s->jobs; i++)
		if (s->worker[i].settled)
			turns = fmax(turns, s->worker[i].n_begun);
	if (isfinite(s->limit))
		until = fmin(s->limit, now_seconds() + (s->o->steps ? INFINITY : turns * ROUND_SECONDS));
	for (uint32_t i = 0; i < s->n_walks; i++) {
		s->walk[i].had = s->walk[i].climb.best_cost;
		s->walk[i].ran = false;
	}
	for (uint32_t i = 0; i < s->jobs; i++) {
		struct worker *t = &s->worker[i];
		t->until = until;
		if (i == 0 || pthread_create(&t->thread, NULL, run_worker, t) != 0)
			t->thread = pthread_self();
	}
	for (uint32_t i = 0; i < s->jobs; i++)
		if (pthread_equal(s->worker[i].thread, pthread_self()))
			run_worker(&s->worker[i]);
	for (uint32_t i = 0; i < s->jobs; i++)
		if (!pthread_equal(s->worker[i].thread, pthread_self()))
			pthread_join(s->worker[i].thread, NULL);
}

/* Goes on from the best answer. */
static void follow(struct solving *s, struct walk *w)
{
	const struct climb *best = &s->walk[s->best].climb;

	memcpy(w->climb.best, best->best, s->m.n_vars * sizeof *best->best);
	w->climb.best_cost = best->best_cost;
	w->climb.found = true;
	climb_restart(&w->climb, best->best);
	w->stale = 0;
}

static bool stuck(const struct solving *s, const struct walk *w)
{
	return w->stale >= (w->climb.found ? STALE_ROUNDS : VAIN_ROUNDS) && s->walk[s->best].climb.found;
}

static void share(struct solving *s)
{
	for (uint32_t i = 0; i < s->n_walks; i++)
		if (s->walk[i].climb.best_cost < s->walk[s->best].climb.best_cost)
			s->best = i;
	struct climb *best = &s->walk[s->best].climb;
	for (uint32_t i = 0; i < s->n_walks; i++) {
		struct walk *w = &s->walk[i];
		if (!w->ran)
			continue;
		w->stale = w->climb.best_cost < w->had ? 0 : w->stale + 1;
		if (i != s->best && w->climb.found && w->stale == 0)
			climb_learn(best, w->climb.best);
	}
	for (uint32_t i = 0; i < s->jobs; i++) {
		struct worker *t = &s->worker[i];
		t->settled |= t->n_begun == t->n_walks && stuck(s, &s->walk[i + (t->n_begun - 1) * s->jobs]);
		if (!t->settled && stuck(s, &s->walk[i + (t->n_begun - 1) * s->jobs]))
			t->n_begun++;
	}
	for (uint32_t i = 0; i < s->n_walks; i++)
		if (s->worker[i % s->jobs].settled && s->walk[i].climb.best_cost > best->best_cost &&
			stuck(s, &s->walk[i]))
			follow(s, &s->walk[i]);
}

/* Translates the best answer back to the net, and computes its cost and memory in the plain way of network.c. */
static void take_answer(struct solving *s)
{
	const struct climb *best = &s->walk[s->best].climb;
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
	if (told_to_stop(s) || s->m.hopeless)
		return false;
	if (s->o->steps && s->worker[0].steps >= s->o->steps)
		return false;
	for (uint32_t i = 0; i < s->n_walks; i++)
		if (i / s->jobs < s->worker[i % s->jobs].n_begun && has_time(s, &s->walk[i]))
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
			r->steps += s->worker[i].steps;
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
	s.n_walks = s.jobs > LEAST_WALKS ? s.jobs : LEAST_WALKS;
	reduced_build(&s.m, net);
	s.worker = MEM_NEW(s.jobs, struct worker);
	s.walk = MEM_NEW(s.n_walks, struct walk);
	for (uint32_t i = 0; i < s.jobs; i++)
		s.worker[i] = (struct worker){.s = &s, .number = i, .n_begun = 1,
			.n_walks = (s.n_walks - 1 - i) / s.jobs + 1};
	for (uint32_t i = 0; i < s.n_walks; i++)
		climb_init(&s.walk[i].climb, &s.m, o->seed, i);
	r->value = network_value(net, r->choice);
	r->hopeless = s.m.hopeless;
	if (!r->hopeless && !told_to_stop(&s) && climb_exhaust(&s.walk[0].climb)) {
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
		r->walks += r->steps ? s.worker[i].n_begun : 0;
	for (uint32_t i = 0; i < s.n_walks; i++)
		climb_release(&s.walk[i].climb);
	mem_free(s.walk);
	mem_free(s.worker);
	reduced_release(&s.m);
	r->seconds = now_seconds() - s.started;
}

void network_result_release(struct network_result *r)
{
	mem_free(r->choice);
	*r = (struct network_result){0};
}
