/*
 * pool.c - a thread for every helper, the cores that they work on, and what may disturb what.
 *
 * Helpers measure as well as compile. For a while they only compiled, and one worker measured; a second core then gave
 * 1.2 times the evaluations of one, because the measuring worker still loaded, compared, timed and confirmed alone.
 * Pairs are timed on a core that nobody else times on, and only ratios of two sides run alternately count, which
 * neighbours hardly disturb. But they share memory and its bandwidth, so of many helpers only a part times at any
 * moment. Where that is too much, quiet_pairs has them compile only, and stand still while something is timed. They
 * also compile only where several of them share a core, because one that compiles would disturb one that measures
 * there. VANTAGE_SHARE_CORES says that this does no harm, as with a plugin whose programs do not compute.
 *
 * Helpers are stopped by a signal and not asked, because a compiler cannot be asked. The kernel ends them with us,
 * stopped or not.
 */
#include "device/pool.h"

#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "base/mem.h"
#include "base/progress.h"
#include "device/pool_own.h"

#define MOST_HELPERS 256
#define MOST_BESIDE 4  /* helpers beside an accelerator, */
#define CORES_BESIDE 3 /* ... one for so many cores */
#define CLAIMED 0.5 /* seconds after which a core that others measure on is looked at again */
#define TIMING_SHARE 4	/* one in so many workers may time something at one moment, */
#define TIMING_LEAST 2	/* ... but always so many */
#define TURN 0.02	/* seconds after which a core that another helper times on is looked at again; */
#define TURNS 100	/* ... so often at most */

void pool_wait(pthread_cond_t *news, pthread_mutex_t *lock, double until)
{
	struct timespec t = {.tv_sec = (time_t)until, .tv_nsec = (long)(1e9 * (until - floor(until)))};

	if (until > 0)
		pthread_cond_timedwait(news, lock, &t);
	else
		pthread_cond_wait(news, lock);
}

/* Does another program measure on one of the helper's cores? Asked without the lock. */
static bool others_measure(struct helper *h)
{
	bool claimed = false;

	pthread_mutex_unlock(&h->pool->lock);
	for (size_t i = 0; i < h->options.n_beside && !claimed; i++)
		claimed = core_claimed(h->core[i]);
	pthread_mutex_lock(&h->pool->lock);
	return claimed;
}

/* Notes the process of a helper's worker. One that is started once the others were signalled gets the signal too. */
static void note_worker(void *helper, pid_t pid)
{
	struct helper *h = helper;
	struct pool *p = h->pool;

	pthread_mutex_lock(&p->lock);
	h->process = pid;
	if (pid && (p->closing || p->held))
		kill(pid, p->closing ? SIGKILL : SIGSTOP);
	pthread_mutex_unlock(&p->lock);
}

static void *work(void *ctx)
{
	struct helper *h = ctx;
	struct pool *p = h->pool;
	struct err err = {{0}};
	struct device *d = device_open(&h->options, &err);

	if (d)
		d->helper = h;
	pthread_mutex_lock(&p->lock);
	p->n_gone += !d; /* the caller does it all */
	while (d && !p->closing) {
		struct job *j;
		if (!p->held && pool_next(p) && others_measure(h)) {
			pool_wait(&p->more, &p->lock, now_seconds() + CLAIMED);
			continue;
		}
		if (p->closing) /* said while others_measure had let go of the lock: nobody says it again */
			break;
		j = p->held ? NULL : pool_next(p);
		if (!j) {
			pthread_cond_wait(&p->more, &p->lock);
			continue;
		}
		pool_do(p, d, j);
	}
	pthread_mutex_unlock(&p->lock);
	device_close(d);
	return NULL;
}

/* Chooses the cores of helper i: the next ones of the other cores, beginning again at their end. */
static void choose_cores(struct helper *h, uint32_t i, const int *other, size_t n_other, size_t each)
{
	h->core = MEM_NEW(each + 1, int);
	h->lock = MEM_NEW(each + 1, struct core_lock);
	for (size_t k = 0; k < each; k++)
		h->core[k] = other[(i * each + k) % n_other];
	h->options.beside = h->core;
	h->options.n_beside = each;
}

/*
 * Returns how many helpers the other cores have room for; if there are none, one for every core but one. Beside an
 * accelerator all cores are other ones.
 */
static uint32_t how_many(int jobs, size_t n_other, size_t n, bool beside)
{
	size_t few = n_other / CORES_BESIDE, fit = n == 0 ? 0 : n_other >= n ? n_other / n : n - 1;

	if (beside)
		fit = few < MOST_BESIDE ? few : MOST_BESIDE;
	if (jobs >= 0)
		fit = (size_t)jobs;
	return (uint32_t)(fit > MOST_HELPERS ? MOST_HELPERS : fit);
}

struct pool *pool_open(const struct device_options *o, const int *core, size_t n, bool beside)
{
	size_t n_other = 0;
	int *other = cores_beside(core, n, &n_other);
	uint32_t helpers = how_many(o->jobs, n_other, n, beside);
	struct pool *p = helpers ? MEM_NEW(1, struct pool) : NULL;
	pthread_condattr_t clock;

