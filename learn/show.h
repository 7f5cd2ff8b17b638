/*
 * show.h - an evaluation for people (a table) and for programs (JSON).
 */
#ifndef LEARN_SHOW_H
#define LEARN_SHOW_H

#include "base/json.h"
#include "base/quantity.h"
#include "learn/eval.h"

/* Appends one block per graph and, for more than one, their mean. */
void show_text(const struct data *d, const struct evaluation *e, enum quantity q, struct buf *out);
/* Appends an array of objects, one per graph, under `key`. */
void show_json(const struct data *d, const struct evaluation *e, struct json *j, const char *key);

#endif
