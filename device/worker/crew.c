/*
 * crew.c - finds the plugin's threads by listing those of the process before and after the first compilation, and moves
 * them by their numbers, for there is no call to ask the plugin.
 *
 * Tried and dropped: to let the whole process use more cores while it compiles. XLA:CPU cuts work into parallel tasks
 * by the cores of the thread that compiles, so a program for one core came out as one for four. It also splits a
 * program into as many parts to compile as there are to be at most, not by how many threads there are; so the parts,
 * and the code in them, do not depend on the crew.
 */
#include "device/worker/crew.h"
#ifdef HAVE_PJRT
#include <dirent.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include "base/mem.h"
#include "device/machine.h"

#define LOOK_AGAIN 500000000L /* nanoseconds after which others may have begun to measure */

struct crew {
	int *core; /* the worker's own, and then the others */
	size_t n_own, n;
	long *thread;
	size_t n_threads, cap_threads;
	pthread_t watch;
	pthread_mutex_t lock;
	pthread_cond_t over;
	bool spread, watched;
	long caller; /* a thread that is spread as well; 0: none */
};

static void list_threads(long **thread, size_t *n, size_t *cap)
{
	DIR *dir = opendir("/proc/self/task");

	for (struct dirent *e; dir && (e = readdir(dir));)
		if (*e->d_name != '.') {
			MEM_GROW(thread, cap, *n + 1);
			(*thread)[(*n)++] = atol(e->d_name);
		}
	if (dir)
		closedir(dir);
}

/* The smallest program that XLA:CPU compiles with its threads. */
static void compile_something(struct pjrt *p)
{
	static const char text[] =
		"module { func.func public @main(%x: tensor<2xf32>) -> tensor<2xf32> {"
		" %y = stablehlo.negate %x : tensor<2xf32> return %y : tensor<2xf32> } }";
	struct refusal ignored = {0};

	program_free(program_new(p, "mlir", text, sizeof text - 1, "", false, NULL, &ignored));
}

/* Moves all threads of the crew to these cores. One that has ended is no matter. */
static void move(const struct crew *c, const int *core, size_t n)
{
	struct err ignored;

	for (size_t i = 0; i < c->n_threads; i++)
		thread_pin(c->thread[i], core, n, &ignored);
	if (c->caller)
		thread_pin(c->caller, core, n, &ignored);
}

/* Keeps the threads that were not there before. */
static void keep_new(struct crew *c, const long *before, size_t n)
{
	size_t kept = 0;

	for (size_t i = 0; i < c->n_threads; i++) {
		size_t k = 0;
		while (k < n && before[k] != c->thread[i])
			k++;
		if (k == n)
			c->thread[kept++] = c->thread[i];
	}
	c->n_threads = kept;
}

static void crew_free(struct crew *c)
{
	pthread_mutex_destroy(&c->lock);
	pthread_cond_destroy(&c->over);
	mem_free(c->core);
	mem_free(c->thread);
	mem_free(c);
}

struct crew *crew_raise(struct pjrt *p, const int *own, size_t n_own, const int *other, size_t n_other)
{
	struct crew *c;
	pthread_condattr_t clock;
	long *before = NULL;
	size_t n = 0, cap = 0;
	struct err ignored;

	if (n_own == 0 || n_other == 0)
		return NULL;
	c = MEM_NEW(1, struct crew);
	pthread_mutex_init(&c->lock, NULL);
	pthread_condattr_init(&clock);
	pthread_condattr_setclock(&clock, CLOCK_MONOTONIC);
	pthread_cond_init(&c->over, &clock);
	pthread_condattr_destroy(&clock);
	c->n_own = n_own;
	c->n = n_own + n_other;
	c->core = MEM_NEW(c->n, int);
	memcpy(c->core, own, n_own * sizeof *own);
	memcpy(c->core + n_own, other, n_other * sizeof *other);
	list_threads(&before, &n, &cap);
	if (thread_pin(0, c->core, c->n, &ignored) == 0)
		compile_something(p);
	thread_pin(0, own, n_own, &ignored);
	list_threads(&c->thread, &c->n_threads, &c->cap_threads);
	keep_new(c, before, n);
	mem_free(before);
	move(c, own, n_own);
	if (c->n_threads)
		return c;
	crew_free(c);
	return NULL;
}

/* Moves the threads to all cores on which no other process measures. */
static void use_free_cores(const struct crew *c)
{
	int *core = MEM_NEW(c->n, int);
	size_t n = c->n_own;

	memcpy(core, c->core, n * sizeof *core);
	for (size_t i = c->n_own; i < c->n; i++)
		if (!core_claimed(c->core[i]))
			core[n++] = c->core[i];
	move(c, core, n);
	mem_free(core);
}

static void *watch(void *ctx)
{
	struct crew *c = ctx;
	struct timespec t;

	pthread_mutex_lock(&c->lock);
	while (c->spread) {
		clock_gettime(CLOCK_MONOTONIC, &t);
		t.tv_nsec += LOOK_AGAIN;
		if (t.tv_nsec >= 1000000000L) {
			t.tv_sec++;
			t.tv_nsec -= 1000000000L;
		}
		pthread_cond_timedwait(&c->over, &c->lock, &t);
		if (c->spread)
			use_free_cores(c);
	}
	pthread_mutex_unlock(&c->lock);
	return NULL;
}

/* Moves whatever threads there are: those that the caller started elsewhere are there. */
static void recall_all(const struct crew *c)
{
	long *thread = NULL;
	size_t n = 0, cap = 0;
	struct err ignored;

	list_threads(&thread, &n, &cap);
	for (size_t i = 0; i < n; i++)
		thread_pin(thread[i], c->core, c->n_own, &ignored);
	mem_free(thread);
}

void crew_spread(struct crew *c, bool caller)
{
	if (!c)
		return;
	c->caller = caller ? (long)gettid() : 0;
	use_free_cores(c);
	c->spread = true;
	c->watched = pthread_create(&c->watch, NULL, watch, c) == 0;
}

size_t crew_others(const struct crew *c, const int **core)
{
	*core = c ? c->core + c->n_own : NULL;
	return c ? c->n - c->n_own : 0;
}

void crew_gather(struct crew *c)
{
	if (!c || !c->spread)
		return;
	pthread_mutex_lock(&c->lock);
	c->spread = false;
	pthread_cond_broadcast(&c->over);
	pthread_mutex_unlock(&c->lock);
	if (c->watched)
		pthread_join(c->watch, NULL);
	move(c, c->core, c->n_own);
	if (c->caller)
		recall_all(c);
}
#endif
