/*
 * earlier.c - reads back the config.json that output.c wrote, and no other JSON.
 *
 * It looks for three things by their keys: the hash of the space, the hash of the configuration, and the choices in
 * order. The hash proves that they belong together, so no full reader is needed. A key cannot be found inside a string,
 * because a quote there has a backslash before it.
 *
 * A later version of vantage may find more to decide in the same program, or open it in another way. Then the hashes
 * differ, but nearly all instructions have the names that they had, and choices go to them by name. If the file says in
 * words what was chosen, it is what has the same words now, whatever its number. Such a file's own hash proves nothing
 * then, so what comes of it is judged as any other answer.
 */
#include "search/earlier.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/io.h"
#include "base/talk.h"

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

#define LIKE 0.9 /* the share of the file's decisions that the program must have to be the same one, */
#define MORE 0.5 /* ... and of the program's that the file must have: another version may decide about more */

struct named {
	const char *name;
	size_t n;
	uint32_t site;
};

static int by_name(const void *a, const void *b)
{
	const struct named *x = a, *y = b;
	int order = memcmp(x->name, y->name, x->n < y->n ? x->n : y->n);

	return order ? order : (x->n > y->n) - (x->n < y->n);
}

/* Does a choice of so many mean the same among so many now: has the site as many, or one bit more? */
static bool may_mean(unsigned long then, unsigned long now)
{
	return then > 0 && (now == then || now == 2 * then);
}

/* The choice of the site that is described by these words, which end at a quote; -1: none. */
static int described(struct space *s, uint32_t site, const char *words)
{
	struct buf now = {0};
	size_t n = strcspn(words, "\"");
	int found = -1;

	for (uint8_t k = 0; k < s->site[site].choices && found < 0; k++) {
		buf_reset(&now);
		s->ops->words(s, site, k, &now);
		if (now.len == n && memcmp(now.data, words, n) == 0)
			found = k;
	}
	buf_release(&now);
	return found;
}

/* What a decision was, of so many choices then; `at` is its number, and what follows it. -1: not known now. */
static int meant(struct space *s, uint32_t site, unsigned long choices, const char *at)
{
	const char *next = strstr(at, "\"name\""), *words = s->ops->words ? value_of(at, "\"what\"") : NULL;
	int k = words && (!next || words < next) ? described(s, site, words) : -1;
	unsigned long number = strtoul(at, NULL, 10);

	return k >= 0 ? k : may_mean(choices, s->site[site].choices) && number < choices ? (int)number : -1;
}

/* Takes choices by the names of instructions; returns how many of the file's are there, and how many it has. */
static uint32_t take_named(const char *text, struct space *s, uint8_t *config, uint32_t *of)
{
	struct named *l = MEM_NEW(s->n_sites + 1, struct named), key, *found;
	const char *at = value_of(text, "\"sites\"");
	unsigned long choices;
	uint32_t n = 0;
	int k;

	for (uint32_t i = 0; i < s->n_sites; i++) {
		const char *name = s->graph->node[s->site[i].node].proto->name;
		l[i] = (struct named){name, strlen(name), i};
	}
	qsort(l, s->n_sites, sizeof *l, by_name);
	space_default(s, config);
	for (*of = 0; (at = value_of(at, "\"name\"")); ++*of) {
		key = (struct named){.name = at, .n = strcspn(at, "\"")};
		at = value_of(at, "\"choices\"");
		choices = at ? strtoul(at, NULL, 10) : 0;
		at = value_of(at, "\"chosen\"");
		found = at && s->n_sites ? bsearch(&key, l, s->n_sites, sizeof *l, by_name) : NULL;
		if (!found || (k = meant(s, found->site, choices, at)) < 0)
			continue;
		config[found->site] = (uint8_t)k;
		n++;
	}
	mem_free(l);
	return n;
}

static int take_like(const char *text, const char *path, struct space *s, uint8_t *config, struct err *err)
{
	const char *kind = value_of(text, "\"space\"");
	bool same = kind && strncmp(kind, s->kind, strlen(s->kind)) == 0 && kind[strlen(s->kind)] == '"';
	uint32_t of, n = take_named(text, s, config, &of);

	if (!same || n == 0 || (double)n < LIKE * (double)of || (double)n < MORE * (double)s->n_sites)
		return err_set(err, "%s is of another program, or of other decisions", path);
	talk("%s is of another version of vantage, or of the program: %u of its %u decisions are there, by name",
		path, n, of);
	return 0;
}

static int take(const char *text, const char *path, struct space *s, uint8_t *config, struct err *err)
{
	const char *at = text;

	if (hash_of(text, "\"space_hash\"") != s->hash)
		return take_like(text, path, s, config, err);
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

int earlier_read(const char *dir, struct space *s, uint8_t *config, struct err *err)
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

double earlier_number(const char *dir, const char *key)
{
	struct buf path = {0}, text = {0}, quoted = {0};
	const char *at = NULL;
	double number;

	buf_addf(&quoted, "\"%s\"", key);
	if (read_text(dir, &path, &text, NULL) == 0)
		at = value_of(text.data, quoted.data);
	number = at ? strtod(at, NULL) : 0;
	buf_release(&quoted);
	buf_release(&path);
	buf_release(&text);
	return number;
}
