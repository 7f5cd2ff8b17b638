/*
 * fit.c - calls the learners that were asked for, and puts their parts into one model. A network that corrects trees is
 * given what trees say that never saw its program (advice.h).
 */
#include "learn/fit.h"

#include <math.h>
#include <string.h>
#include "base/progress.h"

static const char *const names[LEARNERS] = {"gnn", "trees", "both", "corrected"};

enum learner learner_of(const char *name)
{
	enum learner l = 0;

	while (l < LEARNERS && strcmp(names[l], name) != 0)
		l++;
	return l;
}

const char *learner_name(enum learner l)
{
	return names[l];
}

static int fit_trees(const struct data *d, const bool *held, const struct fit_options *o,
	const struct boost_options *trees, struct model *m, struct train_result *out, struct err *err)
{
	struct boost_result r = {0};

	if (boost(d, held, m->unit, trees, &m->trees, &r, err) < 0)
		return -1;
	out->stopped |= r.stopped;
	if (learner_has_net(o->learner))
		return 0;
	out->n_train = r.rows;
	out->steps = o->trees.rounds;
	out->draws = r.rows * o->trees.rounds;
	out->seconds = r.seconds;
	return 0;
}

/* The options of trees, which may be grown several times, with their part of the time. */
static struct boost_options share_of_trees(const struct fit_options *o)
{
	struct boost_options trees = o->trees;

	trees.seconds = o->seconds / (learner_has_net(o->learner) ? 2 : 1);
	if (o->learner == LEARNER_CORRECTED)
		trees.seconds /= 1 + ADVICE_PARTS;
	return trees;
}

int fit(const struct data *d, const bool *held, const struct fit_options *o, struct model *m, struct train_result *out,
	struct err *err)
{
	struct train_options net = o->net;
	struct boost_options trees = share_of_trees(o);
	double start = now_seconds();
	struct advice a = {0};
	int rc = 0;

	m->unit = o->absolute ? data_unit(d, held) : 0;
	net.unit = m->unit;
	if (o->learner != LEARNER_GNN)
		rc = fit_trees(d, held, o, &trees, m, out, err);
	if (rc == 0 && o->learner == LEARNER_CORRECTED) {
		rc = advice_crossed(&m->trees, d, held, m->unit, &trees, &a, err);
		net.advice = &a;
	}
	if (o->seconds > 0)
		net.seconds = fmax(o->seconds - (now_seconds() - start), o->seconds / 4);
	if (rc == 0 && learner_has_net(o->learner))
		rc = train(d, held, &net, &m->net, out, err);
	advice_release(&a);
	return rc;
}
