/*
 * sweep.c - see sweep.h. Nothing here can fail: what cannot be looked at, or removed, stays.
 */
#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "base/buf.h"
#include "base/mem.h"
#include "base/sweep.h"

bool sweep_is_gone(long pid)
{
	return pid > 0 && pid == (pid_t)pid && kill((pid_t)pid, 0) < 0 && errno == ESRCH;
}

/* The process that made a file of this name as a neighbour of one called `name`; 0: none did. */
static long maker(const char *file, const char *name)
{
	size_t n = strlen(name);
	unsigned serial;
	long pid;
	int end = 0;

	if (strncmp(file, name, n) != 0 || sscanf(file + n, ".%ld.%u.tmp%n", &pid, &serial, &end) < 2 || end == 0)
		return 0;
	return file[n + (size_t)end] == 0 || file[n + (size_t)end] == '-' ? pid : 0;
}

void sweep_neighbours(const char *path)
{
	const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
	struct buf folder = {0}, file = {0};
	struct stat st;
	DIR *dir;

	buf_add(&folder, path, (size_t)(name - path));
	buf_adds(&folder, slash ? "" : ".");
	dir = opendir(folder.data);
	for (struct dirent *e; dir && (e = readdir(dir));) {
		if (!sweep_is_gone(maker(e->d_name, name)))
			continue;
		buf_reset(&file);
		buf_addf(&file, "%s/%s", folder.data, e->d_name);
		if (lstat(file.data, &st) == 0 && S_ISREG(st.st_mode) && st.st_uid == geteuid())
			unlink(file.data);
	}
	if (dir)
		closedir(dir);
	buf_release(&folder);
	buf_release(&file);
}
