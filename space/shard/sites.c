/*
 * sites.c - finds the tensors whose layout is decided; repeated ones are one site.
 *
 * A parameter is a site; the part of the result that takes its place in the next run belongs to the same site. The
 * value of a product or a convolution is a site, too, in the entry and in loops, branches and calls. Tensors with the
 * same surroundings, as in the layers of a network, are one site: people lay out "wq" in the same way in every layer,
 * and so a search over twelve layers takes no longer than one over two. The surroundings are the nodes within two steps
 * along operands and users. A moment of an optimiser counts as having those of its weight.
 */
#include "space/shard/own.h"

#include <stdlib.h>
#include <string.h>

#define STEPS 2

struct found { /* a tensor to decide about */
	uint64_t class;
	uint32_t node;
};

/* Hashes what a node is by itself. The number of a parameter does not count. */
static uint64_t own_hash(const struct graph *g, uint32_t v)
{
	const Hlo__ShapeProto *shape = g->node[v].proto->shape;

	if (g->node[v].opcode != OP_PARAMETER)
		return node_local_hash(g, v, false);
	return hash64(shape->dimensions, shape->n_dimensions * sizeof *shape->dimensions, g->node[v].dtype);
}

/* Returns, for every node, a hash of what surrounds it; the caller frees it. */
static uint64_t *surroundings(const struct graph *g)
{
	uint64_t *now = MEM_NEW(2 * (size_t)g->n_nodes + 1, uint64_t), *next = now + g->n_nodes;

	for (uint32_t v = 0; v < g->n_nodes; v++)
		now[v] = own_hash(g, v);
	for (int step = 0; step < STEPS; step++) {
		for (uint32_t v = 0; v < g->n_nodes; v++) {
			uint64_t users = 0;
			next[v] = now[v];
			for (uint32_t k = 0; k < g->node[v].n_operands; k++)
				next[v] = hash_mix(next[v], now[node_operands(g, v)[k]]);
			for (uint32_t k = 0; k < g->node[v].n_users; k++)
				users += now[node_users(g, v)[k]]; /* they have no order */
			next[v] = hash_mix(next[v], users);
		}
		memcpy(now, next, g->n_nodes * sizeof *now);
	}
	return now;
}

static bool is_product(const struct node *n)
{
	return n->opcode == OP_DOT || n->opcode == OP_CONVOLUTION || n->opcode == OP_RAGGED_DOT;
}

static bool is_written(const struct graph *g, uint32_t v)
{
	return g->node[v].proto->sharding;
}

static uint32_t choices_of(const struct space *s, uint32_t v)
{
	bool plain = s->graph->node[v].opcode == OP_PARAMETER && !is_written(s->graph, v);

	return layout_count(&shard_of(s)->mesh, shape_of(s, v)) + !plain;
}

static bool is_candidate(const struct space *s, uint32_t v, bool arguments_only)
{
	const struct graph *g = s->graph;
	const struct node *n = &g->node[v];

	if (n->dtype == DT_TUPLE || n->rank == 0)
		return false;
	if (n->opcode == OP_PARAMETER)
		return n->comp == g->entry && choices_of(s, v) > 1;
	return !arguments_only && is_product(n) && node_is_compiled(g, v) && choices_of(s, v) > 2;
}

/* Mixes the class of its weight into the class of a moment. */
static uint64_t class_of(const struct space *s, const uint64_t *hash, uint32_t v)
{
	const struct graph *g = s->graph;
	uint64_t h = hash_mix(hash[v], is_written(g, v));

	if (g->node[v].opcode == OP_PARAMETER) {
		const struct purpose *p = purpose_of(s, v);
		h = hash_mix(hash_mix(h, p->role), p->owner != NONE ? hash[p->owner] : 0);
	}
	return h;
}

static int by_class(const void *a, const void *b)
{
	const struct found *x = a, *y = b;

	if (x->class != y->class)
		return x->class > y->class ? 1 : -1;
	return (x->node > y->node) - (x->node < y->node);
}

/* Compares sites: they stand in the order of their first members. */
static int by_first(const void *a, const void *b)
{
	const struct place *x = a, *y = b;

	return (x->first > y->first) - (x->first < y->first);
}

static void fill_site(struct space *s, uint32_t i, const struct place *p)
{
	struct shard *h = shard_of(s);
	uint32_t v = h->member[p->first];

	h->place[i] = *p;
	h->place[i].parameter = s->graph->node[v].opcode == OP_PARAMETER;
	h->place[i].written = is_written(s->graph, v);
	h->place[i].skip = !(h->place[i].parameter && !h->place[i].written);
	s->site[i] = (struct site){.node = v, .tie = i, .choices = (uint8_t)choices_of(s, v)};
	for (uint32_t k = 0; k < p->n; k++)
		s->site_of[h->member[p->first + k]] = i;
}

/* Makes a site of each run of one class. Members are listed by site, and sites by their first node. */
static void make_sites(struct space *s, struct found *f, uint32_t n)
{
	struct shard *h = shard_of(s);
	struct place *run = MEM_NEW(n + 1, struct place);
	uint32_t *sorted = ARENA_NEW(&s->mem, n + 1, uint32_t), filled = 0;

	qsort(f, n, sizeof *f, by_class);
	for (uint32_t i = 0; i < n; i++) { /* for now `first` is the first node, and `skip` unused */
		if (i == 0 || f[i].class != f[i - 1].class)
			run[s->n_sites++] = (struct place){.first = f[i].node};
		run[s->n_sites - 1].n++;
	}
	qsort(run, s->n_sites, sizeof *run, by_first);
	h->place = ARENA_NEW(&s->mem, s->n_sites + 1, struct place);
	s->site = ARENA_NEW(&s->mem, s->n_sites + 1, struct site);
	h->member = sorted;
	h->n_members = n;
	for (uint32_t i = 0; i < s->n_sites; i++) {
		struct place p = {.first = filled, .n = run[i].n};
		uint32_t k = 0;
		while (f[k].node != run[i].first)
			k++;
		for (uint32_t m = 0; m < p.n; m++)
			sorted[filled++] = f[k + m].node;
		fill_site(s, i, &p);
	}
	s->n_ties = s->n_sites;
	mem_free(run);
}

void shard_find_sites(struct space *s, bool arguments_only)
{
	const struct graph *g = s->graph;
	uint64_t *hash = surroundings(g);
	struct found *f = MEM_NEW(g->n_nodes + 1, struct found);
	uint32_t n = 0;

	s->site_of = arena_alloc(&s->mem, (g->n_nodes + 1) * sizeof *s->site_of);
	for (uint32_t v = 0; v < g->n_nodes; v++) {
		s->site_of[v] = NONE;
		if (is_candidate(s, v, arguments_only))
			f[n++] = (struct found){class_of(s, hash, v), v};
	}
	make_sites(s, f, n);
	mem_free(f);
	mem_free(hash);
}

bool shard_layout(const struct space *s, uint32_t site, uint8_t choice, struct layout *out)
{
	const struct place *p = &shard_of(s)->place[site];

	*out = layout_whole;
	if (choice == 0)
		return false;
	layout_at(&shard_of(s)->mesh, shape_of(s, s->site[site].node), (uint32_t)choice - p->skip, out);
	return true;
}

uint8_t shard_choice(const struct space *s, uint32_t site, const struct layout *l)
{
	const struct shard *h = shard_of(s);
	uint32_t k = layout_number(&h->mesh, shape_of(s, s->site[site].node), l);

	if (k == 0 && layout_parts(&h->mesh, l) > 1)
		return 0;
	return (uint8_t)(k + h->place[site].skip);
}
