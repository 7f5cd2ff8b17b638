/*
 * talk.h - what a step that takes long says before it begins.
 *
 * Libraries open programs and compile them; only a main knows whether there is somebody to talk to, and under which
 * name (err_program). Nothing is said until it turns talking on.
 */
#ifndef BASE_TALK_H
#define BASE_TALK_H

#include <stdbool.h>
#include <stddef.h>

void talk_on(bool on);
/* One line on stderr, behind the program's name; nothing where talking is off. */
void talk(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* "40 s", "3 min", "2.5 h": a duration as one says it beforehand. Returns `out`. */
char *talk_seconds(double seconds, char *out, size_t n);

#endif
