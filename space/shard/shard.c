/*
 * shard.c - opens the space of layouts, writes its programs, and describes its choices to learner and reader.
 */
#include "space/shard/shard.h"

#include <stdio.h>
#include <string.h>
#include "base/sort.h"
#include "space/shard/guess.h"

#define ARGUMENTS "shard/arguments:"
#define ALL "shard:"
#define SMALL 1e-4 /* of the parameters of a device: a tensor that may as well be whole */

static int apply(struct space *s, const uint8_t *config, struct buf *module, struct err *err)
{
	(void)err;
	shard_write(s, config, false, module);
	return 0;
}

static int apply_whole(struct space *s, const uint8_t *config, struct buf *module, struct err *err)
{
	(void)err;
	shard_write(s, config, true, module);
	return 0;
}

/* Keys are hashes of the written programs, so configurations that write the same program count as the same. */
static int region(struct space *s, const uint8_t *a, const uint8_t *b, struct regions *out, struct err *err)
{
	struct region *r;

	(void)err;
	if (memcmp(a, b, s->n_sites) == 0)
		return 0;
	MEM_GROW(&out->v, &out->cap, out->n + 1);
	r = &out->v[out->n++];
	*r = (struct region){.times = 1, .copies = 1, .n_nodes = s->graph->n_nodes, .whole = true};
	shard_write(s, a, false, &r->a);
	shard_write(s, b, false, &r->b);
	r->key[0] = hash64(r->a.data, r->a.len, 0);
	r->key[1] = hash64(r->b.data, r->b.len, 0);
	return 0;
}

/* The partitioner always keeps an annotation, so there is nothing to check in the program that it made. */
static int check(struct space *s, const uint8_t *config, const void *optimised, size_t n, struct check_result *out,
	struct err *err)
{
	(void)optimised;
	(void)n;
	(void)err;
	*out = (struct check_result){0};
	for (uint32_t i = 0; i < s->n_sites; i++)
		out->asked += config[i] != 0;
	out->found = out->equal = out->asked;
	return 0;
}

/* How many parts the tensor of a site is in. */
static uint32_t parts_of(const struct space *s, uint32_t site, uint8_t choice)
{
	struct layout l;

	shard_layout(s, site, choice, &l);
	return layout_parts(&shard_of(s)->mesh, &l);
}

/* Loads are of the whole program, so every flip has to be looked at again after a move. */
static void touched(struct space *s, const uint8_t *a, const uint8_t *b, const uint32_t *changed, uint32_t n_changed,
	uint32_t **nodes, size_t *n, size_t *cap)
{
	const struct shard *h = shard_of(s);

	(void)a;
	(void)b;
	(void)changed;
	if (n_changed == 0)
		return;
	MEM_GROW(nodes, cap, *n + h->n_members);
	memcpy(*nodes + *n, h->member, h->n_members * sizeof **nodes);
	sort_u32(*nodes + *n, h->n_members);
	*n += h->n_members;
}

static void summary(struct space *s, const uint8_t *config, struct buf *out)
{
	const struct shard *h = shard_of(s);
	uint64_t whole = 0, here = 0;
	uint32_t decided = 0;
	char text[2][QUANTITY_TEXT];

	for (uint32_t i = 0; i < s->n_sites; i++) {
		decided += config[i] ? h->place[i].n : 0;
		for (uint32_t k = 0; k < h->place[i].n && h->place[i].parameter; k++) {
			whole += s->graph->node[h->member[h->place[i].first + k]].bytes;
			here += s->graph->node[h->member[h->place[i].first + k]].bytes / parts_of(s, i, config[i]);
		}
	}
	buf_addf(out, "%u of %u tensors laid out over %u devices, of %s of parameters %s on each", decided,
		h->n_members, h->mesh.devices, quantity_text(QUANTITY_BYTES, (double)whole, text[0]),
		quantity_text(QUANTITY_BYTES, (double)here, text[1]));
}

/* A score for when nothing else is known: the memory that splitting saves, so large tensors come first. */
static double promise(struct space *s, uint32_t site, uint8_t choice)
{
	const struct node *v = &s->graph->node[s->site[site].node];
	double copies = shard_of(s)->place[site].n, parts = parts_of(s, site, choice);

	return 1e-12 * copies * ((double)v->bytes + (double)v->flops) * (1 - 0.5 / parts);
}

/*
 * A product that is not laid out is left to the partitioner. A parameter that is not split takes more memory, which no
 * price may show; so only what is small beside all parameters of a device may be whole.
 */
