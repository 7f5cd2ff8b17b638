/*
 * pool_plan.c - the jobs of a plan, in the order in which they will be needed, and what comes of them.
 *
 * A job is one of two. A module, and how many executables of it are wanted: two compilations of a program differ, so
 * each instance that is measured should be compiled by itself. Or a pair of modules that is to be compiled and
 * measured. A plan is a list of steps: so many executables of this module, then of that one, later perhaps more of the
 * first. A helper takes the job of the first step that is not done. A new plan changes the jobs and their order.
 *
 * A pair whose modules take long to compile is three jobs: the two modules, which two helpers compile, and the pair,
 * which is measured by whoever comes by when both are there. If it shows a gain, it will be measured again, with
 * executables of its own, and these are wanted from then on. (When they were wanted only once the search came to the
 * pair, it waited for them each time: for as long as helpers had just begun something else, and for the compiling. Of
 * a search with 16 helpers that was all of its time.)
 *
 * What is no longer wanted is not begun. But what was made of it is kept, up to a limit: a search that took another
 * step often comes back to a region that this step did not touch. (When it was dropped, a search with 16 helpers that
 * kept most of its steps did a sixth of its work twice.)
 *
 * If a helper fails, the job has failed and is not tried again; the measuring worker then does it itself and has the
 * same outcome. So outcomes do not depend on helpers.
 */
#include <math.h>
#include <string.h>
#include "base/mem.h"
#include "base/progress.h"
#include "device/pool_own.h"

#define MOST_BYTES ((size_t)512 << 20) /* of executables that wait to be taken */
#define LATELY 0.2			/* the weight of the last one in a mean of what was lately */
#define LONG_WAIT 0.9			/* of a module's compilation: whoever waits longer compiles one meanwhile */
#define HELD_BYTES ((size_t)4 << 20)	/* of modules: larger ones are not held for a measurement that may not come */
#define LOOK 0.2			/* seconds after which whoever waits looks whether the user wants to stop */
#define MOST_IDLE 4096		       /* jobs that were done, at least in part, and are not wanted now */

void ahead_release(struct ahead *a)
{
	for (uint32_t i = 0; i < a->n; i++)
		buf_release(&a->executable[i]);
	*a = (struct ahead){0};
}

static struct job **bucket_of(struct pool *p, const uint64_t key[2])
{
	return &p->bucket[key[0] % BUCKETS];
}

static struct job *find(const struct pool *p, const uint64_t key[2])
{
	struct job *j = p->bucket[key[0] % BUCKETS];

	while (j && (j->key[0] != key[0] || j->key[1] != key[1]))
		j = j->next;
	return j;
}

/* Holds those modules of a pair that are there, for it may want more executables of them; or lets go of them. */
static void hold_sides(const struct pool *p, struct job *j, bool hold)
{
	for (int i = 0; i < 2; i++) {
		struct job *side = find(p, j->side[i]);
		if (!side || j->holds[i] == hold)
			continue;
		side->used = hold ? side->used + 1 : side->used - 1;
		j->holds[i] = hold;
	}
}

static void job_free(struct pool *p, struct job *j)
{
	struct job **at = bucket_of(p, j->key);

	hold_sides(p, j, false);
	while (*at != j)
		at = &(*at)->next;
	*at = j->next;
	for (uint32_t i = 0; i < j->made.n; i++)
		p->bytes -= j->made.executable[i].len;
	ahead_release(&j->made);
	for (int i = 0; i < 2; i++)
		buf_release(&j->of.module[i]);
	timing_release(&j->timing);
	mem_free(j);
}

/* Can it be begun now? */
static bool possible(const struct pool *p, const struct job *j)
{
	if (j->failed || j->done || j->made.n + j->running >= j->wanted)
		return false;
	if (!j->of.apart)
		return j->pair || p->bytes < MOST_BYTES;
	for (int i = 0; i < 2; i++) {
		const struct job *side = find(p, j->side[i]);
		if (!side || !side->made.n)
			return false;
	}
	return true;
}

/* The job of a step of the plan, if that can be begun and is not done as far as the step says; or NULL. */
static struct job *open_step(const struct pool *p, const struct step *s)
{
	struct job *j = find(p, s->key);

	if (!j || !possible(p, j))
		return NULL;
	return j->made.n + j->running + j->taken < s->upto + j->extra ? j : NULL;
}

