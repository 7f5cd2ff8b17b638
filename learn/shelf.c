/*
 * shelf.c - see shelf.h.
 *
 * Replacing a model takes two writes, each by rename: first the present bytes go to PATH.before, then the new ones to
 * PATH. After a kill between the two, both hold the old model, and only the one before it is lost. The bytes are
 * copied, not parsed, so a model that this program cannot read is kept as well.
 *
 * The next program that takes the lock removes the temporary file that a killed writer left.
 */
#include "learn/shelf.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>
#include "base/home.h"
#include "base/io.h"
#include "base/mem.h"
#include "learn/facts.h"

#define MODEL_LIMIT ((size_t)1 << 30) /* whatever stands there is moved aside */

/* $XDG_DATA_HOME/vantage/models. */
static int root_path(struct buf *out, struct err *err)
{
	if (home_path("XDG_DATA_HOME", ".local/share", out) < 0)
		return err_set(err, "there is no home to keep models in: set HOME "
			"or XDG_DATA_HOME to a whole path, or use --out");
	buf_adds(out, "/vantage/models");
	return 0;
}

/* A word as the name of a file: a plugin may be named by a path. */
static void add_name(struct buf *out, const char *word, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		char c = word[i];
		bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
			c == '-' || (c == '.' && i > 0);
		buf_addch(out, plain ? c : '-');
	}
}

/* The family of a space's kind: "fusion" of "fusion/binary". */
static void add_family(struct buf *out, const char *space)
{
	add_name(out, space, strcspn(space, "/:"));
}

int shelf_path(const struct shelf *at, struct buf *out, struct err *err)
{
	if (root_path(out, err) < 0)
		return -1;
	buf_addch(out, '/');
	add_name(out, at->backend, strlen(at->backend));
	buf_addf(out, "/%s", cost_kind_name(at->kind));
	if (at->quantity != QUANTITY_SECONDS)
		buf_addf(out, "-%s", quantity_name(at->quantity));
	buf_addch(out, '/');
	add_family(out, at->space);
	buf_adds(out, ".vm");
	return 0;
}

/* The folders of the shipped models: near the programs, in a checkout or installed. */
#define SHIPPED_PLACES 2
static void shipped_folder(int place, struct buf *out)
{
	static const char *const from[SHIPPED_PLACES] = {"../models", "../../share/vantage/models"};
	char self[4096];
	ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);
	char *slash;

	self[n > 0 ? n : 0] = 0;
	slash = strrchr(self, '/');
	if (slash)
		*slash = 0;
	buf_addf(out, "%s/%s", self, from[place]);
}

/* DEVICE.KIND.vm, or DEVICE.vm. */
static void shipped_path(const struct shelf *at, int place, bool of_kind, struct buf *out)
{
	shipped_folder(place, out);
	buf_addch(out, '/');
	add_name(out, at->backend, strlen(at->backend));
	buf_addch(out, '.');
	if (of_kind)
		add_family(out, at->space);
	buf_adds(out, of_kind ? ".vm" : "vm");
}

/* The candidates in order: the user's, the one before it, the shipped ones; false when there are no more. */
enum { USERS, BEFORE, SHIPPED, CANDIDATES = SHIPPED + 2 * SHIPPED_PLACES };
static bool candidate(const struct shelf *at, int i, struct buf *out)
{
	buf_reset(out);
	if (i >= SHIPPED)
		shipped_path(at, (i - SHIPPED) / 2, (i - SHIPPED) % 2 == 0, out);
	else if (shelf_path(at, out, NULL) < 0)
		return false;
	if (i == BEFORE)
		buf_adds(out, ".before");
	return io_exists(out->data);
}

static struct model *usable(const struct shelf *at, const char *path, struct err *err)
{
	struct model *m = model_read(path, err);

	if (m && model_fits(m, at->backend, at->space, at->kind, at->quantity, err) < 0) {
		err_prefix(err, "%s", path);
		model_free(m);
		m = NULL;
	}
	return m;
}

struct model *shelf_find(const struct shelf *at, struct buf *path, struct buf *notes)
{
	for (int i = 0; i < CANDIDATES; i++) {
		struct err err = {0};
		struct model *m;
		if (i == BEFORE || !candidate(at, i, path))
			continue;
		if ((m = usable(at, path->data, &err)))
			return m;
		/* A shipped model is for one kind of decision and cost: that it is not for this one is no news. */
		if (i == USERS)
			buf_addf(notes, "%s; it is passed over\n", err.text);
	}
	buf_reset(path);
	return NULL;
}

struct model *shelf_find_sum(const struct shelf *at, const char *hex, struct buf *path)
{
	for (int i = 0; i < CANDIDATES; i++) {
		char sum[65];
		struct model *m;
		if (!candidate(at, i, path) || !(m = usable(at, path->data, NULL)))
			continue;
		digest_hex(&m->sum, sum);
		if (strcmp(sum, hex) == 0)
			return m;
		model_free(m);
	}
	buf_reset(path);
	return NULL;
}

