/*
 * lock.c - locks between the programs of a host.
 *
 * The file is removed on release, while it is still locked. Another program may have opened it just before. So after
 * locking we check that the name still leads to the file that we hold, and begin again if not.
 *
 * The folder is /tmp, because cores are shared by all who use the machine: a login has a folder of its own for such
 * files, and a job of cron has none. VANTAGE_LOCK_DIR names another one, where somebody else sees to it that cores are
 * not shared. In /tmp anybody can put a file of that name. A link there would make us write our process number into
 * whatever it leads to. So we follow no links, symbolic or hard, and touch nothing but plain files. A plain file of
 * another user is good enough to lock.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>
#include "device/lock.h"

#define OPEN_FLAGS (O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY) /* not blocking: it may be a pipe */

static int open_file(const char *path)
{
	int fd;

	do {
		fd = open(path, O_RDWR | OPEN_FLAGS);
		if (fd < 0 && errno == EACCES)
			fd = open(path, O_RDONLY | OPEN_FLAGS);
		if (fd >= 0 || errno != ENOENT)
			return fd;
		fd = open(path, O_RDWR | O_CREAT | O_EXCL | OPEN_FLAGS, 0644);
	} while (fd < 0 && errno == EEXIST); /* somebody was faster */
	return fd;
}

/* A descriptor of the lock file, or -1. */
static int open_checked(const char *path, struct stat *st, struct err *err)
{
	int fd = open_file(path);

	if (fd < 0 && (errno == ELOOP || errno == ENXIO || errno == EISDIR))
		return err_set(err, "the lock file %s is a link, a pipe or a folder: somebody put it there; remove it",
			path);
	if (fd < 0)
		return err_errno(err, "the lock file %s cannot be opened", path);
	if (fstat(fd, st) == 0 && S_ISREG(st->st_mode) && st->st_nlink <= 1)
		return fd;
	close(fd);
	return err_set(err, "the lock file %s is no plain file, or has a second name: somebody put it there; remove it",
		path);
}

/* What it says is only for people. */
static void write_holder(int fd)
{
	char pid[24];
	int n = snprintf(pid, sizeof pid, "%ld\n", (long)getpid());

	(void)!ftruncate(fd, 0);
	(void)!write(fd, pid, (size_t)n);
}

/* Waiting is said: it can take as long as another measurement does. */
static int lock_file(int fd, const struct lock *l, const char *what, bool wait)
{
	int rc = flock(fd, LOCK_EX | LOCK_NB);

	if (rc == 0 || errno != EWOULDBLOCK || !wait)
		return rc;
	fprintf(stderr, "waiting for %s, where process %ld measures, until that ends; Ctrl-C gives up\n", what,
		lock_holder(l));
	return flock(fd, LOCK_EX);
}

static const char *folder(void)
{
	const char *dir = getenv("VANTAGE_LOCK_DIR");

	return dir && *dir && access(dir, W_OK) == 0 ? dir : "/tmp";
}

int lock_take(struct lock *l, const char *name, const char *what, bool wait, struct err *err)
{
	struct stat held, named;

	*l = (struct lock){0};
	if (snprintf(l->path, sizeof l->path, "%s/vantage-%s.lock", folder(), name) >= (int)sizeof l->path)
		return err_set(err, "the name of the lock file of %s would be longer than %zu bytes: set "
			"VANTAGE_LOCK_DIR to a folder with a shorter name", what, sizeof l->path - 1);
	for (;;) {
		int fd = open_checked(l->path, &held, err);

		if (fd < 0)
			return -1;
		if (lock_file(fd, l, what, wait) < 0) {
			bool busy = errno == EWOULDBLOCK;

			if (errno == EINTR) /* a program that catches signals wants to end, and not to go on waiting */
				err_set(err, "interrupted while waiting for %s", what);
			else if (!busy)
				err_errno(err, "the lock file %s cannot be locked", l->path);
			close(fd);
			return busy ? 0 : -1;
		}
		if (lstat(l->path, &named) == 0 && held.st_ino == named.st_ino && held.st_dev == named.st_dev) {
			write_holder(fd);
			l->fd = fd;
			l->held = true;
			return 1;
		}
		close(fd); /* its holder removed it meanwhile */
	}
}

void lock_release(struct lock *l)
{
	if (!l->held)
		return;
	unlink(l->path);
	close(l->fd);
	l->held = false;
}

/*
 * Is this file locked by the process that it names? The kernel lists which process holds which lock. (Trying the lock
 * would tell as well, but another program that tries it at the same moment would find it taken. On some file systems
 * the list has another device number than the file, so we do not compare it.)
 */
static bool held_by(long holder, const struct stat *st)
{
	FILE *f = fopen("/proc/locks", "re");
	char line[200];
	bool held = false;

	while (f && !held && fgets(line, sizeof line, f)) {
		unsigned long long inode;
		long pid;
		if (sscanf(line, "%*s FLOCK %*s WRITE %ld %*x:%*x:%llu", &pid, &inode) == 2)
			held = inode == st->st_ino && pid == holder;
	}
	if (f)
		fclose(f);
	return held;
}

bool lock_claimed(const char *ending)
{
	size_t n = strlen(ending);
	DIR *d = opendir(folder());
	bool held = false;

	for (struct dirent *e; d && !held && (e = readdir(d));) {
		size_t len = strlen(e->d_name), tail = n + sizeof ".lock" - 1;
		struct lock l;
		struct stat st;
		long holder;
		if (strncmp(e->d_name, "vantage-", 8) != 0 || len < tail || strncmp(e->d_name + len - tail, ending,
			n) != 0 || strcmp(e->d_name + len - tail + n, ".lock") != 0)
			continue;
		if (snprintf(l.path, sizeof l.path, "%s/%s", folder(), e->d_name) >= (int)sizeof l.path ||
			lstat(l.path, &st) < 0 || !S_ISREG(st.st_mode))
			continue;
		holder = lock_holder(&l);
		held = holder > 0 && holder != getpid() && held_by(holder, &st);
	}
	if (d)
		closedir(d);
	return held;
}

long lock_holder(const struct lock *l)
{
	struct stat st;
	struct err ignored;
	int fd = open_checked(l->path, &st, &ignored);
	char text[24] = "";

	if (fd < 0)
		return 0;
	(void)!read(fd, text, sizeof text - 1);
	close(fd);
	return strtol(text, NULL, 10);
}
