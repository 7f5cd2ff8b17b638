/*
 * hint.h - says what else could be decided about a program.
 */
#ifndef SEARCH_HINT_H
#define SEARCH_HINT_H

#include "lab/lab.h"

/*
 * Appends a sentence if another kind, whose answers are programs with which this one could go on, promises to shorten
 * the program by a share that is worth trying; nothing otherwise.
 */
void hint_other(const struct lab *lab, double default_seconds, struct buf *out);

#endif
