/*
 * fit.h - fits a model with the learner that the user asked for, or with two, on the same data, labels and held-out
 * graphs. Of two, either each learns alone and the model's predictions are their mean, or the network takes what the
 * trees say and corrects it.
 */
#ifndef LEARN_FIT_H
#define LEARN_FIT_H

#include "learn/boost.h"
#include "learn/model.h"
#include "learn/train.h"

enum learner { LEARNER_GNN, LEARNER_TREES, LEARNER_BOTH, LEARNER_CORRECTED, LEARNERS };
/* "gnn", "trees", "both", "corrected"; LEARNERS for any other word. */
enum learner learner_of(const char *name);
const char *learner_name(enum learner l);
static inline bool learner_has_net(enum learner l)
{
	return l != LEARNER_TREES;
}

struct fit_options {
	enum learner learner;
	struct train_options net; /* its unit and its seconds are filled in */
	struct boost_options trees; /* its seconds are filled in */
	double seconds;		  /* the most time for the model; if it has both, half for trees; 0: no limit */
	bool absolute;		  /* labels count in time for one execution, not in each graph's median */
};

/* Sets the learnt parts of `m` (model.h), for the caller to release; `out` is of the network, or of the trees alone. */
int fit(const struct data *d, const bool *held, const struct fit_options *o, struct model *m, struct train_result *out,
	struct err *err);

#endif
