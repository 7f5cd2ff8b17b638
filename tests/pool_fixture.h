/*
 * pool_fixture.h - a device with helpers on the fake plugin, and what they are to compile.
 */
#ifndef TESTS_POOL_FIXTURE_H
#define TESTS_POOL_FIXTURE_H

#include <stdatomic.h>
#include "device/pool_own.h"
#include "tests/device_fixture.h"

static inline struct device *pool_fixture_open(int jobs, bool quiet)
{
	struct device_options o = {.backend = fixture_plugin, .jobs = jobs, .quiet_pairs = quiet, .deadline = 60};
	struct err err = {{0}};
	struct device *d = device_open(&o, &err);

	if (!CHECK(d))
		printf("  %s\n", err.text);
	return d;
}

static inline void pool_fixture_expect(struct device *d, const char *const *script, size_t n, uint32_t copies)
{
	struct agenda agenda = {0};

	for (size_t i = 0; i < n; i++) {
		struct buf module = {0};
		fixture_program(script[i], &module);
		agenda_add(&agenda, &module, copies);
	}
	device_expect(d, &agenda);
	agenda_release(&agenda);
}

/* Is nothing of the plan being done, and nothing left that can be begun? Then what is not there by now never comes. */
static inline bool pool_fixture_idle(const struct device *d)
{
	struct pool *p = d->pool;
	bool idle;

	pthread_mutex_lock(&p->lock);
	idle = p->n_gone == p->n_helpers || !pool_next(p);
	for (size_t i = 0; i < p->n_jobs; i++)
		idle = idle && !p->job[i]->running;
	pthread_mutex_unlock(&p->lock);
	return idle;
}

/* Waits until it is told what this pair will show. False: it never will be, because a worker failed. */
static inline bool pool_fixture_foretold(const struct device *d, const uint64_t key[2], struct foretold *told)
{
	while (!device_foretells(d, key, told)) {
		if (pool_fixture_idle(d))
			return device_foretells(d, key, told);
		sched_yield();
	}
	return true;
}

/* Waits until a count that helpers raise has come so far. False: it never will. */
static inline bool pool_fixture_counted(const struct device *d, atomic_int *count, int upto)
{
	while (*count < upto) {
		if (pool_fixture_idle(d))
			return *count >= upto;
		sched_yield();
	}
	return true;
}

#endif
