/*
 * dump.c - the folder a compiler dumps modules into.
 *
 * XLA writes one file per module and pass ("module_0001.NAME.cpu_gpu...before_PASS.hlo.pb"), among many for which we
 * did not ask. File names have a running number. Of each kind we take the first by name, because if a pass runs more
 * than once, its first run decides. The host makes and removes the folder, so it goes away even if the worker crashes.
 *
 * A host that is killed leaves its folder behind, and the next one removes it. The name has the number of the process,
 * and the folder is locked. One alone would not do: containers that share the folder do not share the numbers, and for
 * a moment a new folder is not locked yet.
 */
#include <dirent.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>
#include "base/io.h"
#include "base/mem.h"
#include "base/sweep.h"
#include "device/dump.h"
#include "device/module.h"

#define STOP "/stop"
#define NAME "vantage-dump-"
#define ROOM 65536 /* bytes; dumps need more */

/* Appends the options with the folder in place of DIR. */
static void add_options(struct dump *d, const char *options)
{
	for (const char *mark; (mark = strstr(options, "DIR")); options = mark + 3)
		buf_addf(&d->options, "%.*s%s", (int)(mark - options), options, d->folder);
	buf_adds(&d->options, options);
}

/* Puts a damaged file there, at which the compiler stops. */
static int put_stop(const struct dump *d, struct err *err)
{
	static const char nonsense[] = "\377 this is no cache of kernels";
	char path[320];

	snprintf(path, sizeof path, "%s" STOP, d->folder);
	return io_write_file(path, nonsense, sizeof nonsense, err);
}

/* A descriptor of the folder, which this process alone has locked; -1: another has it, or it cannot be locked. */
static int hold(const char *folder)
{
	int fd = open(folder, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

	if (fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) == 0)
		return fd;
	if (fd >= 0)
		close(fd);
	return -1;
}

/* Removes the folder if it is ours, and the process that made it is gone. */
static void sweep_one(const char *folder, long pid)
{
	struct stat st;
	int held;

	if (!sweep_is_gone(pid) || lstat(folder, &st) < 0 || st.st_uid != geteuid() || (held = hold(folder)) < 0)
		return;
	io_remove_tree(folder, NULL);
	close(held);
}

/* Removes what was left in `tmp`, once in the life of a process. */
static void sweep(const char *tmp)
{
	static atomic_bool swept;
	DIR *dir = atomic_exchange(&swept, true) ? NULL : opendir(tmp);
	struct buf path = {0};
	long pid;

	for (struct dirent *e; dir && (e = readdir(dir));) {
		if (sscanf(e->d_name, NAME "%ld-", &pid) != 1)
			continue;
		buf_reset(&path);
		buf_addf(&path, "%s/%s", tmp, e->d_name);
		sweep_one(path.data, pid);
	}
	if (dir)
		closedir(dir);
	buf_release(&path);
}

int dump_begin(struct dump *d, const char *options, struct err *err)
{
	const char *set = getenv("TMPDIR"), *tmp = set && *set ? set : "/tmp";
	int n = snprintf(d->folder, sizeof d->folder, "%s/" NAME "%ld-XXXXXX", tmp, (long)getpid()), rc = 0;

	d->options = (struct buf){0};
	if (strchr(tmp, ','))
		rc = err_set(err, "TMPDIR is %s, and the compiler takes no folder with a comma in its name: set "
			"another one", tmp);
	else if (n >= (int)sizeof d->folder)
		rc = err_set(err, "TMPDIR is too long for the compiler's dumps (%zu bytes): set another one",
			strlen(tmp));
	else if (!mkdtemp(d->folder))
		rc = err_errno(err, "no folder for the compiler's dumps can be made in %s", tmp);
	if (rc < 0) {
		d->folder[0] = 0;
		return rc;
	}
	d->held = hold(d->folder);
	sweep(tmp);
	add_options(d, options);
	if (strstr(options, STOP) && put_stop(d, err) < 0) {
		dump_end(d);
		return -1;
	}
	return 0;
}

int dump_room(const struct dump *d, struct err *err)
{
	char *block = mem_zalloc(ROOM, 1);
	struct err why;
	int rc = io_write_in(d->folder, "room", block, ROOM, &why);

	mem_free(block);
	return rc == 0 ? 0 : err_set(err, "the compiler's dumps cannot be written (%s): make room there, or set TMPDIR",
		why.text);
}

