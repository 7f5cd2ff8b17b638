/*
 * line.c - cuts what a descriptor gives into lines. One buffer holds the bytes that were read and not yet handed out.
 */
#include "arena/line.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>
#include "base/stop.h"

#define CHUNK ((size_t)1 << 16)

/* Reads some more; 1, or 0 at the end. */
static int fill(struct lines *l, struct err *err)
{
	ssize_t n;

	if (l->at) {
		memmove(l->read.data, l->read.data + l->at, l->read.len - l->at);
		l->read.len -= l->at;
		l->at = 0;
	}
	buf_reserve(&l->read, CHUNK);
	do {
		if (stop_asked())
			return 0;
		n = read(l->fd, l->read.data + l->read.len, CHUNK);
	} while (n < 0 && errno == EINTR);
	if (n < 0 && errno == ECONNRESET) /* the client died */
		return 0;
	if (n < 0)
		return err_errno(err, "requests cannot be read");
	l->read.len += (size_t)n;
	return n > 0;
}

int lines_next(struct lines *l, const char **text, size_t *n, struct err *err)
{
	size_t seen = 0; /* bytes from `at` on that hold no newline */
	int rc;

	for (;;) {
		const char *from = l->read.data ? l->read.data + l->at : "";
		size_t left = l->read.len - l->at;
		const char *end = left > seen ? memchr(from + seen, '\n', left - seen) : NULL;
		if (end) {
			bool passed = l->passing || (size_t)(end - from) > LINE_MOST;
			*text = from;
			*n = (size_t)(end - from);
			l->at += *n + 1;
			l->passing = false;
			return passed ? LINE_TOO_LONG : LINE_GOT;
		}
		seen = left;
		if (left > LINE_MOST) {
			l->passing = true;
			l->at = l->read.len;
			seen = 0;
		}
		if ((rc = fill(l, err)) < 1)
			return rc < 0 ? -1 : LINE_ENDED;
	}
}

void lines_release(struct lines *l)
{
	buf_release(&l->read);
	*l = (struct lines){0};
}
