/*
 * team.c - see team.h: one lock, two conditions. Items are milliseconds long, so a lock per item costs
 * nothing. A thread that cannot be started is done without; the others do its share.
 */
#include "learn/team.h"

#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include "base/mem.h"

struct member {
	struct team *team;
	uint32_t number;
	pthread_t thread;
};

struct team {
	struct member *member; /* [0] is the caller */
	uint32_t size;
	pthread_mutex_t lock;
	pthread_cond_t begin, end;
	void (*work)(void *ctx, uint32_t item, uint32_t member);
	void *ctx;
	uint32_t next, items, busy;
	bool quit;
};

/* Takes items until none is left; called and left with the lock held. */
static void take_items(struct team *t, uint32_t member)
{
	while (t->next < t->items) {
		uint32_t item = t->next++;
		t->busy++;
		pthread_mutex_unlock(&t->lock);
		t->work(t->ctx, item, member);
		pthread_mutex_lock(&t->lock);
		t->busy--;
	}
}

static void *member_main(void *arg)
{
	struct member *m = arg;
	struct team *t = m->team;

	pthread_mutex_lock(&t->lock);
	while (!t->quit) {
		take_items(t, m->number);
		if (t->busy == 0)
			pthread_cond_signal(&t->end);
		if (!t->quit)
			pthread_cond_wait(&t->begin, &t->lock);
	}
	pthread_mutex_unlock(&t->lock);
	return NULL;
}

struct team *team_new(uint32_t members)
{
	struct team *t = MEM_NEW(1, struct team);
	sigset_t all, old;

	t->member = MEM_NEW(members ? members : 1, struct member);
	t->size = 1;
	pthread_mutex_init(&t->lock, NULL);
	pthread_cond_init(&t->begin, NULL);
	pthread_cond_init(&t->end, NULL);
	/* Signals are the caller's business. */
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	for (uint32_t i = 1; i < members; i++) {
		struct member *m = &t->member[t->size];
		*m = (struct member){.team = t, .number = t->size};
		if (pthread_create(&m->thread, NULL, member_main, m) == 0)
			t->size++;
	}
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	return t;
}

uint32_t team_size(const struct team *t)
{
	return t->size;
}

void team_run(struct team *t, void (*work)(void *ctx, uint32_t item, uint32_t member), void *ctx, uint32_t items)
{
	pthread_mutex_lock(&t->lock);
	t->work = work;
	t->ctx = ctx;
	t->next = 0;
	t->items = items;
	pthread_cond_broadcast(&t->begin);
	take_items(t, 0);
	while (t->busy > 0)
		pthread_cond_wait(&t->end, &t->lock);
	t->items = 0;
	pthread_mutex_unlock(&t->lock);
}

void team_free(struct team *t)
{
	if (!t)
		return;
	pthread_mutex_lock(&t->lock);
	t->quit = true;
	pthread_cond_broadcast(&t->begin);
	pthread_mutex_unlock(&t->lock);
	for (uint32_t i = 1; i < t->size; i++)
		pthread_join(t->member[i].thread, NULL);
	pthread_cond_destroy(&t->end);
	pthread_cond_destroy(&t->begin);
	pthread_mutex_destroy(&t->lock);
	mem_free(t->member);
	mem_free(t);
}
