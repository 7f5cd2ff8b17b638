/*
 * answer.h - answers one line of a client with one line: schemas/arena.md.
 */
#ifndef ARENA_ANSWER_H
#define ARENA_ANSWER_H

#include "arena/contest.h"
#include "arena/line.h"
#include "arena/request.h"

#define ARENA_VERSION 1

/*
 * Appends the answer and a newline to `out`. `text` NULL: the line was too long. Sets `quit` where the client asked the
 * server to end. -1 with a sentence: the environment is broken, and the server has to end; `out` then tells that.
 */
int answer(struct contest *c, struct request *r, const char *text, size_t n, struct buf *out, bool *quit,
	struct err *err);

#endif
