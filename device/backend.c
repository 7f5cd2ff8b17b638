/*
 * backend.c - the compilers we know, and the search for their plugins.
 */
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>
#include "base/io.h"
#include "base/mem.h"
#include "base/opt.h"
#include "device/backend.h"
#include "device/ops.h"
#include "device/target.h"

static const struct backend backends[] = {
#define BACKEND(opener, name, plugin, client, topology, env, region, traits, kind, part, fetch) \
	{name, plugin, client, topology, env, region, traits, kind, fetch},
#include "schemas/backend.def"
#undef BACKEND
};
#define N_BACKENDS (sizeof backends / sizeof *backends)

static const struct plugin plugins[] = {
#define PLUGIN(...) {__VA_ARGS__},
#include "schemas/plugin.def"
#undef PLUGIN
};
#define N_PLUGINS (sizeof plugins / sizeof *plugins)

/*
 * Below each of these a plugin may lie as below a Python package folder: the variable's folder, or that above the first
 * folder of PATH with a python3.
 */
static const struct {
	const char *variable, *pattern;
} python[] = {
	{"VIRTUAL_ENV", "/lib/python3*/site-packages"},
	{"PATH", "/lib/python3*/site-packages"},
	{"HOME", "/.local/lib/python3*/site-packages"},
	{NULL, "/usr/local/lib/python3*/dist-packages"},
	{NULL, "/usr/local/lib/python3*/site-packages"},
	{NULL, "/usr/lib/python3/dist-packages"},
	{NULL, "/usr/lib/python3*/site-packages"},
};

static bool is_path(const char *name)
{
	return strchr(name, '/') || strstr(name, ".so");
}

/* Splits NAME@VERSION and NAME:TARGET: the length of the name; *version is NULL if there is none. */
static size_t name_length(const char *name)
{
	return strcspn(name, "@:");
}

static const char *version_in(const char *name)
{
	size_t n = name_length(name);
	return name[n] == '@' ? name + n + 1 : NULL;
}

/* Is there such a version of the backend? Otherwise a sentence that lists those there are. */
static bool check_version(const struct backend *b, const char *version, struct err *err)
{
	struct buf known = {0};

	for (size_t i = 0; i < N_PLUGINS; i++) {
		if (strcmp(plugins[i].backend, b->plugin) != 0)
			continue;
		if (strcmp(plugins[i].version, version) == 0) {
			buf_release(&known);
			return true;
		}
		buf_addf(&known, "%s%s", known.len ? ", " : "", plugins[i].version);
	}
	err_set(err, "there is no version \"%s\" of device %s; known are %s", version, b->name,
		known.len ? known.data : "none");
	buf_release(&known);
	return false;
}

const char *backend_words(const char *more)
{
	static struct arena kept;
	struct buf text = {0};
	const char *out;

	for (size_t i = 0; i < N_BACKENDS; i++)
		buf_addf(&text, "%s%s", i ? ", " : "", backends[i].name);
	buf_adds(&text, more);
	out = arena_strdup(&kept, text.data);
	buf_release(&text);
	return out;
}

const char *backend_first(void)
{
	return backends[0].name;
}

/*
 * The backend that people mean by a name which is none: a nickname, or a name that is spelt nearly so; NULL if unclear.
 */
static const char *meant_by(const char *name, const char *const *known)
{
	static const struct {
		const char *said, *meant;
	} nickname[] = {
#define NICKNAME(said, meant) {said, meant},
#include "schemas/nickname.def"
#undef NICKNAME
	};
	for (size_t i = 0; i < sizeof nickname / sizeof *nickname; i++)
		if (strcasecmp(name, nickname[i].said) == 0)
			return nickname[i].meant;
	return opt_nearest(name, known, N_BACKENDS);
}

const struct backend *backend_find(const char *name, struct err *err)
{
	const char *known[N_BACKENDS];
	struct buf list = {0};
	if (!name || is_path(name))
		return &backends[0];
	for (size_t i = 0; i < N_BACKENDS; i++) {
		if (strlen(backends[i].name) == name_length(name) &&
			memcmp(name, backends[i].name, name_length(name)) == 0)
			return !version_in(name) || check_version(&backends[i], version_in(name), err) ? &backends[i]
				: NULL;
		known[i] = backends[i].name;
	}
	for (size_t i = 0; i < N_BACKENDS; i++)
		buf_addf(&list, "%s, ", known[i]);
	const char *near = meant_by(name, known);
	err_set(err, "there is no device \"%s\"%s%s%s Known are %sor a path to a plugin", name,
		near ? "; did you mean --device " : "", near ? near : "", near ? "?" : ".", list.data);
	buf_release(&list);
	return NULL;
}

