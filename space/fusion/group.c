/*
 * group.c - finds the groups of a configuration by walking.
 *
 * A group is never stored. Walking down from r over absorbed edges gives the members of group(r). Walking
 * up from v over users that absorb gives the roots of the groups that compute v: the kept nodes on the way.
 *
 * A change of a few sites changes only the groups that contain a consumer whose edge changed, and those whose code
 * was the library's and becomes the compiler's own, or the reverse. It also makes or removes the group of a site that
 * starts or stops being kept. fusion_affected finds exactly those groups, in time proportional to their size.
 *
 * It finds a differing group on both sides. Proof: let r be kept in configurations a and b, and let its
 * group differ. Some path from r over absorbed edges has a first edge that changed. Up to the consumer c of
 * this edge, all edges are absorbed in both. So walking up from c gives r in a and in b.
 */
#include <string.h>
#include "base/sort.h"
#include "space/fusion/own.h"

void nodes_sort(struct nodes *l)
{
	size_t k = 0;

	sort_u32(l->v, l->n);
	for (size_t i = 0; i < l->n; i++)
		if (i == 0 || l->v[i] != l->v[i - 1])
			l->v[k++] = l->v[i];
	l->n = k;
}

bool nodes_has(const struct nodes *sorted, uint32_t v)
{
	size_t low = 0, high = sorted->n;

	while (low < high) {
		size_t mid = low + (high - low) / 2;
		if (sorted->v[mid] < v)
			low = mid + 1;
		else
			high = mid;
	}
	return low < sorted->n && sorted->v[low] == v;
}

void nodes_release(struct nodes *l)
{
	mem_free(l->v);
	*l = (struct nodes){0};
}

void node_map_init(struct node_map *m, struct arena *mem, uint32_t size)
{
	*m = (struct node_map){ARENA_NEW(mem, size, uint32_t), ARENA_NEW(mem, size, uint32_t), 1, size};
}

void node_map_clear(struct node_map *m)
{
	if (++m->now == 0) { /* the counter wrapped: old stamps could look current */
		memset(m->stamp, 0, m->size * sizeof m->stamp[0]);
		m->now = 1;
	}
}

/* Adds v to the list unless it was seen. The list is also the queue of the walk. */
static void visit(struct node_map *seen, struct nodes *out, uint32_t v)
{
	if (!node_map_has(seen, v)) {
		node_map_set(seen, v, 0);
		nodes_add(out, v);
	}
}

static void sort_tail(struct nodes *l, size_t from)
{
	if (l->n - from > 1)
		sort_u32(l->v + from, l->n - from);
}

void group_walk(struct space *s, const uint8_t *config, uint32_t root, struct nodes *out)
{
	const struct graph *g = s->graph;
	size_t from = out->n;

	node_map_clear(&fusion_of(s)->walk);
	visit(&fusion_of(s)->walk, out, root);
	for (size_t i = from; i < out->n; i++) {
		const struct node *n = &g->node[out->v[i]];
		for (uint32_t e = n->operand; e < n->operand + n->n_operands; e++)
			if (fusion_absorbed(s, config, e))
				visit(&fusion_of(s)->walk, out, g->edges[e]);
	}
	sort_tail(out, from);
}

/* The bit of v's choice that says whether user u absorbs it; 0 if u never does. All edges between the two share it. */
static uint8_t bit_of(const struct space *s, uint32_t u, uint32_t v)
{
	const struct node *n = &s->graph->node[u];

	for (uint32_t e = n->operand; e < n->operand + n->n_operands; e++)
		if (s->graph->edges[e] == v)
			return fusion_of(s)->mask[e];
	return 0;
}

bool fusion_absorbs(const struct space *s, const uint8_t *config, uint32_t u, uint32_t v)
{
	uint8_t bit = bit_of(s, u, v);

	return bit && (config[s->site_of[v]] & bit);
}

/* One step of the walk up: adds the users that absorb v to the queue, and v itself to `out` if it is kept. */
static void climb(struct space *s, const uint8_t *config, struct nodes *queue, struct nodes *out)
{
	const struct graph *g = s->graph;

	for (size_t i = 0; i < queue->n; i++) {
		uint32_t v = queue->v[i];
		if (fusion_kept(s, config, v))
			nodes_add(out, v);
		if (s->site_of[v] == NONE || config[s->site_of[v]] == 0)
			continue;
		for (uint32_t k = 0; k < g->node[v].n_users; k++)
			if (fusion_absorbs(s, config, node_users(g, v)[k], v))
				visit(&fusion_of(s)->walk, queue, node_users(g, v)[k]);
	}
}

void group_roots(struct space *s, const uint8_t *config, uint32_t v, struct nodes *out)
{
	size_t from = out->n;

	group_roots_of(s, config, &v, 1, out);
	sort_tail(out, from);
}

void group_roots_of(struct space *s, const uint8_t *config, const uint32_t *v, size_t n, struct nodes *out)
{
	struct nodes queue = {0};

	node_map_clear(&fusion_of(s)->walk);
	for (size_t i = 0; i < n; i++)
		visit(&fusion_of(s)->walk, &queue, v[i]);
	climb(s, config, &queue, out);
	nodes_release(&queue);
}

/* Adds the roots, in this configuration, of the groups that would differ if the site had the other choice. */
static void add_differing(struct space *s, const uint8_t *config, uint32_t site, uint8_t other, struct nodes *roots)
{
	const struct graph *g = s->graph;
	const struct fusion *f = fusion_of(s);
	uint32_t v = s->site[site].node;

	for (uint32_t k = 0; k < g->node[v].n_users; k++) {
		uint32_t c = node_users(g, v)[k];
		uint8_t bit = bit_of(s, c, v);
		if (!(config[site] & bit) != !(other & bit))
			group_roots(s, config, c, roots);
	}
	if (!fusion_kept(s, config, v))
		return;
	if ((!f->must_keep[v] && (other & f->full[v]) == f->full[v]) || ((config[site] ^ other) & f->own_code[v]))
		nodes_add(roots, v);
}

void fusion_affected(struct space *s, const uint8_t *a, const uint8_t *b, const uint32_t *changed,
	uint32_t n_changed, struct nodes *roots_a, struct nodes *roots_b)
{
	for (uint32_t i = 0; i < n_changed; i++) {
		add_differing(s, a, changed[i], b[changed[i]], roots_a);
		add_differing(s, b, changed[i], a[changed[i]], roots_b);
	}
	nodes_sort(roots_a);
	nodes_sort(roots_b);
}

void fusion_flipped(struct space *s, uint8_t *config, uint32_t site, uint8_t choice, struct nodes *before,
	struct nodes *after)
{
	uint8_t old = config[site];

	add_differing(s, config, site, choice, before);
	config[site] = choice;
	add_differing(s, config, site, old, after);
	config[site] = old;
	nodes_sort(before);
	nodes_sort(after);
}

void fusion_count(struct space *s, const uint8_t *config, uint32_t *groups, uint32_t *fusions)
{
	struct nodes members = {0};

	*groups = *fusions = 0;
	for (uint32_t v = 0; v < s->graph->n_nodes; v++) {
		if (!fusion_groupable(s->graph, v) || !fusion_kept(s, config, v))
			continue;
		members.n = 0;
		group_walk(s, config, v, &members);
		*groups += 1;
		*fusions += members.n > 1;
	}
	nodes_release(&members);
}
