/*
 * space.c - what all decision spaces have in common: configurations, ties, regions, the plainest features.
 *
 * Configurations are bytes here; nothing knows what a choice means. Kinds build on this file, kinds.c on the kinds.
 */
#include "space/space.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/buf.h"
#include "base/sort.h"
#include "space/arranging.h"

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

const struct space_start *space_start_find(const struct space *s, const char *name)
{
	for (const struct space_start *p = s->ops->starts; p && p->name; p++)
		if (strcmp(p->name, name) == 0)
			return p;
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

int space_apply_default(struct space *s, struct buf *module, struct err *err)
{
	uint8_t *config = mem_alloc(s->n_sites + 1);
	int rc;

	space_default(s, config);
	rc = s->ops->apply(s, config, module, err);
	mem_free(config);
	return rc;
}

void space_random(struct space *s, double density, struct rng *r, uint8_t *config)
{
	for (uint32_t i = 0; i < s->n_sites; i++) {
		bool plain = rng_unit(r) >= density;
		config[i] = plain ? 0 : (uint8_t)(1 + rng_below(r, s->site[i].choices - 1u));
	}
	if (s->ops->allow)
		s->ops->allow(s, config);
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

bool space_matters(const struct space *s, uint32_t site, enum quantity q)
{
	return q != QUANTITY_SECONDS || s->graph->comp[s->graph->node[s->site[site].node].comp].trips > 0;
}

uint32_t space_idle_sites(const struct space *s, enum quantity q)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < s->n_sites; i++)
		n += !space_matters(s, i, q);
	return n;
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

void space_touched_nodes(uint32_t *nodes, size_t n, uint32_t **out, size_t *n_out, size_t *cap)
{
	size_t kept = *n_out;

	sort_u32(nodes, n);
	MEM_GROW(out, cap, *n_out + n);
	for (size_t i = 0; i < n; i++)
		if (i == 0 || nodes[i] != nodes[i - 1])
			(*out)[kept++] = nodes[i];
	*n_out = kept;
}

void space_touched_sites(struct space *s, const uint8_t *a, const uint8_t *b, const uint32_t *changed,
	uint32_t n_changed, uint32_t **nodes, size_t *n, size_t *cap)
{
	uint32_t *of = mem_alloc((n_changed + (size_t)1) * sizeof *of);

	(void)a;
	(void)b;
	for (uint32_t k = 0; k < n_changed; k++)
		of[k] = s->site[changed[k]].node;
	space_touched_nodes(of, n_changed, nodes, n, cap);
	mem_free(of);
}

int space_region_formula(struct space *s, const uint8_t *a, const uint8_t *b, struct regions *out, struct err *err)
{
	struct region r = {.key = {config_hash(s, a), config_hash(s, b)}, .times = 1, .copies = 1, .n_nodes = 1};

	(void)err;
	if (memcmp(a, b, s->n_sites) == 0)
		return 0;
	MEM_GROW(&out->v, &out->cap, out->n + 1);
	out->v[out->n++] = r;
	return 0;
}
