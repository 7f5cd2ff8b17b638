/*
 * pool.c - a list of jobs in the order in which they will be needed, and a thread for every helper.
 *
 * A job is a module, and how many executables of it are wanted: two compilations of a program differ, so each instance
 * that is measured should be compiled by itself. A helper takes the first job of which more executables are wanted than
 * are made or being made. A new plan changes the jobs and their order; a job that is no longer wanted is dropped, at
 * once or when its compilation ends.
 *
 * If a helper crashes, the job has failed and is not tried again; the measuring worker then compiles the module itself
 * and has the same outcome. So outcomes do not depend on helpers.
 *
 * Helpers are stopped by a signal and not asked, because a compiler cannot be asked. The kernel ends them with us,
 * stopped or not.
 */
#include "device/pool.h"

#include <math.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include "base/hash.h"
#include "base/mem.h"
#include "base/progress.h"
#include "device/machine.h"
#include "device/ops.h"

#define MOST_HELPERS 256
#define CLAIMED 0.5 /* seconds after which a core that others measure on is looked at again */
#define MOST_BYTES ((size_t)512 << 20) /* of executables that wait to be taken */

struct job {
	uint64_t key[2];
	struct buf module;
	uint32_t wanted, running; /* executables: in all; being made */
	struct ahead made;
	bool failed;
};

struct helper {
	struct pool *pool;
	pthread_t thread;
	struct device_options options;
	int *core;   /* borrowed by options.beside */
	long process; /* 0: none */
};

struct pool {
	pthread_mutex_t lock;
	pthread_cond_t more, made; /* something to do; something was done */
	struct job **job;	   /* in order of need */
	size_t n_jobs, cap_jobs, bytes;
	struct helper *helper;
	uint32_t n_helpers;
	bool quiet, held, closing;
};

void ahead_release(struct ahead *a)
{
	for (uint32_t i = 0; i < a->n; i++)
		buf_release(&a->executable[i]);
	*a = (struct ahead){0};
}

static void job_free(struct pool *p, struct job *j)
{
	for (uint32_t i = 0; i < j->made.n; i++)
		p->bytes -= j->made.executable[i].len;
	ahead_release(&j->made);
	buf_release(&j->module);
	mem_free(j);
}

static struct job *find(const struct pool *p, const uint64_t key[2])
{
	for (size_t i = 0; i < p->n_jobs; i++)
		if (p->job[i]->key[0] == key[0] && p->job[i]->key[1] == key[1])
			return p->job[i];
	return NULL;
}

/* The first job of which more are wanted than there will be. */
static struct job *next_job(const struct pool *p)
{
	for (size_t i = 0; i < p->n_jobs && p->bytes < MOST_BYTES; i++)
		if (!p->job[i]->failed && p->job[i]->made.n + p->job[i]->running < p->job[i]->wanted)
			return p->job[i];
	return NULL;
}

/* Drops what nobody wants and nobody is making. */
static void sweep(struct pool *p)
{
	size_t kept = 0;

	for (size_t i = 0; i < p->n_jobs; i++) {
		struct job *j = p->job[i];
		if (j->wanted || j->running)
			p->job[kept++] = j;
		else
			job_free(p, j);
	}
	p->n_jobs = kept;
}

/* Compiles one job, without the lock. `c` gets its executable, or nothing. `d` NULL: there is no device. */
static void compile(struct device *d, const struct job *j, struct compiled *c)
{
	struct err err = {{0}};

	if (!d || device_compile(d, COMPILE_APPLIED, "hlo", j->module.data, j->module.len, WANT_SERIALISED, c,
		&err) < 0)
		c->outcome = OUTCOME_REFUSED;
	if (d && device_drop(d, c, &err) < 0)
		c->outcome = OUTCOME_REFUSED;
}