static bool plain(struct space *s, const uint8_t *config, uint32_t site)
{
	const struct shard *h = shard_of(s);
	double all = 0, more;

	if (!h->place[site].parameter)
		return true;
	for (uint32_t i = 0; i < s->n_sites; i++)
		if (h->place[i].parameter)
			all += h->place[i].n * (double)s->graph->node[s->site[i].node].bytes /
				parts_of(s, i, config[i]);
	more = h->place[site].n * (double)s->graph->node[s->site[site].node].bytes;
	return more - more / parts_of(s, site, config[site]) <= SMALL * all;
}

static void words(struct space *s, uint32_t site, uint8_t choice, struct buf *out)
{
	const struct place *p = &shard_of(s)->place[site];
	struct layout l;

	if (shard_layout(s, site, choice, &l))
		layout_words(&shard_of(s)->mesh, &l, s->graph->node[s->site[site].node].rank, out);
	else
		buf_adds(out, p->written ? "as the program says" : p->parameter ? "whole on every device"
			: "by propagation");
	if (p->n > 1)
		buf_addf(out, ", like %u more", p->n - 1);
}

static const struct space_ops shard_ops = {
	.kind = &shard_kind,
	.apply = apply,
	.apply_whole = apply_whole,
	.region = region,
	.check = check,
	.context = shard_context,
	.effect = shard_effect,
	.effect_of = shard_effect_of,
	.grain = shard_grain,
	.touched = touched,
	.undecided = "what the program says itself, or else data split by examples",
	.summary = summary,
	.starts = shard_starts,
	.by_hand = "layout made by hand",
	.promise = promise,
	.together = shard_together,
	.scheme = shard_scheme,
	.plain = plain,
	.words = words,
	.page = shard_page,
	.answer = shard_answer,
};

static const char *mesh_in(const char *kind)
{
	static const char *const forms[] = {ALL, ARGUMENTS};

	for (size_t i = 0; i < 2; i++) {
		size_t n = strlen(forms[i]);
		if (strncmp(kind, forms[i], n) == 0)
			return kind + n;
		if (strlen(kind) == n - 1 && strncmp(kind, forms[i], n - 1) == 0)
			return "2"; /* no mesh is given */
	}
	return NULL;
}

static uint32_t devices(const char *kind)
{
	struct mesh m;

	return mesh_in(kind) && mesh_parse(&m, mesh_in(kind), NULL) == 0 ? m.devices : 1;
}

static int shard_open(struct space *s, const char *backend, struct err *err)
{
	struct shard *h = ARENA_NEW(&s->mem, 1, struct shard);
	uint8_t *config;

	(void)backend;
	s->ops = &shard_ops;
	s->own = h;
	if (!mesh_in(s->kind))
		return err_set(err, "the decision space %.60s does not say over which devices; it is written %s",
			s->kind, shard_kind.forms);
	if (mesh_parse(&h->mesh, mesh_in(s->kind), err) < 0)
		return -1;
	if (h->mesh.devices < 2)
		return err_set(err, "there is nothing to lay out over one device");
	roles_find(&h->roles, s->graph, &s->mem);
	shard_find_sites(s, strncmp(s->kind, ARGUMENTS, strlen(ARGUMENTS) - 1) == 0);
	shard_find_names(s);
	shard_read_products(s);
	config = MEM_NEW(s->n_sites + 1, uint8_t);
	shard_default(s, config);
	for (uint32_t i = 0; i < s->n_sites; i++)
		s->site[i].dflt = config[i];
	mem_free(config);
	return 0;
}

static int add_mesh(const char *kind, const char *mesh, char out[SPACE_KIND_ROOM], struct err *err)
{
	if (strchr(kind, ':'))
		return err_set(err, "the decision space %.60s says already over which devices", kind);
	return space_kind_extend(kind, ":", mesh, out, err);
}

static const struct space_option options[] = {
	{"mesh", "MESH", "devices to lay tensors over: 4, 2x2, data=2,model=2", add_mesh}, {0}};
static const struct space_price prices[] = {{QUANTITY_SECONDS, PRICING_COMPILED}, {QUANTITY_SECONDS, PRICING_WHOLE},
	{QUANTITY_BYTES, PRICING_COMPILED}, {0, PRICING_NONE}};

const struct space_kind shard_kind = {
	.name = "shard",
	.answer_file = "shardings.json",
	.forms = "shard:MESH, shard/arguments:MESH", /* without a mesh: over two devices */
	.about = "how tensors lie over several devices",
	.choices = "0 leaves a tensor as the program has it, the others lay it "
		"over the mesh: which dimension each axis splits.",
	.prices = prices,
	.features = &shard_features,
	.open = shard_open,
	.devices = devices,
	.options = options,
};
