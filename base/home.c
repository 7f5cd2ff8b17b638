/*
 * home.c - finds a folder by its XDG variable, or below the user's home if that is not set.
 */
#include "base/home.h"

#include <pwd.h>
#include <stdlib.h>
#include <unistd.h>

int home_path(const char *variable, const char *below, struct buf *out)
{
	const char *set = getenv(variable), *home = getenv("HOME");

	if (set && *set == '/') {
		buf_adds(out, set);
		return 0;
	}
	if (!home || *home != '/') {
		struct passwd *p = getpwuid(getuid());
		home = p ? p->pw_dir : NULL;
	}
	if (!home || *home != '/')
		return -1;
	buf_addf(out, "%s/%s", home, below);
	return 0;
}