/* The job is done, well or not. */
static void finish(struct pool *p, struct job *j, struct compiled *c)
{
	j->running--;
	if (c->outcome == OUTCOME_OK && c->serialised.len && j->made.n < j->wanted) {
		p->bytes += c->serialised.len;
		j->made.executable[j->made.n++] = c->serialised;
		j->made.seconds = c->seconds;
		c->serialised = (struct buf){0};
	} else if (c->outcome != OUTCOME_OK || !c->serialised.len) {
		j->failed = true;
	}
	compiled_release(c);
	sweep(p);
	pthread_cond_broadcast(&p->made);
}

/* Waits for news, or, if `until` is not 0, for this time on the clock. */
static void wait_for(pthread_cond_t *news, pthread_mutex_t *lock, double until)
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

static void *work(void *ctx)
{
	struct helper *h = ctx;
	struct pool *p = h->pool;
	struct err err = {{0}};
	struct device *d = device_open(&h->options, &err);

	pthread_mutex_lock(&p->lock);
	h->process = d ? device_process(d) : 0;
	while (!p->closing) {
		struct compiled c = {0};
		struct job *j;
		if (!p->held && next_job(p) && others_measure(h)) {
			wait_for(&p->more, &p->lock, now_seconds() + CLAIMED);
			continue;
		}
		if (p->closing) /* said while others_measure had let go of the lock: nobody says it again */
			break;
		j = p->held ? NULL : next_job(p);
		if (!j) {
			pthread_cond_wait(&p->more, &p->lock);
			continue;
		}
		j->running++;
		pthread_mutex_unlock(&p->lock);
		compile(d, j, &c);
		pthread_mutex_lock(&p->lock);
		h->process = d ? device_process(d) : 0;
		finish(p, j, &c);
	}
	h->process = 0;
	pthread_mutex_unlock(&p->lock);
	device_close(d);
	return NULL;
}

/* Chooses the cores of helper i: the next ones of the other cores, beginning again at their end. */
static void choose_cores(struct helper *h, uint32_t i, const int *other, size_t n_other, size_t each)
{
	h->core = MEM_NEW(each + 1, int);
	for (size_t k = 0; k < each; k++)
		h->core[k] = other[(i * each + k) % n_other];
	h->options.beside = h->core;
	h->options.n_beside = each;
}

/* Returns how many helpers the other cores have room for; if there are none, one for every core but one. */
static uint32_t how_many(int jobs, size_t n_other, size_t n)
{
	size_t fit = n == 0 ? 0 : n_other >= n ? n_other / n : n - 1;

	if (jobs >= 0)
		fit = (size_t)jobs;
	return (uint32_t)(fit > MOST_HELPERS ? MOST_HELPERS : fit);
}

struct pool *pool_open(const struct device_options *o, const int *core, size_t n)
{
	size_t n_other = 0;
	int *other = cores_beside(core, n, &n_other);
	uint32_t helpers = how_many(o->jobs, n_other, n);
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
	pthread_condattr_destroy(&clock);
	p->quiet = o->quiet_pairs || n_other < n;
	p->helper = MEM_NEW(helpers, struct helper);
	for (uint32_t i = 0; i < helpers; i++) {
		struct helper *h = &p->helper[i];
		*h = (struct helper){.pool = p, .options = *o};
		h->options.jobs = 0;
		if (n)
			choose_cores(h, i, n_other >= n ? other : core, n_other >= n ? n_other : n, n);
		if (pthread_create(&h->thread, NULL, work, h) != 0) {
			mem_free(h->core);
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
			kill((pid_t)p->helper[i].process, signal);
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
	}
	for (size_t i = 0; i < p->n_jobs; i++)
		job_free(p, p->job[i]);
	pthread_cond_destroy(&p->more);
	pthread_cond_destroy(&p->made);
	pthread_mutex_destroy(&p->lock);
	mem_free(p->job);
	mem_free(p->helper);
	mem_free(p);
}

uint32_t pool_helpers(const struct pool *p)
{
	return p ? p->n_helpers : 0;
}

/* Returns the job of an item of a plan, a new one if it has a module; NULL: it has neither. */
static struct job *job_of(struct pool *p, struct agenda_item *item)
{
	struct job *j = find(p, item->key);

