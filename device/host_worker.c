/*
 * host_worker.c - finds vantage-worker, the program that loads the plugin.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "device/host.h"

/* The worker's file: by VANTAGE_WORKER, beside this program, in the build tree, or on the path. */
int host_find_worker(struct buf *out, struct err *err)
{
	static const char *const places[] = {"", "/../bin", "/../../bin", "/../../../bin"};
	const char *given = getenv("VANTAGE_WORKER"), *path = getenv("PATH");
	char self[600];
	buf_reset(out);
	if (given && *given) {
		buf_adds(out, given);
		return access(given, X_OK) == 0
			       ? 0
			       : err_errno(err, "VANTAGE_WORKER names %s, which cannot be run",
					 given);
	}
	program_folder(self, sizeof self);
	for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
		buf_reset(out);
		buf_addf(out, "%s%s/vantage-worker", self, places[i]);
		if (access(out->data, X_OK) == 0)
			return 0;
	}
	for (; path && *path; path += path[strcspn(path, ":")] == ':' ? strcspn(path, ":") + 1
								      : strcspn(path, ":")) {
		buf_reset(out);
		buf_addf(out, "%.*s/vantage-worker", (int)strcspn(path, ":"), path);
		if (access(out->data, X_OK) == 0)
			return 0;
	}
	return err_set(err,
		"vantage-worker is neither beside this program (%s) nor on the path; build it with "
		"\"make\" "
		"or name it in VANTAGE_WORKER",
		self);
}
