/*
 * history.h - keeps a line about every model that was judged, beside the place of the models: PLACE.history.
 *
 * A line is one object of JSON: when, what the model was learnt from, how it was judged against the one before it, and
 * whether it took its place. Lines are only ever added, under the lock of the place (shelf.h). `store report` shows
 * them.
 */
#ifndef LEARN_HISTORY_H
#define LEARN_HISTORY_H

#include "learn/keep.h"

/* Adds a line about `fresh`. If the last line is torn, because its writer was killed, a new line begins after it. */
int history_add(const struct kept *k, const struct model *fresh, double at, struct err *err);

#endif
