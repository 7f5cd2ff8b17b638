/*
 * kinds.c - the kinds of decision there are: found by name, asked what they can do, opened.
 *
 * The kinds are the rows of schemas/kind.def. A space that is opened gets a hash of its site table, which proves that
 * it was rebuilt the same. The hash covers the kind, and the node and the number of choices of every site. It leaves
 * out defaults, which come from one version of a compiler and may be set from outside, and ties, whose radius is
 * adjustable.
 */
#include <stdio.h>
#include <string.h>
#include "base/buf.h"
#include "space/arranging.h"
#include "space/space.h"

#define KIND(folder) extern const struct space_kind folder##_kind;
#include "schemas/kind.def"
#undef KIND

static const struct space_kind *const kinds[] = {
#define KIND(folder) &folder##_kind,
#include "schemas/kind.def"
#undef KIND
};
#define N_KINDS (sizeof kinds / sizeof *kinds)

/* Is s the kind's name, alone or followed by '/' or ':' and more? */
static bool names_kind(const struct space_kind *k, const char *s)
{
	size_t n = strlen(k->name);
	return strncmp(s, k->name, n) == 0 && (s[n] == 0 || s[n] == '/' || s[n] == ':');
}

const struct space_kind *space_kind_find(const char *kind, struct err *err)
{
	if (!kind)
		return kinds[0];
	for (size_t i = 0; i < N_KINDS; i++)
		if (names_kind(kinds[i], kind))
			return kinds[i];
	err_set(err, "there is no decision space called %.60s; the kinds are %s", kind, space_kind_forms());
	return NULL;
}

const struct space_kind *space_kind_next(const struct space_kind *last)
{
	size_t i = 0;

	while (last && i < N_KINDS && kinds[i++] != last)
		;
	return i < N_KINDS ? kinds[i] : NULL;
}

const struct space_kind *space_maker(const char *program)
{
	for (size_t i = 0; i < N_KINDS; i++)
		if (kinds[i]->make && names_kind(kinds[i], program) && program[strlen(kinds[i]->name)] == ':')
			return kinds[i];
	return NULL;
}

const struct space_kind *space_leader(void)
{
	for (size_t i = 0; i < N_KINDS; i++)
		if (kinds[i]->leads)
			return kinds[i];
	return NULL;
}

bool space_is_problem(const char *path)
{
	static const char *const ends[] = {".json", ".json.gz", ".json.zst"};
	size_t n = space_maker(path) ? 0 : strlen(path);

	for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
		size_t k = strlen(ends[i]);
		if (n > k && strcmp(path + n - k, ends[i]) == 0)
			return true;
	}
	return false;
}

const char *space_kind_forms(void)
{
	static char text[512];
	size_t n = 0;

	for (size_t i = 0; i < N_KINDS && n < sizeof text; i++)
		n += (size_t)snprintf(text + n, sizeof text - n, "%s%s", i ? ", " : "", kinds[i]->forms);
	return text;
}

const char *space_kind_words(const char *more)
{
	static char text[2048];
	size_t n = (size_t)snprintf(text, sizeof text, "what to decide. ");

	for (size_t i = 0; i < N_KINDS && n < sizeof text; i++)
		n += (size_t)snprintf(text + n, sizeof text - n, "%s%s%s%s", i ? "; " : "", kinds[i]->forms,
			kinds[i]->about ? ": " : "", kinds[i]->about ? kinds[i]->about : "");
	if (n < sizeof text)
		snprintf(text + n, sizeof text - n, "%s", more);
	return text;
}

const struct space_price *space_prices(const struct space_kind *k)
{
	static const struct space_price usual[] = {{QUANTITY_SECONDS, PRICING_REGION},
		{QUANTITY_BYTES, PRICING_COMPILED},
		{QUANTITY_SECONDS, PRICING_NONE}};

	return k->prices ? k->prices : usual;
}

bool space_needs_no_device(const char *program, const char *kind)
{
	const struct space_kind *maker = space_maker(program), *k = maker ? maker : space_kind_find(kind, NULL);
	const struct space_price *p = k && !(kind && strchr(kind, ',')) ? space_prices(k) : NULL;

	while (p && p->how == PRICING_FORMULA)
		p++;
	return p && p->how == PRICING_NONE;
}

