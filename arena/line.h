/*
 * line.h - lines from a file descriptor, of at most LINE_MOST bytes.
 *
 * A longer line is skipped, and the caller is told (LINE_TOO_LONG). Bytes after the last newline are no line: their
 * writer was cut off.
 */
#ifndef ARENA_LINE_H
#define ARENA_LINE_H

#include <stdbool.h>
#include "base/buf.h"
#include "base/err.h"

#define LINE_MOST ((size_t)16 << 20)

struct lines { /* all zero but `fd` is ready */
	int fd;
	struct buf read; /* bytes that were read and not given out yet, from `at` on */
	size_t at;
	bool passing; /* over a line that is too long */
};

enum line_got { LINE_ENDED, LINE_GOT, LINE_TOO_LONG };
/*
 * The next line, without its newline; it lasts until the next call. LINE_ENDED also where a signal asked to stop
 * (base/stop.h). -1: the descriptor cannot be read.
 */
int lines_next(struct lines *l, const char **text, size_t *n, struct err *err);
void lines_release(struct lines *l);

#endif
