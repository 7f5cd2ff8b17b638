/*
 * puzzle.h - what is in a public problem of placement (a JSON file, perhaps packed).
 */
#ifndef INSPECT_PUZZLE_H
#define INSPECT_PUZZLE_H

#include "base/buf.h"
#include "base/err.h"

/* 1 when the text was such a problem and is shown; 0 when it is none. */
int puzzle_show(const char *path, struct buf *out, struct err *err);

#endif