int backend_target(const struct backend *b, const char *name, char *out, size_t n, struct err *err)
{
	const char *colon = name && !is_path(name) ? strchr(name, ':') : NULL;
	const char *target = colon ? colon + 1 : b->topology;
	struct buf known = {0};

	snprintf(out, n, "%s", target);
	if (!colon || target_find(b->name, target) || (b->traits & TOPOLOGIES && *target))
		return 0;
	target_list(b->name, &known);
	if (known.len)
		err_set(err, "there is no target \"%.40s\" of device %s; known are %s", target, b->name, known.data);
	else
		err_set(err, "device %s has no targets: it runs programs; leave away \":%.40s\"", b->name, target);
	buf_release(&known);
	return -1;
}

void program_folder(char *out, size_t n)
{
	ssize_t len = readlink("/proc/self/exe", out, n - 1);
	out[len > 0 ? len : 0] = 0;
	char *slash = strrchr(out, '/');
	if (slash)
		*slash = 0;
	else
		snprintf(out, n, ".");
}

/* Is there a plugin at FOLDER/below, or at FOLDER/its last name? Remembers where it looked. */
static bool try_folder(const char *folder, const char *below, struct buf *path, struct buf *looked)
{
	const char *last = strrchr(below, '/');
	buf_addf(looked, "%s%s", looked->len ? ", " : "", folder);
	for (int i = 0; i < 2; i++) {
		buf_reset(path);
		buf_addf(path, "%s/%s", folder, i ? (last ? last + 1 : below) : below);
		if (io_exists(path->data))
			return true;
	}
	buf_reset(path);
	return false;
}

/* The folder above that of the python3 which a shell would run; "" where none is found. */
static void python_on_path(char *out, size_t n)
{
	const char *p = getenv("PATH");

	for (*out = 0; p && *p && !*out; p += strcspn(p, ":"), p += *p == ':') {
		int len = (int)strcspn(p, ":");

		snprintf(out, n, "%.*s/python3", len, p);
		if (io_exists(out))
			snprintf(out, n, "%.*s/..", len, p);
		else
			*out = 0;
	}
}

/* The folder that a row begins with; NULL: there is none. */
static const char *base_of(const char *variable, char *room, size_t n)
{
	if (!variable)
		return "";
	if (strcmp(variable, "PATH") != 0)
		return getenv(variable);
	python_on_path(room, n);
	return *room ? room : NULL;
}

static bool try_python(const char *below, struct buf *path, struct buf *looked)
{
	bool found = false;

	for (size_t i = 0; i < sizeof python / sizeof *python && !found; i++) {
		char room[500], pattern[600];
		const char *base = base_of(python[i].variable, room, sizeof room);
		glob_t g;
		if (!base)
			continue;
		snprintf(pattern, sizeof pattern, "%s%s", base, python[i].pattern);
		if (glob(pattern, 0, NULL, &g) == 0) {
			for (size_t k = 0; k < g.gl_pathc && !found; k++)
				found = try_folder(g.gl_pathv[k], below, path, looked);
			globfree(&g);
		}
	}
	return found;
}

/* The fetched folder, seen from build/MODE/tests, build/MODE/bin, bin; and what is installed. */
static bool try_near_program(const char *below, struct buf *path, struct buf *looked)
{
	static const char *const near[] = {"..", "../..", "../../.."};
	char self[600], folder[800];
	program_folder(self, sizeof self);
	for (size_t i = 0; i < sizeof near / sizeof *near; i++) {
		snprintf(folder, sizeof folder, "%s/%s/.deps", self, near[i]);
		if (io_exists(folder) && try_folder(folder, below, path, looked))
			return true;
	}
	snprintf(folder, sizeof folder, "%s/../lib/vantage", self);
	return try_folder(folder, below, path, looked);
}

