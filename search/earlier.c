/*
 * earlier.c - reads back the config.json that output.c wrote, and no other JSON.
 *
 * It looks for three things by their keys: the hash of the space, the hash of the configuration, and the choices in
 * order. The hash proves that they belong together, so no full reader is needed. A key cannot be found inside a string,
 * because a quote there has a backslash before it.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/io.h"
#include "search/earlier.h"

/* Returns what follows `key` and its quote, from `at` on; NULL if there is no such key. */
static const char *value_of(const char *at, const char *key)
{
	const char *p = at ? strstr(at, key) : NULL;

	return p ? p + strlen(key) + strspn(p + strlen(key), ": \"") : NULL;
}

static uint64_t hash_of(const char *text, const char *key)
{
	const char *p = value_of(text, key);

	return p ? strtoull(p, NULL, 16) : 0;
}

static int take(const char *text, const char *path, const struct space *s, uint8_t *config, struct err *err)
{
	const char *at = text;

	if (hash_of(text, "\"space_hash\"") != s->hash)
		return err_set(err, "%s is of another program, or of other decisions", path);
	for (uint32_t i = 0; i < s->n_sites; i++) {
		at = value_of(at, "\"chosen\"");
		config[i] = at ? (uint8_t)strtoul(at, NULL, 10) : 0;
	}
	if (!at || config_valid(s, config, s->n_sites, err) < 0 || config_hash(s, config) != hash_of(text,
		"\"config_hash\""))
		return err_set(err, "%s is damaged: its choices do not give its hash", path);
	return 0;
}

/* Reads what a search left in DIR, or DIR/KIND for a kind that others followed, as text; `path` gets its name. */
static int read_text(const char *dir, struct buf *path, struct buf *text, struct err *err)
{
	int rc;

	buf_addf(path, "%s/config.json", dir);
	if (!io_exists(path->data)) {
		buf_reset(path);
		buf_addf(path, "%s/decisions.json", dir);
	}
	if (io_exists(path->data))
		rc = io_read_file(path->data, IO_FILE_LIMIT, text, err);
	else
		rc = err_set(err, "no search left its result in %s: it holds no config.json", dir);
	buf_addch(text, 0);
	return rc;
}

int earlier_read(const char *dir, const struct space *s, uint8_t *config, struct err *err)
{
	struct buf path = {0}, text = {0};
	int rc = read_text(dir, &path, &text, err);

	if (rc == 0)
		rc = take(text.data, path.data, s, config, err);
	buf_release(&path);
	buf_release(&text);
	return rc;
}

bool earlier_followed(const char *dir)
{
	struct buf path = {0}, text = {0};
	const char *before = NULL;
	bool followed;

	if (read_text(dir, &path, &text, NULL) == 0)
		before = value_of(text.data, "\"before\"");
	followed = before && strncmp(before, "null", 4) != 0;
	buf_release(&path);
	buf_release(&text);
	return followed;
}

bool earlier_kind(const char *dir, char *out, size_t n)
{
	struct buf path = {0}, text = {0};
	const char *kind = NULL;
	bool known;

	if (read_text(dir, &path, &text, NULL) == 0)
		kind = value_of(text.data, "\"space\"");
	known = kind && strcspn(kind, "\"") < n;
	if (known)
		snprintf(out, n, "%.*s", (int)strcspn(kind, "\""), kind);
	buf_release(&path);
	buf_release(&text);
	return known;
}
