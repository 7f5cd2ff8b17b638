/*
 * puzzle.h - shows a public problem (a JSON file, perhaps packed): its size, its memory over time, and a bound.
 */
#ifndef INSPECT_PUZZLE_H
#define INSPECT_PUZZLE_H

#include "base/buf.h"
#include "base/err.h"

/* Returns 1 if the file holds such a problem, which is appended to `out`; 0 if it is no JSON; -1 with a sentence. */
int puzzle_show(const char *path, struct buf *out, struct err *err);

#endif
