/*
 * space.c - what all decision spaces have in common.
 *
 * The kinds are the rows of schemas/kind.def. Everything else here treats configurations as bytes and does
 * not know what a choice means.
 *
 * The hash of the site table covers the kind, and the node and the number of choices of every site. It
 * leaves out defaults, which come from one version of a compiler and may be set from outside. It leaves out
 * ties, whose radius is adjustable.
 */
#include "space/space.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/buf.h"
#include "base/sort.h"
#include "space/arranging.h"

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

const struct space_kind *space_maker(const char *program)
{
	for (size_t i = 0; i < N_KINDS; i++)
		if (kinds[i]->make && names_kind(kinds[i], program) && program[strlen(kinds[i]->name)] == ':')
			return kinds[i];
	return NULL;
}

const char *space_kind_forms(void)
{
	static char text[512];
	size_t n = 0;

	for (size_t i = 0; i < N_KINDS && n < sizeof text; i++)
		n += (size_t)snprintf(text + n, sizeof text - n, "%s%s", i ? ", " : "", kinds[i]->forms);
	return text;
}

const struct space_price *space_prices(const struct space_kind *k)
{
	static const struct space_price usual[] = {{QUANTITY_SECONDS, PRICING_REGION},
		{QUANTITY_BYTES, PRICING_COMPILED},
		{QUANTITY_SECONDS, PRICING_NONE}};

	return k->prices ? k->prices : usual;
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

/* Has the kind with this full name the option? */
static bool has_option(const char *kind, const struct space_option *option)
{
	const struct space_kind *k = space_kind_find(kind, NULL);

	for (const struct space_option *o = k ? k->options : NULL; o && o->name; o++)
		if (o == option)
			return true;
	return false;
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
		if (has_option(one, o)) {
			any = true;
			add = more;
			if (o->add(one, value, more, err) < 0)
				return -1;
		}
		if (used < sizeof all)
			used += (size_t)snprintf(all + used, sizeof all - used, "%s%s", p == kind ? "" : ",", add);
	}
	if (!any)
		return err_set(err, "decisions of the kind %.60s take no --%s", kind, o->name);
	if (used >= sizeof all)
		return err_set(err, "the name of the decision space %.60s... is too long", all);
	memcpy(out, all, sizeof all);
	return 0;
}

int space_kind_extend(const char *kind, const char *between, const char *value, char out[SPACE_KIND_ROOM],
	struct err *err)
{
	int n = snprintf(out, SPACE_KIND_ROOM, "%s%s%s", kind, between, value);

	if (n < 0 || n >= SPACE_KIND_ROOM)
		return err_set(err, "\"%.60s...\" is too long to be part of the name of a decision space", value);
	for (char *p = out + strlen(kind); *p; p++)
		*p = *p == ',' ? ':' : *p;
	return 0;
}

uint32_t space_kind_devices(const char *kind)
{
	const struct space_kind *k = space_kind_find(kind, NULL);

	return k && k->devices ? k->devices(kind) : 1;
}