	if (!p) {
		mem_free(other);
		return NULL;
	}
	pthread_mutex_init(&p->lock, NULL);
	pthread_condattr_init(&clock);
	pthread_condattr_setclock(&clock, CLOCK_MONOTONIC); /* as now_seconds */
	pthread_cond_init(&p->more, &clock);
	pthread_cond_init(&p->made, &clock);
	pthread_cond_init(&p->never, &clock);
	pthread_condattr_destroy(&clock);
	p->shares = getenv("VANTAGE_SHARE_CORES") != NULL;
	p->quiet = o->quiet_pairs || (n_other < n && !p->shares);
	p->measures = !beside && !p->quiet && (p->shares || helpers * n <= n_other);
	p->helper = MEM_NEW(helpers, struct helper);
	for (uint32_t i = 0; i < helpers; i++) {
		struct helper *h = &p->helper[i];
		*h = (struct helper){.pool = p, .options = *o};
		h->options.jobs = h->options.crew = 0;
		h->options.assists = true;
		h->options.watch = note_worker;
		h->options.watcher = h;
		if (n)
			choose_cores(h, i, n_other >= n ? other : core, n_other >= n ? n_other : n, n);
		if (pthread_create(&h->thread, NULL, work, h) != 0) {
			mem_free(h->core);
			mem_free(h->lock);
			break; /* with fewer it goes as well */
		}
		p->n_helpers++;
	}
	mem_free(other);
	return p;
}

static void signal_all(struct pool *p, int signal)
{
	for (uint32_t i = 0; i < p->n_helpers; i++)
		if (p->helper[i].process > 0)
			kill(p->helper[i].process, signal);
}

void pool_close(struct pool *p)
{
	if (!p)
		return;
	pthread_mutex_lock(&p->lock);
	p->closing = true;
	signal_all(p, SIGKILL); /* who waits for an answer need not */
	pthread_cond_broadcast(&p->more);
	pthread_mutex_unlock(&p->lock);
	for (uint32_t i = 0; i < p->n_helpers; i++) {
		pthread_join(p->helper[i].thread, NULL);
		mem_free(p->helper[i].core);
		mem_free(p->helper[i].lock);
	}
	pool_forget(p);
	pthread_cond_destroy(&p->more);
	pthread_cond_destroy(&p->made);
	pthread_cond_destroy(&p->never);
	pthread_mutex_destroy(&p->lock);
	mem_free(p->job);
	mem_free(p->step);
	mem_free(p->helper);
	mem_free(p);
}

void pool_account(struct pool *p, struct helped *out)
{
	double now = now_seconds(), helping, under_way = 0;

	pthread_mutex_lock(&p->lock);
	for (uint32_t i = 0; i < p->n_helpers; i++)
		under_way += p->helper[i].began > 0 ? now - p->helper[i].began : 0;
	helping = p->helping + under_way;
	*out = (struct helped){.helpers = p->n_helpers - p->n_gone, .seconds = p->first > 0 ? now - p->first : 0,
		.used = p->used, .vain = p->busy + under_way - p->used, .waited = p->waited};
	out->idle = out->helpers * out->seconds - helping;
	pthread_mutex_unlock(&p->lock);
}

uint32_t pool_helpers(const struct pool *p)
{
	return p ? p->n_helpers : 0;
}

bool pool_measures(const struct pool *p)
{
	return p && p->measures;
}

void pool_hold(struct pool *p, bool hold)
{
	pthread_mutex_lock(&p->lock);
	p->measuring = hold ? p->measuring + 1 : p->measuring - 1;
	if (p->quiet) {
		p->held = hold;
		signal_all(p, hold ? SIGSTOP : SIGCONT);
	}
	if (!hold)
		pthread_cond_broadcast(&p->more);
	pthread_mutex_unlock(&p->lock);
}

/*
 * Takes the helper's cores for as long as it times something, so that no helper of another program does so there. If
 * that takes too long, they are shared: a pair that is disturbed has a wide interval.
 */
static void take_cores(struct helper *h)
{
	struct pool *p = h->pool;
	struct err ignored;
	int rc = 0;

	for (size_t i = 0; i < h->options.n_beside && !p->shares; i++)
		for (int turn = 0; turn < TURNS; turn++) {
			rc = core_claimed(h->core[i]) ? 0 : core_borrow(&h->lock[i], h->core[i], &ignored);
			pthread_mutex_lock(&p->lock);
			if (rc == 0 && !p->closing)
				pool_wait(&p->never, &p->lock, now_seconds() + TURN);
			else
				turn = TURNS;
			pthread_mutex_unlock(&p->lock);
		}
}

void helper_hold(struct helper *h, bool hold)
{
	struct pool *p = h->pool;
	uint32_t most = (p->n_helpers + 1) / TIMING_SHARE;

	if (hold) {
		pthread_mutex_lock(&p->lock);
		while (p->measuring >= (most > TIMING_LEAST ? most : TIMING_LEAST) && !p->closing)
			pthread_cond_wait(&p->more, &p->lock);
		p->measuring++;
		pthread_mutex_unlock(&p->lock);
		take_cores(h);
		return;
	}
	for (size_t i = 0; i < h->options.n_beside; i++)
		core_release(&h->lock[i]);
	pthread_mutex_lock(&p->lock);
	p->measuring--;
	pthread_cond_broadcast(&p->more);
	pthread_mutex_unlock(&p->lock);
}
