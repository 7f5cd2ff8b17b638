/* talk.c - one switch and one line; and of each thread, what it waits for. */
#include "base/talk.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include "base/err.h"
#include "base/stop.h"

#define SILENCE 30.0 /* seconds for which nothing need be said */
#define BEYOND 2.0   /* times what was foreseen is worth a word, and so many times what was worth the last one */

static bool talking;
static _Thread_local struct {
	const char *what; /* NULL: nothing is waited for */
	double foreseen, began, next; /* seconds; the clock; seconds after which the next word is due */
	bool insisted;
} wait;

void talk_on(bool on)
{
	talking = on;
}

void talk(const char *fmt, ...)
{
	char line[600];
	va_list ap;

	if (!talking)
		return;
	va_start(ap, fmt);
	vsnprintf(line, sizeof line, fmt, ap);
	va_end(ap);
	fprintf(stderr, "%s: %s\n", err_program_name(), line);
}

char *talk_seconds(double seconds, char *out, size_t n)
{
	if (seconds < 90)
		snprintf(out, n, "%.*f s", seconds < 1 ? 1 : 0, seconds);
	else if (seconds < 5400)
		snprintf(out, n, "%.0f min", seconds / 60);
	else
		snprintf(out, n, "%.1f h", seconds / 3600);
	return out;
}

void talk_wait(const char *what, double foreseen, double now)
{
	wait.what = what;
	wait.insisted = false;
	wait.foreseen = foreseen;
	wait.began = now;
	wait.next = fmax(SILENCE, BEYOND * foreseen);
}

void talk_waited(void)
{
	wait.what = NULL;
}

double talk_due(double now)
{
	return talking && wait.what ? fmax(0, wait.began + wait.next - now) : INFINITY;
}

bool talk_still_text(double now, char *out, size_t n)
{
	double so_far = now - wait.began;
	char time[32], foreseen[32];

	if (!wait.what || so_far < wait.next)
		return false;
	talk_seconds(so_far, time, sizeof time);
	if (wait.foreseen > 0)
		snprintf(out, n, "%s takes longer than the %s that were foreseen: %s so far", wait.what,
			talk_seconds(wait.foreseen, foreseen, sizeof foreseen), time);
	else
		snprintf(out, n, "%s takes long: %s so far", wait.what, time);
	while (wait.next <= so_far)
		wait.next *= BEYOND;
	return true;
}

void talk_still(double now)
{
	char text[300];

	if (talking && talk_still_text(now, text, sizeof text))
		talk("%s", text);
}

void talk_insist(void)
{
	if (!wait.what || wait.insisted || !stop_ends_at_second())
		return;
	wait.insisted = true;
	talk("%s goes on, because there is no answer without it; a second signal ends the program at once", wait.what);
}