	if (j || !item->module.len)
		return j;
	j = MEM_NEW(1, struct job);
	*j = (struct job){.key = {item->key[0], item->key[1]}, .module = item->module};
	item->module = (struct buf){0};
	MEM_GROW(&p->job, &p->cap_jobs, p->n_jobs + 1);
	p->job[p->n_jobs++] = j;
	return j;
}

void pool_expect(struct pool *p, struct agenda *agenda)
{
	size_t front = 0;

	pthread_mutex_lock(&p->lock);
	for (size_t i = 0; i < p->n_jobs; i++)
		p->job[i]->wanted = 0;
	for (size_t i = 0; i < agenda->n; i++) {
		struct job *j = job_of(p, &agenda->v[i]);
		size_t at = front;
		if (!j)
			continue;
		j->wanted = j->wanted + agenda->v[i].copies > AGENDA_COPIES ? AGENDA_COPIES
			: j->wanted + agenda->v[i].copies;
		while (at < p->n_jobs && p->job[at] != j)
			at++;
		if (at == p->n_jobs)
			continue; /* it stands in front already */
		p->job[at] = p->job[front];
		p->job[front++] = j;
	}
	sweep(p);
	pthread_cond_broadcast(&p->more);
	pthread_mutex_unlock(&p->lock);
}

/* Returns one of these jobs of which too few executables are made or begun, or NULL; *wait: some are being made. */
static struct job *not_begun(const struct pool *p, uint64_t (*key)[2], size_t n, uint32_t copies, bool *wait)
{
	*wait = false;
	for (size_t i = 0; i < n; i++) {
		struct job *j = find(p, key[i]);
		uint32_t need = !j || j->failed ? 0 : j->wanted < copies ? j->wanted : copies;
		if (j && j->made.n + j->running < need)
			return j;
		*wait |= j && j->made.n < need;
	}
	return NULL;
}

void pool_gather(struct pool *p, struct device *d, const struct buf *const *module, size_t n, uint32_t copies)
{
	uint64_t (*key)[2] = mem_alloc((n + 1) * sizeof *key);
	bool wait;

	for (size_t i = 0; i < n; i++)
		agenda_key(module[i]->data, module[i]->len, key[i]);
	pthread_mutex_lock(&p->lock);
	for (;;) {
		struct compiled c = {0};
		struct job *j = not_begun(p, key, n, copies, &wait);
		if (j) {
			j->running++;
			pthread_mutex_unlock(&p->lock);
			compile(d, j, &c);
			pthread_mutex_lock(&p->lock);
			finish(p, j, &c);
		} else if (wait && !device_late(d)) {
			wait_for(&p->made, &p->lock, d->until);
		} else {
			break;
		}
	}
	pthread_mutex_unlock(&p->lock);
	mem_free(key);
}

void pool_take(struct pool *p, const void *module, size_t n, uint32_t most, struct ahead *out)
{
	uint64_t key[2];
	struct job *j;

	agenda_key(module, n, key);
	*out = (struct ahead){0};
	pthread_mutex_lock(&p->lock);
	j = find(p, key);
	while (j && j->made.n && out->n < most) {
		out->executable[out->n++] = j->made.executable[--j->made.n];
		p->bytes -= out->executable[out->n - 1].len;
		out->seconds = j->made.seconds;
	}
	if (j) {
		j->wanted = j->wanted > most ? j->wanted - most : 0;
		sweep(p);
		pthread_cond_broadcast(&p->more); /* there is room again */
	}
	pthread_mutex_unlock(&p->lock);
}

void pool_hold(struct pool *p, bool hold)
{
	if (!p->quiet)
		return;
	pthread_mutex_lock(&p->lock);
	p->held = hold;
	signal_all(p, hold ? SIGSTOP : SIGCONT);
	if (!hold)
		pthread_cond_broadcast(&p->more);
	pthread_mutex_unlock(&p->lock);
}