static char *folder_of(const char *path)
{
	char *folder = mem_strdup(path);

	*strrchr(folder, '/') = 0;
	return folder;
}

int shelf_prepare(const char *path, struct err *err)
{
	char *folder = folder_of(path);
	int rc = io_make_dir(folder, err);

	if (rc == 0 && access(folder, W_OK | X_OK) < 0)
		rc = err_errno(err, "no model can be kept in %s", folder);
	mem_free(folder);
	return rc;
}

/* What killed writers left: neighbours of the path that end in .tmp. */
static void sweep(const char *path)
{
	char *folder = folder_of(path);
	const char *name = strrchr(path, '/') + 1;
	DIR *dir = opendir(folder);
	struct dirent *e;

	while (dir && (e = readdir(dir))) {
		size_t n = strlen(e->d_name);
		if (strncmp(e->d_name, name, strlen(name)) == 0 && n > 4 && strcmp(e->d_name + n - 4, ".tmp") == 0)
			unlinkat(dirfd(dir), e->d_name, 0);
	}
	if (dir)
		closedir(dir);
	mem_free(folder);
}

int shelf_lock(const char *path, struct err *err)
{
	struct buf name = {0};
	int fd;

	buf_addf(&name, "%s.lock", path);
	fd = open(name.data, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0644);
	if (fd < 0) {
		err_errno(err, "%s cannot be opened", name.data);
	} else if (flock(fd, LOCK_EX) < 0) {
		err_errno(err, "%s cannot be locked", name.data);
		close(fd);
		fd = -1;
	}
	if (fd >= 0)
		sweep(path);
	buf_release(&name);
	return fd;
}

void shelf_unlock(int lock)
{
	if (lock >= 0)
		close(lock);
}

/* The bytes at the path to PATH.before; nothing where there are none. */
static int keep_before(const char *path, struct err *err)
{
	struct buf name = {0}, old = {0};
	int rc = 0;

	buf_addf(&name, "%s.before", path);
	if (io_exists(path))
		rc = io_read_file(path, MODEL_LIMIT, &old, err);
	if (rc == 0 && old.len)
		rc = io_write_file(name.data, old.data, old.len, err);
	buf_release(&name);
	buf_release(&old);
	return rc;
}

int shelf_put(const char *path, const struct model *m, struct err *err)
{
	return keep_before(path, err) < 0 ? -1 : model_write(m, path, err);
}

/* Where the list of models goes: as text or as JSON. */
struct visitor {
	struct buf *text;
	struct json *json;
	bool shipped;
};

static void visit(const struct visitor *v, const char *path)
{
	struct err err = {0};
	struct model *m = model_read(path, &err);

	if (v->json) {
		json_object(v->json, NULL);
		json_str(v->json, "path", path);
		json_bool(v->json, "shipped", v->shipped);
		json_str(v->json, "unusable", m ? NULL : err.text);
		if (m)
			facts_json(&m->facts, v->json, "trained_on");
		json_end(v->json);
	} else {
		buf_addf(v->text, "%s%s\n    ", path, v->shipped ? " (shipped)" : "");
		if (m) {
			buf_addf(v->text, "%s on %s: ", m->facts.space, m->facts.backend);
			facts_text(&m->facts, v->text);
		}
		buf_addf(v->text, "%s\n", m ? "" : err.text);
	}
	model_free(m);
}

static bool is_model(const char *name)
{
	const char *dot = strstr(name, ".vm");

	return dot && (!dot[3] || strcmp(dot + 3, ".before") == 0);
}

/* All models in a folder, and `deeper` levels below it, by name. */
static void walk(const struct visitor *v, const char *folder, int deeper)
{
	struct dirent **entry = NULL;
	int n = scandir(folder, &entry, NULL, alphasort);
	struct buf path = {0};

	for (int i = 0; i < n; i++) {
		buf_reset(&path);
		buf_addf(&path, "%s/%s", folder, entry[i]->d_name);
		if (is_model(entry[i]->d_name))
			visit(v, path.data);
		else if (deeper > 0 && entry[i]->d_name[0] != '.')
			walk(v, path.data, deeper - 1);
		free(entry[i]);
	}
	free(entry);
	buf_release(&path);
}

static void walk_all(struct visitor *v)
{
	struct buf folder = {0};

	if (root_path(&folder, NULL) == 0)
		walk(v, folder.data, 2);
	v->shipped = true;
	for (int i = 0; i < SHIPPED_PLACES; i++) {
		buf_reset(&folder);
		shipped_folder(i, &folder);
		walk(v, folder.data, 0);
	}
	buf_release(&folder);
}

void shelf_list(struct buf *out, bool json)
{
	struct json j = {.out = out, .pretty = true};
	struct visitor v = {.text = json ? NULL : out, .json = json ? &j : NULL};

	if (json) {
		json_object(&j, NULL);
		json_array(&j, "models");
	}
	walk_all(&v);
	if (json) {
		json_end(&j);
		json_end(&j);
	} else if (out->len == 0) {
		buf_adds(out, "there are no models\n");
	}
}
