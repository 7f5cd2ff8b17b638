/*
 * err.c - one sentence per failure; see err.h for when it is an error, a bug or an outcome.
 *
 * Every function formats into a buffer of its own first, so a sentence may quote the one it
 * replaces: err_set(err, "pass 2: %s", err->text).
 */
#include "base/err.h"

#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *program = "vantage";

/* Sets the sentence to a, b and c joined. What does not fit is cut off: a cut sentence is better than none. */
static void put(struct err *err, const char *a, const char *b, const char *c)
{
	struct err joined;
	size_t n = 0;
	const char *piece[] = {a, b, c};
	for (int i = 0; i < 3; i++) {
		size_t len = strlen(piece[i]), room = sizeof(joined.text) - 1 - n;
		if (len > room)
			len = room;
		memcpy(joined.text + n, piece[i], len);
		n += len;
	}
	memcpy(err->text, joined.text, n);
	err->text[n] = '\0';
}

int err_set(struct err *err, const char *fmt, ...)
{
	char text[sizeof(err->text)];
	va_list ap;
	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	if (err)
		put(err, text, "", "");
	return -1;
}

int err_errno(struct err *err, const char *fmt, ...)
{
	int code = errno;
	char text[sizeof(err->text)], why[128];
	va_list ap;
	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	if (err)
		put(err, text, ": ", strerror_r(code, why, sizeof(why)));
	errno = code;
	return -1;
}

/* "a.pb is empty" needs no "a.pb: " before it. */
static bool says_already(const char *sentence, const char *prefix)
{
	size_t n = strlen(prefix);

	return n && strncmp(sentence, prefix, n) == 0 && strchr(": ", sentence[n]);
}

int err_prefix(struct err *err, const char *fmt, ...)
{
	char text[sizeof(err->text)];
	va_list ap;
	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	if (err && !says_already(err->text, text))
		put(err, text, ": ", err->text);
	return -1;
}

int err_exit(const struct err *err)
{
	fflush(stdout);
	fprintf(stderr, "%s: %s\n", program, err->text[0] ? err->text : "failed without saying why");
	return 1;
}

void err_program(const char *name)
{
	program = name;
}

const char *err_program_name(void)
{
	return program;
}

_Noreturn void bug_at(const char *file, int line, const char *fmt, ...)
{
	va_list ap;
	va_start(ap, fmt);
	fprintf(stderr, "%s: bug at %s:%d: ", program, file, line);
	vfprintf(stderr, fmt, ap);
	fputc('\n', stderr);
	va_end(ap);
	abort();
}
