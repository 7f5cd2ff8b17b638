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

/*
 * A wait of which nobody can say how long it is, such as for a compiler. Between talk_wait and talk_waited, whoever
 * waits in this thread wakes up after at most talk_due seconds, and calls talk_still: so nobody thinks that it hangs.
 * The first word comes after half a minute, or after twice as long as was foreseen (0: nothing was), the next ones
 * after two, four, eight times as long. `now` is the clock (now_seconds).
 */
void talk_wait(const char *what, double foreseen, double now);
void talk_waited(void);
double talk_due(double now); /* INFINITY: nothing is waited for, or nothing is to be said */
void talk_still(double now);
/*
 * The user asked the program to stop, and this thread waits all the same: says so, once for each wait, if the next
 * signal ends the program.
 */
void talk_insist(void);
/* Writes what talk_still would say; false if it is not time yet. */
bool talk_still_text(double now, char *out, size_t n);

#endif
