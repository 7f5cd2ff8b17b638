/*
 * fit.c - calls the learners that were asked for, and puts their parts into one model. A network that corrects trees is
 * given what trees say that never saw its program (advice.h).
 */
#include "learn/fit.h"

#include <string.h>

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

static int fit_trees(const struct data *d, const bool *held, const struct fit_options *o, struct model *m,
	struct train_result *out, struct err *err)
{
	struct boost_result r = {0};

	if (boost(d, held, m->unit, &o->trees, &m->trees, &r, err) < 0)
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

int fit(const struct data *d, const bool *held, const struct fit_options *o, struct model *m, struct train_result *out,
	struct err *err)
{
	struct train_options net = o->net;
	struct advice a = {0};
	int rc = 0;

	m->unit = o->absolute ? data_unit(d, held) : 0;
	net.unit = m->unit;
	if (o->learner != LEARNER_GNN)
		rc = fit_trees(d, held, o, m, out, err);
	if (rc == 0 && o->learner == LEARNER_CORRECTED) {
		rc = advice_crossed(&m->trees, d, held, m->unit, &o->trees, &a, err);
		net.advice = &a;
	}
	if (rc == 0 && learner_has_net(o->learner))
		rc = train(d, held, &net, &m->net, out, err);
	advice_release(&a);
	return rc;
}