const struct space_start *space_start_find(const struct space *s, const char *name)
{
	for (const struct space_start *p = s->ops->starts; p && p->name; p++)
		if (strcmp(p->name, name) == 0)
			return p;
	return NULL;
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

void space_free(struct space *s)
{
	if (!s)
		return;
	if (s->ops && s->ops->release)
		s->ops->release(s);
	arena_release(&s->mem);
	mem_free(s);
}

struct tied {
	uint64_t hash;
	uint32_t site;
};

static int by_hash(const void *a, const void *b)
{
	const struct tied *x = a, *y = b;

	if (x->hash != y->hash)
		return x->hash > y->hash ? 1 : -1;
	return (x->site > y->site) - (x->site < y->site);
}

void space_tie(struct space *s, const uint64_t *hash)
{
	struct tied *t = MEM_NEW(s->n_sites, struct tied);

	for (uint32_t i = 0; i < s->n_sites; i++)
		t[i] = (struct tied){hash[i], i};
	qsort(t, s->n_sites, sizeof *t, by_hash);
	s->n_ties = 0;
	for (uint32_t i = 0; i < s->n_sites; i++) {
		s->n_ties += i == 0 || t[i].hash != t[i - 1].hash;
		s->site[t[i].site].tie = s->n_ties - 1;
	}
	mem_free(t);
}

void space_default(const struct space *s, uint8_t *config)
{
	for (uint32_t i = 0; i < s->n_sites; i++)
		config[i] = s->site[i].dflt;
}

void space_random(const struct space *s, double density, struct rng *r, uint8_t *config)
{
	for (uint32_t i = 0; i < s->n_sites; i++) {
		bool plain = rng_unit(r) >= density;
		config[i] = plain ? 0 : (uint8_t)(1 + rng_below(r, s->site[i].choices - 1u));
	}
}

int config_valid(const struct space *s, const uint8_t *config, size_t n, struct err *err)
{
	if (n != s->n_sites)
		return err_set(err, "a configuration of %zu bytes does not fit a space of %u sites", n,
			s->n_sites);
	for (uint32_t i = 0; i < s->n_sites; i++)
		if (config[i] >= s->site[i].choices)
			return err_set(err, "choice %u at site %u is out of range: the site has %u choices",
				config[i], i, s->site[i].choices);
	return 0;
}

void region_release(struct region *r)
{
	buf_release(&r->a);
	buf_release(&r->b);
}

void regions_release(struct regions *r)
{
	for (size_t i = 0; i < r->n; i++)
		region_release(&r->v[i]);
	mem_free(r->v);
	*r = (struct regions){0};
}

static int by_key(const void *a, const void *b)
{
	return memcmp(((const struct region *)a)->key, ((const struct region *)b)->key, sizeof((struct region){0}).key);
}

/*
 * Copies of a layer that change alike give the same pair of modules: one region, executed so many times more. It is
 * measured once, and what is wrong with its price is wrong in all of them.
 */
void regions_join(struct regions *r)
{
	size_t n = 0;

	qsort(r->v, r->n, sizeof *r->v, by_key);
	for (size_t i = 0; i < r->n; i++) {
		if (n == 0 || by_key(&r->v[n - 1], &r->v[i]) != 0) {
			r->v[n++] = r->v[i];
			continue;
		}
		r->v[n - 1].times += r->v[i].times;
		r->v[n - 1].copies += r->v[i].copies;
		region_release(&r->v[i]);
	}
	r->n = n;
}

void space_context_alone(struct space *s, const uint8_t *config, const uint32_t *nodes, uint32_t n, float *out)
{
	(void)config;
	for (uint32_t k = 0; k < n; k++, out += CTX_COUNT) {
		const struct node *v = &s->graph->node[nodes[k]];
		out[CTX_KEPT] = out[CTX_COPIES] = out[CTX_GROUP_NODES] = 1;
		out[CTX_GROUP_INPUTS] = (float)v->n_operands;
		out[CTX_GROUP_BYTES] = (float)v->bytes;
		out[CTX_GROUP_FLOPS] = (float)v->flops;
	}
}

void space_touched_sites(struct space *s, const uint8_t *a, const uint8_t *b, const uint32_t *changed,
	uint32_t n_changed, uint32_t **nodes, size_t *n, size_t *cap)
{
	size_t first = *n, kept = *n;

	(void)a;
	(void)b;
	MEM_GROW(nodes, cap, *n + n_changed);
	for (uint32_t k = 0; k < n_changed; k++)
		(*nodes)[(*n)++] = s->site[changed[k]].node;
	sort_u32(*nodes + first, n_changed);
	for (size_t i = first; i < *n; i++)
		if (i == first || (*nodes)[i] != (*nodes)[i - 1])
			(*nodes)[kept++] = (*nodes)[i];
	*n = kept;
}