const struct plugin *backend_known(const struct backend *b, const char *fingerprint)
{
	for (size_t i = 0; i < N_PLUGINS; i++)
		if (strcmp(plugins[i].backend, b->plugin) == 0 && strcmp(plugins[i].fingerprint, fingerprint) == 0)
			return &plugins[i];
	return NULL;
}

/* A sort of place where a plugin may lie. */
typedef bool place(const char *below, struct buf *path, struct buf *looked);

static bool try_named(const char *below, struct buf *path, struct buf *looked)
{
	const char *dir = getenv("VANTAGE_PLUGIN_DIR");

	return dir && *dir && try_folder(dir, below, path, looked);
}

static bool try_elsewhere(const char *below, struct buf *path, struct buf *looked)
{
	return try_near_program(below, path, looked) || try_python(below, path, looked);
}

/* The version asked for, or any: the first that is there. */
static bool try_versions(const struct backend *b, const char *version, place *there, struct buf *path,
	struct buf *looked)
{
	for (size_t i = 0; i < N_PLUGINS; i++) {
		if (strcmp(plugins[i].backend, b->plugin) != 0 || (version && strcmp(version, plugins[i].version) != 0))
			continue;
		buf_reset(looked);
		if (there(plugins[i].file, path, looked))
			return true;
	}
	return false;
}

/* The first of several files, with | between, that is there. */
static bool try_files(const char *files, place *there, struct buf *path, struct buf *looked)
{
	char file[200];

	for (const char *p = files; *p; p += *p == '|') {
		size_t n = strcspn(p, "|");

		snprintf(file, sizeof file, "%.*s", (int)n, p);
		p += n;
		buf_reset(looked);
		if (there(file, path, looked))
			return true;
	}
	return false;
}

/* A folder that the user names comes before all others, whatever versions they have. */
static bool try_places(const struct backend *b, const char *version, struct buf *path, struct buf *looked)
{
	static place *const places[] = {try_named, try_elsewhere};
	struct buf here = {0};
	bool found = false;

	for (int i = 0; i < 2 && !found; i++) {
		buf_reset(&here);
		if (strchr(b->plugin, '/'))
			found = try_files(b->plugin, places[i], path, &here);
		else
			found = try_versions(b, version, places[i], path, &here);
		if (here.len)
			buf_addf(looked, "%s%s", looked->len ? ", " : "", here.data);
	}
	buf_release(&here);
	return found;
}

int backend_plugin(const struct backend *b, const char *name, struct buf *path, struct err *err)
{
	struct buf looked = {0};
	bool found;

	buf_reset(path);
	if (name && is_path(name)) {
		buf_adds(path, name);
		return io_exists(name) ? 0 : err_set(err, "there is no plugin at %s", name);
	}
	found = try_places(b, name ? version_in(name) : NULL, path, &looked);
	if (!found)
		err_set(err, "the plugin of device %s is in none of: %s; \"make %s\" fetches it, "
			"\"tests/deps --plugin VERSION\" another version where "
			"schemas/plugin.def has one, or set VANTAGE_PLUGIN_DIR",
			name ? name : b->name, looked.data, b->fetch);
	buf_release(&looked);
	return found ? 0 : -1;
}

int options_each(const char *list, int (*each)(void *ctx, const char *name, const char *value),
	void *ctx, struct err *err)
{
	struct buf name = {0}, value = {0};
	int rc = 0;
	for (const char *p = list; p && *p && rc >= 0;) {
		size_t n = strcspn(p, ",");
		const char *equals = memchr(p, '=', n);
		if (!equals) {
			rc = err_set(err, "\"%.*s\" in the compile options is not name=value",
				(int)n, p);
			break;
		}
		buf_reset(&name);
		buf_reset(&value);
		buf_add(&name, p, (size_t)(equals - p));
		buf_add(&value, equals + 1, n - (size_t)(equals + 1 - p));
		p += n;
		/* Pieces without "=" go on with the value. */
		while (*p == ',' && (n = strcspn(p + 1, ","), !memchr(p + 1, '=', n)) && n) {
			buf_add(&value, p, n + 1);
			p += n + 1;
		}
		p += *p == ',';
		rc = each(ctx, name.data, value.len ? value.data : "");
	}
	buf_release(&name);
	buf_release(&value);
	return rc < 0 ? -1 : 0;
}
