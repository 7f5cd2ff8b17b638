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

/* Puts "PREFIX: " before the sentence, unless the sentence begins with PREFIX already; returns -1. */
int err_prefix(struct err *err, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* For a main: prints "PROGRAM: sentence" on stderr and returns 1, the exit status. */
int err_exit(const struct err *err);

/* Sets PROGRAM, the name that err_exit and BUG print. The string must last; a main sets it first. */
void err_program(const char *name);
const char *err_program_name(void);

/* A broken invariant of our own: prints place and sentence, aborts. */
_Noreturn void bug_at(const char *file, int line, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
#define BUG(...) bug_at(__FILE__, __LINE__, __VA_ARGS__)
#define BUG_ON(cond) ((cond) ? BUG("%s", #cond) : (void)0)

#endif
