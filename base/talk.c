/* talk.c - one switch and one line. */
#include "base/talk.h"

#include <stdarg.h>
#include <stdio.h>
#include "base/err.h"

static bool talking;

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