struct job *pool_next(const struct pool *p)
{
	struct job *j = NULL;

	for (size_t i = 0; i < p->n_steps && !j; i++)
		j = open_step(p, &p->step[i]);
	return j;
}

struct job *pool_ready(const struct pool *p)
{
	struct job *j = NULL;

	for (size_t i = 0; i < p->n_steps && !j; i++) {
		j = open_step(p, &p->step[i]);
		j = j && j->of.apart ? j : NULL;
	}
	return j;
}

/* Drops what nobody wants, unless something of it is made or being made; of what is made, what is beyond the limits. */
static void sweep(struct pool *p)
{
	size_t kept = 0, idle = 0;

	for (size_t i = 0; i < p->n_jobs; i++)
		idle += !p->job[i]->wanted;
	for (size_t i = 0; i < p->n_jobs; i++) {
		struct job *j = p->job[i];
		bool some = j->done || (j->made.n && p->bytes < MOST_BYTES / 2);
		if (j->wanted || j->running || j->used || (some && idle <= MOST_IDLE)) {
			p->job[kept++] = j;
			continue;
		}
		idle--;
		job_free(p, j);
	}
	p->n_jobs = kept;
}

void pool_forget(struct pool *p)
{
	for (size_t i = 0; i < p->n_jobs; i++)
		job_free(p, p->job[i]);
	p->n_jobs = 0;
}

/* Compiles a module, without the lock. `c` gets its executable, or nothing. */
static void compile(struct device *d, const struct job *j, struct compiled *c)
{
	struct err err = {{0}};

	if (device_compile(d, COMPILE_REGION, "hlo", j->of.module[0].data, j->of.module[0].len,
		WANT_SERIALISED, c, &err) < 0)
		c->outcome = OUTCOME_REFUSED;
	if (device_drop(d, c, &err) < 0)
		c->outcome = OUTCOME_REFUSED;
}

/* The module is compiled, well or not. */
static void finish_module(struct pool *p, struct job *j, struct compiled *c)
{
	j->running--;
	if (c->outcome == OUTCOME_OK && c->serialised.len && j->made.n < AGENDA_COPIES) {
		p->bytes += c->serialised.len;
		j->made.executable[j->made.n++] = c->serialised;
		j->made.seconds = c->seconds;
		c->serialised = (struct buf){0};
	} else if (c->outcome != OUTCOME_OK || !c->serialised.len) {
		j->failed = true;
	}
	compiled_release(c);
}

/* Wants so many more executables of a module. */
static void want(struct job *j, uint32_t more)
{
	uint32_t most = j->pair ? 1 : AGENDA_COPIES;

	j->wanted = j->wanted + more > most ? most : j->wanted + more;
}

/* Wants more executables of both sides of a pair; `less`: so many fewer than planned. */
static void want_sides(const struct pool *p, const struct job *j, uint32_t more, uint32_t less)
{
	for (int i = 0; i < 2; i++) {
		struct job *side = find(p, j->side[i]);
		if (!side)
			continue;
		side->wanted -= side->wanted < less ? side->wanted : less;
		want(side, more);
		side->extra += more;
	}
}

/* The pair will be measured again: wants so many more executables of its sides, but for those that are spare. */
static void want_again(const struct pool *p, const struct job *j)
{
	for (int i = 0; i < 2; i++) {
		struct job *side = find(p, j->side[i]);
		uint32_t spare = side ? side->spare : 0, have = spare < j->again ? spare : j->again;
		if (!side)
			continue;
		side->spare -= have;
		want(side, j->again - have);
		side->extra += j->again - have;
	}
}

/* Takes an executable of each side out of their jobs. */
static void take_sides(struct pool *p, struct job *j, struct errand *e)
{
	for (int i = 0; i < 2; i++) {
		struct job *side = find(p, j->side[i]);
		e->executable[i] = side->made.executable[--side->made.n];
		e->compiling[i] = side->made.seconds;
		p->bytes -= e->executable[i].len;
		j->spent += side->spent;
		side->taken++;
		side->used++;
	}
	want_sides(p, j, 0, 1);
}

