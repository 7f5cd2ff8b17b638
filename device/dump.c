/*
 * dump.c - the folder a compiler dumps modules into.
 *
 * XLA writes one file per module and pass ("module_0001.NAME.cpu_gpu...before_PASS.hlo.pb"), among many for which we
 * did not ask. File names have a running number. Of each kind we take the first by name, because if a pass runs more
 * than once, its first run decides. The host makes and removes the folder, so it goes away even if the worker crashes.
 */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/io.h"
#include "base/mem.h"
#include "device/dump.h"
#include "device/module.h"

#define STOP "/stop"

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

int dump_begin(struct dump *d, const char *options, struct err *err)
{
	const char *tmp = getenv("TMPDIR");
	d->options = (struct buf){0};
	snprintf(d->folder, sizeof d->folder, "%.250s/vantage-XXXXXX", tmp && *tmp ? tmp : "/tmp");
	if (strchr(d->folder, ',') || !mkdtemp(d->folder)) {
		int rc = err_errno(err, "no folder for the compiler's dumps can be made in %s",
			tmp && *tmp ? tmp : "/tmp");
		d->folder[0] = 0;
		return rc;
	}
	add_options(d, options);
	return strstr(options, STOP) ? put_stop(d, err) : 0;
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
	if (rc == 0 && !out->before.len && out->outcome == OUTCOME_OK) {
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
	if (d->folder[0])
		io_remove_tree(d->folder, NULL);
	d->folder[0] = 0;
}
