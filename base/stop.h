/*
 * stop.h - the signals that end a program, and a flag that may be read anywhere.
 *
 * Every program calls stop_on_signals once, before it begins. One that can end cleanly asks stop_asked
 * from then on wherever it could. Any thread may ask: the flag is a lock-free atomic, which a signal
 * handler may write and other threads see (sig_atomic_t promises only the first).
 */
#ifndef BASE_STOP_H
#define BASE_STOP_H

#include <stdbool.h>

enum stop_how {
	STOP_BY_DEFAULT, /* SIGINT and SIGTERM end the program, as without us */
	STOP_WHEN_ASKED, /* they set the flag, and interrupt calls that wait */
	STOP_AT_SECOND	 /* the first sets the flag; the second ends the program at once, with status 130 */
};

/*
 * The environment may name the parent by its number. Then the program is sent SIGTERM when the thread
 * that started it ends, however that ends. The Python package asks for this: a search must not go on
 * for an hour when nobody is there for its result.
 */
#define STOP_PARENT "VANTAGE_PARENT"

/*
 * SIGXFSZ is always ignored. A write beyond the limit of file sizes then fails and is reported like any
 * other error; the signal would end the program without a word.
 */
void stop_on_signals(enum stop_how how);

bool stop_asked(void);
/* Does another signal end the program at once (STOP_AT_SECOND)? */
bool stop_ends_at_second(void);

/* Sets or clears the flag without a signal: for tests, which have to take it back. */
void stop_ask(bool stop);

#endif
