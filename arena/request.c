/*
 * request.c - see request.h. The JSON is read by base/scan.h, which limits nesting; the caller limits the line.
 */
#include "arena/request.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include "base/mem.h"
#include "base/scan.h"

static const struct {
	const char *name;
	unsigned may, must;
} request[] = {
#define REQUEST(id, name, may, must, meaning) {name, may, must},
#include "schemas/arena.def"
#undef REQUEST
};

static const struct {
	const char *name;
	unsigned bit;
} member[] = {{"id", HAS_ID}, {"do", HAS_DO}, {"config", HAS_CONFIG}, {"from", HAS_FROM}, {"how", HAS_HOW},
	{"seed", HAS_SEED}, {"quantity", HAS_QUANTITY}, {"name", HAS_NAME}};
#define MEMBERS (sizeof member / sizeof *member)

const char *request_names(void)
{
	static const char names[] = ""
#define REQUEST(id, name, ...) ", " name
#include "schemas/arena.def"
#undef REQUEST
		;

	return names + 2;
}

/* Reads a word of printable characters. */
static int take_word(struct scan *s, char word[REQUEST_WORD], const char *what)
{
	struct buf text = {0};
	int rc = scan_str(s, &text);

	if (rc == 0 && text.len >= REQUEST_WORD)
		rc = scan_fail(s, "\"%s\" is longer than %d bytes", what, REQUEST_WORD - 1);
	for (size_t i = 0; rc == 0 && i < text.len; i++)
		if (!isgraph((unsigned char)text.data[i]))
			rc = scan_fail(s, "\"%s\" holds the byte 0x%02x", what, (unsigned char)text.data[i]);
	if (rc == 0)
		snprintf(word, REQUEST_WORD, "%s", text.len ? text.data : "");
	buf_release(&text);
	return rc;
}

static int take_choice(struct scan *s, const struct space *space, int64_t site, uint8_t *choice)
{
	int64_t v;

	if (scan_i64(s, &v) < 0)
		return -1;
	if (v < 0 || v >= space->site[site].choices)
		return scan_fail(s, "site %lld has no choice %lld: it has %u", (long long)site, (long long)v,
			space->site[site].choices);
	*choice = (uint8_t)v;
	return 0;
}

static int take_choices(struct scan *s, const struct space *space, uint8_t *config)
{
	uint32_t n = 0;
	int rc = scan_array(s);

	while (rc == 0 && (rc = scan_item(s)) == 1) {
		if (n == space->n_sites)
			return scan_fail(s, "the configuration has more than the %u sites there are", n);
		rc = take_choice(s, space, n, &config[n]);
		n++;
	}
	if (rc == 0 && n < space->n_sites)
		rc = scan_fail(s, "the configuration has %u choices, and there are %u sites", n, space->n_sites);
	return rc;
}

/* Reads one flip, [site, choice]. */
static int take_flip(struct scan *s, const struct space *space, uint8_t *config)
{
	int64_t site;
	int rc = scan_array(s);

	if (rc == 0 && scan_item(s) != 1)
		return scan_fail(s, "a flip is [site, choice]");
	if (rc < 0 || scan_i64(s, &site) < 0)
		return -1;
	if (site < 0 || site >= space->n_sites)
		return scan_fail(s, "there is no site %lld: there are %u, from 0", (long long)site, space->n_sites);
	if ((rc = scan_item(s)) != 1)
		return rc < 0 ? -1 : scan_fail(s, "a flip is [site, choice]");
	if (take_choice(s, space, site, &config[site]) < 0 || (rc = scan_item(s)) < 0)
		return -1;
	return rc == 0 ? 0 : scan_fail(s, "a flip is [site, choice]");
}

static int take_flips(struct scan *s, const struct space *space, uint8_t *config)
{
	bool given = false;
	char key[16];
	int rc = scan_object(s);

	space_default(space, config);
	while (rc == 0 && (rc = scan_key(s, key, sizeof key)) == 1) {
		if (given || strcmp(key, "flips") != 0)
			return scan_fail(s, "a configuration has one member, \"flips\"");
		given = true;
		rc = scan_array(s);
		while (rc == 0 && (rc = scan_item(s)) == 1)
			rc = take_flip(s, space, config);
	}
	return rc == 0 && !given ? scan_fail(s, "a configuration has one member, \"flips\"") : rc;
}