/* The pair is measured, or not: then only because nobody wanted it any more on this device, or it has failed. */
static void finish_pair(struct pool *p, struct job *j, struct timing *t, bool late)
{
	j->running--;
	j->again = t->outcome == OUTCOME_OK && p->again ? p->again(&j->of, t, p->times) : 0;
	hold_sides(p, j, j->again && j->of.module[0].len + j->of.module[1].len <= HELD_BYTES);
	if (j->again) {
		want_again(p, j);
		pthread_cond_broadcast(&p->more);
	}
	j->done = t->outcome == OUTCOME_OK;
	j->failed = !j->done && !late;
	if (j->done) {
		for (int i = 0; i < 2; i++)
			buf_release(&j->of.module[i]);
		j->timing = *t;
		*t = (struct timing){0};
	}
	timing_release(t);
}

/* A worker spent so long on a job. */
static void note_time(struct pool *p, struct helper *h, struct job *j, double seconds)
{
	if (!j->pair)
		p->module_seconds += (p->module_seconds > 0 ? LATELY : 1) * (seconds - p->module_seconds);
	j->spent = j->pair ? j->spent + seconds : seconds;
	p->busy += seconds;
	if (!h)
		return;
	p->helping += seconds;
	h->began = 0;
}

void pool_do(struct pool *p, struct device *d, struct job *j)
{
	struct compiled c = {0};
	struct timing t = {.outcome = OUTCOME_REFUSED};
	struct errand e = j->of;
	struct helper *h = d->helper;
	double began = j->began = now_seconds();
	void (*measure)(struct device *, const struct errand *, struct timing *) = p->measure;

	j->running++;
	if (h)
		h->began = began;
	if (e.apart)
		take_sides(p, j, &e);
	pthread_mutex_unlock(&p->lock);
	if (!j->pair)
		compile(d, j, &c);
	else
		measure(d, &e, &t);
	t.ahead += e.compiling[0] + e.compiling[1];
	for (int i = 0; i < 2; i++)
		buf_release(&e.executable[i]);
	pthread_mutex_lock(&p->lock);
	note_time(p, h, j, now_seconds() - began);
	if (j->pair)
		finish_pair(p, j, &t, t.outcome == OUTCOME_TIMEOUT && device_late(d));
	for (int i = 0; i < 2 && e.apart; i++)
		find(p, j->side[i])->used--;
	if (!j->pair)
		finish_module(p, j, &c);
	sweep(p);
	pthread_cond_broadcast(&p->made);
}

/* Waits for what helpers are making. No signal ends such a wait, so it is short where the user may want to stop. */
static void wait_for_helpers(struct pool *p, const struct device *d)
{
	double began = now_seconds(), look = began + LOOK, until = d->until;

	pool_wait(&p->made, &p->lock, d->heeds_stop && (until <= 0 || until > look) ? look : until);
	p->waited += now_seconds() - began;
}

/* Returns the job of an item of a plan, a new one if it has a module; NULL: it has neither. */
static struct job *job_of(struct pool *p, struct agenda_item *item)
{
	struct job *j = find(p, item->key);

	if (j || !item->of.module[0].len)
		return j;
	j = MEM_NEW(1, struct job);
	*j = (struct job){.key = {item->key[0], item->key[1]}, .pair = item->pair, .of = item->of};
	j->of.workers = p->n_helpers + 1;
	for (int i = 0; i < 2 && j->pair; i++)
		agenda_key(j->of.module[i].data, j->of.module[i].len, j->side[i]);
	item->of.module[0] = item->of.module[1] = (struct buf){0};
	MEM_GROW(&p->job, &p->cap_jobs, p->n_jobs + 1);
	p->job[p->n_jobs++] = j;
	j->next = *bucket_of(p, j->key);
	*bucket_of(p, j->key) = j;
	return j;
}

static void forget_plan(struct pool *p)
{
	for (size_t i = 0; i < p->n_jobs; i++) {
		struct job *j = p->job[i];
		j->wanted = j->taken = j->extra = j->spare = 0;
	}
	p->n_steps = 0;
}

static void add_step(struct pool *p, struct agenda_item *item)
{
	struct job *j = job_of(p, item);

	if (!j)
		return;
	want(j, item->copies);
	j->spare += item->spare ? item->copies : 0;
	MEM_GROW(&p->step, &p->cap_steps, p->n_steps + 1);
	p->step[p->n_steps++] = (struct step){{j->key[0], j->key[1]}, j->wanted};
	if (j->done || j->running) /* its modules, which stand before it, were used for it */
		want_sides(p, j, j->again, j->of.apart);
}

