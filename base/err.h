/*
 * err.h - how a function says what went wrong.
 *
 * What can fail returns 0, or -1 with one finished sentence in the caller's `struct err`: it names
 * the thing (file, node, option), the offence, and if possible the way out. On success the struct
 * is left untouched. Only a `main` prints it and exits.
 *
 *	struct err err = {0};
 *	if (graph_read(&g, path, &err) < 0)
 *		return err_exit(&err);
 *
 * Three things never mix. Bad input or environment: an err. A bug of ours: BUG, which aborts. What
 * a device did with a program (refused it, crashed): an outcome, see schemas/outcome.def.
 */
#ifndef BASE_ERR_H
#define BASE_ERR_H

struct err {
	char text[1024];
};

/* Sets the sentence; always returns -1, so that `return err_set(...)` reads well. err may be NULL. */
int err_set(struct err *err, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* Sets the sentence followed by ": " and the text of errno as it was at the call; returns -1. */
int err_errno(struct err *err, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* Puts "PREFIX: " before a sentence already set, unless it begins with PREFIX as it is; returns -1. */
int err_prefix(struct err *err, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* For a main: prints "PROGRAM: sentence" on stderr and returns the exit status 1. */
int err_exit(const struct err *err);

/* The name err_exit and bug use; a main sets it first (a static string). */
void err_program(const char *name);

/* A broken invariant of our own: prints place and sentence, aborts. */
_Noreturn void bug_at(const char *file, int line, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
#define BUG(...) bug_at(__FILE__, __LINE__, __VA_ARGS__)
#define BUG_ON(cond) ((cond) ? BUG("%s", #cond) : (void)0)

#endif
