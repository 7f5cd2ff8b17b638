/*
 * settings.h - what `learn` was asked for on its command line.
 */
#ifndef LEARN_SETTINGS_H
#define LEARN_SETTINGS_H

#include "base/opt.h"
#include "learn/fit.h"

struct settings {
	struct opt_list dbs, given; /* given: the names of all options on the command line */
	const char *out, *report, *eval, *holdout, *backend, *cost;
	const char *learner;
	double kernel_us; /* OPT_AUTO: by the backend */
	double other_weight;
	int64_t width, head, layers, ramps;
	int64_t batch, threads, seed, limit, patience, least_steps, trees, leaves, least_rows;
	int64_t parts, programs;
	bool leave_one_out, json, blind, linear, current_only, quiet, score_training, keep, force, models, absolute;
	bool foreign; /* what --eval names may have been learnt elsewhere */
	struct fit_options fit;
};

void settings_init(struct settings *s);
/* 0: go on; 1: the question was for help, and is answered; -1. Fills `fit` from the rest. */
int settings_parse(struct settings *s, int argc, char **argv, struct err *err);
void settings_release(struct settings *s);

#endif
