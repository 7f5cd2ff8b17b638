/*
 * lesson.h - a network taught on toys: everything that such a test needs, made and released as one.
 */
#ifndef TESTS_LESSON_H
#define TESTS_LESSON_H

#include "learn/team.h"
#include "learn/train.h"
#include "tests/toy_data.h"

struct lesson {
	struct toys toys;
	struct data d;
	struct train_options o;
	struct train_result r;
	struct net net;
	struct team *team; /* one thread */
	struct err err;
};

static inline struct lesson lesson_new(void)
{
	struct lesson t = {.o = TRAIN_DEFAULTS, .team = team_new(1)};

	data_init(&t.d, 3);
	return t;
}

static inline void lesson_release(struct lesson *t)
{
	net_release(&t->net);
	train_result_release(&t->r);
	team_free(t->team);
	data_release(&t->d);
	toys_release(&t->toys);
}

#endif