void pool_expect(struct pool *p, struct agenda *agenda)
{
	pthread_mutex_lock(&p->lock);
	if (p->first == 0 && agenda->n)
		p->first = now_seconds();
	if (agenda->measure)
		p->measure = agenda->measure;
	p->again = agenda->again;
	p->times = agenda->times;
	forget_plan(p);
	for (size_t i = 0; i < agenda->n; i++)
		add_step(p, &agenda->v[i]);
	sweep(p);
	pthread_cond_broadcast(&p->more);
	pthread_mutex_unlock(&p->lock);
}

/*
 * Returns one of these jobs of which too few executables are made or begun, or NULL; *wait: some are being made, and
 * will be until about this time on the clock.
 */
static struct job *not_begun(const struct pool *p, uint64_t (*key)[2], size_t n, uint32_t copies, bool *wait,
	double *until)
{
	*wait = false;
	*until = 0;
	for (size_t i = 0; i < n; i++) {
		struct job *j = find(p, key[i]);
		uint32_t need = !j || j->failed ? 0 : j->wanted < copies ? j->wanted : copies;
		if (j && j->made.n + j->running < need)
			return j;
		if (!j || j->made.n >= need)
			continue;
		*wait = true;
		*until = fmax(*until, j->began + p->module_seconds);
	}
	return NULL;
}

void pool_gather(struct pool *p, struct device *d, const struct buf *const *module, size_t n, uint32_t copies)
{
	uint64_t (*key)[2] = mem_alloc((n + 1) * sizeof *key);
	double until;
	bool wait;

	for (size_t i = 0; i < n; i++)
		agenda_key(module[i]->data, module[i]->len, key[i]);
	pthread_mutex_lock(&p->lock);
	for (;;) {
		struct job *j = not_begun(p, key, n, copies, &wait, &until);
		if (!j && wait)
			j = pool_ready(p);
		if (!j && wait && until - now_seconds() >= LONG_WAIT * p->module_seconds)
			j = pool_next(p);
		if (j)
			pool_do(p, d, j);
		else if (wait && !device_late(d))
			wait_for_helpers(p, d);
		else
			break;
	}
	pthread_mutex_unlock(&p->lock);
	mem_free(key);
}

bool pool_measured(struct pool *p, struct device *d, const uint64_t key[2], struct timing *out)
{
	bool found;
	struct job *j;

	pthread_mutex_lock(&p->lock);
	while ((j = find(p, key)) && j->running && !j->done && !device_late(d)) {
		struct job *other = j->of.apart ? pool_ready(p) : pool_next(p); /* it is soon there */
		if (other)
			pool_do(p, d, other);
		else
			wait_for_helpers(p, d);
	}
	found = j && j->done;
	if (found) {
		p->used += j->spent;
		j->spent = 0;
		*out = j->timing;
		j->timing = (struct timing){0};
		j->done = false;
		j->again = 0;
		hold_sides(p, j, false);
	}
	if (j) { /* nobody need begin it */
		j->wanted = 0;
		sweep(p);
	}
	pthread_mutex_unlock(&p->lock);
	return found;
}

bool pool_foretells(struct pool *p, const uint64_t key[2], struct foretold *out)
{
	const struct job *j;
	bool known;

	pthread_mutex_lock(&p->lock);
	j = find(p, key);
	known = j && j->done;
	if (known)
		*out = (struct foretold){j->of.times * (j->timing.delta + j->of.charge),
			j->of.times * j->timing.delta_se, j->timing.compiling + j->timing.inside};
	pthread_mutex_unlock(&p->lock);
	return known;
}

bool pool_is_ahead(struct pool *p, const uint64_t key[2])
{
	const struct job *j;
	bool ahead;

	pthread_mutex_lock(&p->lock);
	j = find(p, key);
	ahead = j && (j->done || j->running);
	pthread_mutex_unlock(&p->lock);
	return ahead;
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
		p->used += j->spent;
		j->taken++;
	}
	if (j) {
		j->wanted = j->wanted > most ? j->wanted - most : 0;
		sweep(p);
		pthread_cond_broadcast(&p->more); /* there is room again */
	}
	pthread_mutex_unlock(&p->lock);
}