const char *space_priced(const struct space_kind *k)
{
	static char text[200];
	size_t n = 0;

	for (const struct space_price *p = space_prices(k); p->how != PRICING_NONE && n < sizeof text; p++)
		n += (size_t)snprintf(text + n, sizeof text - n, "%s%s", n ? ", " : "", quantity_name(p->quantity));
	return text;
}

const struct space_kind *space_arranger(void)
{
	for (size_t i = 0; i < N_KINDS; i++)
		if (kinds[i]->arranging)
			return kinds[i];
	return NULL;
}

const struct space_option *space_option_next(const struct space_option *last)
{
	bool here = !last;

	for (size_t i = 0; i < N_KINDS; i++)
		for (const struct space_option *o = kinds[i]->options; o && o->name; o++) {
			if (here)
				return o;
			here = o == last;
		}
	return NULL;
}

static bool has_option(const struct space_kind *k, const struct space_option *option)
{
	for (const struct space_option *o = k ? k->options : NULL; o && o->name; o++)
		if (o == option)
			return true;
	return false;
}

/* The name of the kind that has the option. */
static const char *owner_of(const struct space_option *o)
{
	size_t i = 0;

	while (i < N_KINDS - 1 && !has_option(kinds[i], o))
		i++;
	return kinds[i]->name;
}

int space_option_add(const struct space_option *o, const char *kind, const char *value, char out[SPACE_KIND_ROOM],
	struct err *err)
{
	char all[SPACE_KIND_ROOM] = "", one[SPACE_KIND_ROOM], more[SPACE_KIND_ROOM];
	bool any = false;
	size_t used = 0;

	for (const char *p = kind; p; p = strchr(p, ',') ? strchr(p, ',') + 1 : NULL) {
		const char *add = one;
		snprintf(one, sizeof one, "%.*s", (int)strcspn(p, ","), p);
		if (has_option(space_kind_find(one, NULL), o)) {
			any = true;
			add = more;
			if (o->add(one, value, more, err) < 0)
				return -1;
		}
		if (used < sizeof all)
			used += (size_t)snprintf(all + used, sizeof all - used, "%s%s", p == kind ? "" : ",", add);
	}
	if (!kind)
		return err_set(err, "--%s is an option of the kind %s: add --space %s", o->name, owner_of(o),
			owner_of(o));
	if (!any)
		return err_set(err, "decisions of the kind %.60s take no --%s; it is an option of the kind %s", kind,
			o->name, owner_of(o));
	if (used >= sizeof all)
		return err_set(err, "the name of the decision space %.60s... is too long", all);
	memcpy(out, all, sizeof all);
	return 0;
}

uint32_t space_kind_devices(const char *kind)
{
	const struct space_kind *k = space_kind_find(kind, NULL);

	return k && k->devices ? k->devices(kind) : 1;
}

static uint64_t table_hash(const struct space *s)
{
	uint64_t h = hash64(s->kind, strlen(s->kind), s->n_sites);
	for (uint32_t i = 0; i < s->n_sites; i++)
		h = hash_mix(hash_mix(h, s->site[i].node), s->site[i].choices);
	return h;
}

static void set_defaults(struct space *s, const uint8_t *dflt)
{
	for (uint32_t i = 0; i < s->n_sites; i++)
		s->site[i].dflt = dflt[i];
}

struct space *space_open(const char *kind, const char *backend, const struct graph *g,
	const uint8_t *dflt, size_t n_dflt, struct err *err)
{
	const struct space_kind *k = space_kind_find(kind, err);
	struct space *s;

	if (!k)
		return NULL;
	if (!kind)
		kind = k->name;
	s = MEM_NEW(1, struct space);
	s->graph = g;
	if ((size_t)snprintf(s->kind, sizeof s->kind, "%s", kind) >= sizeof s->kind) {
		err_set(err, "the name of the decision space %.60s is too long", kind);
		goto fail;
	}
	if (k->open(s, backend, err) < 0)
		goto fail;
	if (dflt) {
		if (config_valid(s, dflt, n_dflt, err) < 0) {
			err_prefix(err, "defaults of %.100s", g->name);
			goto fail;
		}
		set_defaults(s, dflt);
	}
	s->hash = table_hash(s);
	s->stride = SPACE_STRIDE;
	for (uint32_t i = 0; i < s->n_sites; i++)
		s->stride = s->site[i].choices > s->stride ? s->site[i].choices : s->stride;
	return s;
fail:
	space_free(s);
	return NULL;
}
