/*
 * pool_own.h - what the files of a pool share; nobody else includes it.
 *
 *	pool.c	threads, cores, and what disturbs what	pool_plan.c  the jobs of a plan, and what comes of them
 */
#ifndef DEVICE_POOL_OWN_H
#define DEVICE_POOL_OWN_H

#include <pthread.h>
#include "device/machine.h"
#include "device/ops.h"

/* A module of which executables are wanted, or a pair that is to be measured. */
struct job {
	uint64_t key[2];
	bool pair;
	struct errand of;	  /* a single module is module[0] */
	uint32_t wanted, running; /* executables: in all; being made. Of a pair: 0 or 1 */
	uint32_t taken, extra; /* since the plan came: taken; wanted beside it */
	uint32_t spare;	       /* of those wanted: for the case that a pair is measured again */
	struct ahead made;
	struct timing timing; /* of a pair, once it is done */
	uint32_t used; /* a module: pairs that are measured with executables of it, or show a gain, and may want more */
	bool failed, done;
	uint64_t side[2][2]; /* of a pair: the jobs of its modules */
	uint32_t again;	     /* ... of which it needs so many more executables, now that it was measured */
	bool holds[2];	     /* ... and which of its modules are held for that */
	double spent;	     /* seconds of a worker: of a pair, all that went into it; of a module, each executable */
	double began;	     /* when it was begun last, the clock */
	struct job *next;    /* in its bucket */
};

/* So many executables of a module are to be made, of all that the plan wants; or a pair is to be measured. */
struct step {
	uint64_t key[2];
	uint32_t upto;
};

struct helper {
	struct pool *pool;
	pthread_t thread;
	struct device_options options;
	int *core;   /* borrowed by options.beside */
	struct core_lock *lock; /* of each of them, while it measures */
	pid_t process; /* of its worker; 0: none */
	double began; /* what it does now, the clock; 0: nothing */
};

#define BUCKETS 1024

struct pool {
	pthread_mutex_t lock;
	pthread_cond_t more, made, never; /* something to do; something was done; only time passes */
	struct job **job;
	size_t n_jobs, cap_jobs, bytes;
	struct step *step; /* in order of need */
	size_t n_steps, cap_steps;
	struct job *bucket[BUCKETS]; /* the same, to be found by key */
	struct helper *helper;
	uint32_t n_helpers, measuring; /* ... of them at present */
	uint32_t n_gone; /* ... of them for want of a device */
	void (*measure)(struct device *d, const struct errand *e, struct timing *out);
	uint32_t (*again)(const struct errand *e, const struct timing *t, uint32_t times), times;
	bool quiet, measures, shares, held, closing; /* shares: cores, as VANTAGE_SHARE_CORES says */
	double first; /* when the first plan came, the clock; 0: there was none */
	double module_seconds; /* that compiling one took lately, on the mean; 0: not known */
	double busy, helping, used, waited; /* seconds: all jobs; ... of helpers; of what was taken; of the caller */
};

/* All of these are called under the pool's lock. */
struct job *pool_next(const struct pool *p); /* the first job that is to be begun; NULL: there is none */
struct job *pool_ready(const struct pool *p); /* the first such pair whose modules are compiled */
void pool_do(struct pool *p, struct device *d, struct job *j); /* does it on this device, without the lock */
void pool_forget(struct pool *p); /* all jobs */
/* Waits for news, or, if `until` is not 0, for this time on the clock. */
void pool_wait(pthread_cond_t *news, pthread_mutex_t *lock, double until);

#endif
