/*
 * holdout.h - which programs are not trained on, by a pattern that their names match (learn --holdout).
 */
#ifndef LEARN_HOLDOUT_H
#define LEARN_HOLDOUT_H

#include "base/opt.h"
#include "learn/data.h"

/*
 * Does the pattern leave a program to train on? Asks the stores for the names of their programs alone, before hours of
 * samples are read. What it does not refuse may still leave nothing, because not all of a store need be usable.
 */
int holdout_check(const char *pattern, const struct opt_list *stores, struct err *err);
/* Marks the graphs that are held out; it is an error if there are none. */
int holdout_mark(const struct data *d, const char *pattern, bool *held, struct err *err);

#endif
