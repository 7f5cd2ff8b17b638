/* room.c - compares the memory that a program needs with the memory that it may have. */
#include "device/room.h"

#include <stdio.h>

bool room_for(const struct device *d, uint64_t bytes, const char *what, const char *of, char *out, size_t n)
{
	struct effort now;

	device_effort(d, &now);
	if (!bytes || !now.memory || bytes <= now.memory)
		return true;
	snprintf(out, n, "%s needs %.1f GiB of memory for its %s, and %.1f GiB are free here", what,
		(double)bytes / GIB, of, (double)now.memory / GIB);
	return false;
}