/* Which of the three modules a file holds: its index in `found`, or -1. `pass` is without ^ and $. */
static int kind_of(const char *name, const char *pass)
{
	char before[128], after[128];
	size_t n = strlen(name),
	       k = (size_t)snprintf(before, sizeof before, ".before_%s.hlo.pb", pass);
	snprintf(after, sizeof after, ".after_%s.before_", pass);
	if (n < 7 || strcmp(name + n - 7, ".hlo.pb") != 0)
		return -1;
	if (strstr(name, ".before_optimizations."))
		return 0;
	if (n > k && strcmp(name + n - k, before) == 0)
		return 1;
	return strstr(name, after) ? 2 : -1;
}

static int read_module(const struct dump *d, const char *name, struct buf *out, struct err *err)
{
	char path[800];
	struct buf file = {0};
	snprintf(path, sizeof path, "%s/%.400s", d->folder, name);
	if (io_read_file(path, IO_FILE_LIMIT, &file, err) < 0)
		return -1;
	module_inside(file.data, file.len, out);
	buf_release(&file);
	return 0;
}

int dump_read(struct dump *d, const struct stage *s, bool initial, struct extracted *out, struct err *err)
{
	struct buf *to[3] = {&out->initial, &out->before, &out->after};
	char *found[3] = {NULL, NULL, NULL}, pass[64];
	DIR *dir = opendir(d->folder);
	int rc = 0;
	if (!dir)
		return err_errno(
			err, "the folder of the compiler's dumps, %s, cannot be read", d->folder);
	/* The pass as its regular expression names it, without the anchors. */
	if (*s->pass)
		snprintf(pass, sizeof pass, "%.*s", (int)strlen(s->pass) - 2, s->pass + 1);
	else
		snprintf(pass, sizeof pass, "no pass");
	for (struct dirent *e; (e = readdir(dir));) {
		int k = kind_of(e->d_name, pass);
		if (k < 0 || (found[k] && strcmp(e->d_name, found[k]) > 0))
			continue;
		mem_free(found[k]);
		found[k] = mem_strdup(e->d_name);
	}
	closedir(dir);
	for (int k = initial ? 0 : 1; k < 3 && rc == 0; k++)
		if (found[k])
			rc = read_module(d, found[k], to[k], err);
	for (int k = 0; k < 3; k++)
		mem_free(found[k]);
	if (rc == 0 && !*s->pass)
		buf_add(&out->before, out->initial.data, out->initial.len);
	if (rc == 0 && !out->before.len && out->outcome == OUTCOME_OK && (rc = dump_room(d, err)) == 0) {
		out->outcome = OUTCOME_REFUSED;
		snprintf(out->detail, sizeof out->detail,
			"the compiler did not run its pass %s on this program, or calls it otherwise", pass);
	}
	return rc;
}

/* The first file name that ends so, or NULL; the caller frees it. */
static char *find_end(const struct dump *d, const char *end)
{
	char *found = NULL;
	size_t k = strlen(end);
	DIR *dir = opendir(d->folder);

	for (struct dirent *e; dir && (e = readdir(dir));) {
		size_t n = strlen(e->d_name);
		if (n < k || strcmp(e->d_name + n - k, end) != 0 || (found && strcmp(e->d_name, found) > 0))
			continue;
		mem_free(found);
		found = mem_strdup(e->d_name);
	}
	if (dir)
		closedir(dir);
	return found;
}

bool dump_has(const struct dump *d, const char *end)
{
	char *found = find_end(d, end);

	mem_free(found);
	return found;
}

int dump_left(struct dump *d, const char *end, struct buf *out, struct err *err)
{
	char *found = find_end(d, end);
	int rc = found ? read_module(d, found, out, err) : 0;

	mem_free(found);
	return rc;
}

int dump_left_text(struct dump *d, const char *end, struct buf *out, struct err *err)
{
	char path[800], *found = find_end(d, end);
	int rc = 0;

	if (found) {
		snprintf(path, sizeof path, "%s/%.400s", d->folder, found);
		rc = io_read_file(path, IO_FILE_LIMIT, out, err);
	}
	mem_free(found);
	return rc;
}

int dump_read_arranged(struct dump *d, const struct stage *s, struct buf *out, struct err *err)
{
	char end[80];

	snprintf(end, sizeof end, "%.*s.hlo.pb", (int)strlen(s->pass) - 2, s->pass + 1);
	return dump_left_text(d, end, out, err);
}

void dump_end(struct dump *d)
{
	buf_release(&d->options);
	if (d->folder[0]) {
		io_remove_tree(d->folder, NULL);
		close(d->held);
	}
	d->folder[0] = 0;
}