static int take_named(struct scan *s, const struct known_configs *k, uint8_t *config)
{
	struct space *space = k->space;
	const struct space_start *start;
	const uint8_t *known;
	char name[REQUEST_WORD];

	if (take_word(s, name, "config") < 0)
		return -1;
	if (strcmp(name, "default") == 0)
		return space_default(space, config), 0;
	if (strcmp(name, "best") == 0 || strcmp(name, "told") == 0) {
		known = *name == 'b' ? k->best : k->told;
		if (!known)
			return scan_fail(s, "nothing is %s yet", *name == 'b' ? "known to be best" : "told");
		memcpy(config, known, space->n_sites);
		return 0;
	}
	if (!(start = space_start_find(space, name)))
		return scan_fail(s, "there is no configuration called %s: there are "
			"default, best, told and the starts of the kind", name);
	start->fill(space, config);
	return 0;
}

static int take_config(struct scan *s, const struct known_configs *k, uint8_t **config)
{
	if (!*config)
		*config = mem_alloc(k->space->n_sites + 1);
	if (scan_is(s, '['))
		return take_choices(s, k->space, *config);
	if (scan_is(s, '{'))
		return take_flips(s, k->space, *config);
	if (scan_is(s, '"'))
		return take_named(s, k, *config);
	return scan_fail(s, "a configuration is an array, an object with \"flips\", or a name");
}

static int take_do(struct scan *s, struct request *r)
{
	char name[REQUEST_WORD];

	if (take_word(s, name, "do") < 0)
		return -1;
	for (int i = 0; i < DO_COUNT; i++)
		if (strcmp(request[i].name, name) == 0)
			return r->what = (enum request_do)i, 0;
	return scan_fail(s, "nobody can do \"%s\" here; there are %s", name, request_names());
}

static int take_value(struct scan *s, struct request *r, const struct known_configs *k, unsigned bit)
{
	switch (bit) {
	case HAS_ID:
		return scan_i64(s, &r->id);
	case HAS_SEED:
		return scan_i64(s, &r->seed);
	case HAS_CONFIG:
		return take_config(s, k, &r->config);
	case HAS_FROM:
		return take_config(s, k, &r->from);
	case HAS_HOW:
		return take_word(s, r->how, "how");
	case HAS_QUANTITY:
		return take_word(s, r->quantity, "quantity");
	case HAS_NAME:
		return take_word(s, r->name, "name");
	default:
		return take_do(s, r);
	}
}

static int take_member(struct scan *s, struct request *r, const struct known_configs *k, const char *key)
{
	for (size_t i = 0; i < MEMBERS; i++) {
		if (strcmp(member[i].name, key) != 0)
			continue;
		if (r->has & member[i].bit)
			return scan_fail(s, "\"%s\" is given twice", key);
		if (take_value(s, r, k, member[i].bit) < 0)
			return -1;
		r->has |= member[i].bit;
		return 0;
	}
	return scan_fail(s, "no request has such a member");
}

/* Refuses members that the request cannot have, or that it lacks. */
static int fits(const struct request *r, struct err *err)
{
	if (!(r->has & HAS_DO))
		return err_set(err, "there is no \"do\": a request is {\"do\": NAME, ...}, and there are %s",
			request_names());
	for (size_t i = 0; i < MEMBERS; i++) {
		unsigned bit = member[i].bit;
		if (r->has & bit & ~(request[r->what].may | HAS_ID | HAS_DO))
			return err_set(err, "%s has no \"%s\"", request[r->what].name, member[i].name);
		if (request[r->what].must & bit & ~r->has)
			return err_set(err, "%s needs \"%s\"", request[r->what].name, member[i].name);
	}
	return 0;
}

int request_read(struct request *r, const struct known_configs *k, const void *text, size_t n, struct err *err)
{
	struct scan s;
	char key[16];
	int rc;

	r->has = 0;
	r->seed = 0;
	scan_open(&s, text, n, err);
	rc = scan_object(&s);
	while (rc == 0 && (rc = scan_key(&s, key, sizeof key)) == 1)
		rc = take_member(&s, r, k, key);
	if (rc == 0)
		rc = scan_end(&s);
	return rc == 0 ? fits(r, err) : rc;
}

void request_release(struct request *r)
{
	mem_free(r->config);
	mem_free(r->from);
	*r = (struct request){0};
}
