/*
 * scan.h - reading JSON, one value after the other, in the order of the text.
 *
 *	struct scan s;
 *	scan_open(&s, text, n, &err);
 *	if (scan_object(&s) < 0)
 *		return -1;
 *	while ((rc = scan_key(&s, key, sizeof key)) == 1)
 *		rc = strcmp(key, "limit") == 0 ? scan_i64(&s, &limit) : scan_skip(&s);
 *	return rc < 0 ? -1 : scan_end(&s);
 *
 * No tree is built, so a file of any size needs no memory but what the caller keeps. Every function returns -1
 * with a sentence that names the line when the text is not what was asked for; after that the scan must not be
 * used again. Nesting is limited to SCAN_DEPTH.
 */
#ifndef BASE_SCAN_H
#define BASE_SCAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/buf.h"
#include "base/err.h"

#define SCAN_DEPTH 60

struct scan {
	const char *text, *p, *end;
	struct err *err;
	int depth;
	uint64_t nonempty; /* one bit per depth: a member was read there */
};

void scan_open(struct scan *s, const void *text, size_t n, struct err *err);
/* Only white space may follow. */
int scan_end(struct scan *s);

int scan_object(struct scan *s);
/* 1: a key was read, cut to `room` bytes, and its value comes next; 0: the object has ended. */
int scan_key(struct scan *s, char *key, size_t room);
int scan_array(struct scan *s);
/* 1: an element comes next; 0: the array has ended. */
int scan_item(struct scan *s);

/* A whole number of 64 bits, in whatever way it is written: 15, 1.5e1, 150E-1. */
int scan_i64(struct scan *s, int64_t *v);
int scan_f64(struct scan *s, double *v); /* finite */
int scan_bool(struct scan *s, bool *v);	 /* true, false, 1 or 0 */
int scan_str(struct scan *s, struct buf *out); /* appended, as UTF-8 */
int scan_skip(struct scan *s);		 /* a value of any kind */
/* Is the next value of that kind: one of { [ " t f n, or 0 for a number? */
bool scan_is(struct scan *s, char kind);

/* For what the caller finds wrong: "line N: sentence". Returns -1. */
int scan_fail(struct scan *s, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

#endif
