/*
 * cluster.c - which of the groups that a move changes are priced together.
 *
 * Groups belong together if a changed site connects them. Other groups form regions of their own. The regions are
 * priced one by one and the prices added. That is exact, except for what caches and prefetchers carry from one kernel
 * to the next.
 *
 * A value that every layer's update reads, such as a step size, connects as many groups as the program has weights.
 * Their region would be the whole optimiser: slow to compile, and another one in a program with one more layer. So such
 * a site, a hub, connects nothing. Its readers, each with what other sites connect it to, are regions of their own, in
 * which both sides make the hub's value (region.c). That the value's own kernel comes or goes is priced with one of the
 * readers, the same one in every program. Readers of equal structure have equal regions, which are priced once. A
 * cluster is taken apart only if that leaves less to compile.
 *
 * A move of a few hundred sites of a solver whose steps are unrolled can change 200 MB of groups, which take half a
 * minute to write and ten to compile. So a caller may say how much is of any use (regions.most). What a region has at
 * least is known from its members before it is written.
 */
#include <stdlib.h>
#include "space/fusion/cluster.h"

#define HUB 4 /* groups that a site changes, from so many on it may be a hub */
#define LEAST_BYTES 64 /* of a member in a module */

struct clusters { /* all zero is empty */
	struct cluster *v;
	size_t n;
	uint32_t *parent; /* per changed site: union-find */
};

static uint32_t find(uint32_t *parent, uint32_t i)
{
	while (parent[i] != i)
		i = parent[i] = parent[parent[i]];
	return i;
}

/* Connects site i with the sites that have one of these groups already. */
static void join(struct space *s, struct clusters *all, uint32_t i, const struct nodes *roots)
{
	struct node_map *owner = &fusion_of(s)->value;

	for (size_t k = 0; k < roots->n; k++)
		if (node_map_has(owner, roots->v[k]))
			all->parent[find(all->parent, owner->to[roots->v[k]])] = find(all->parent, i);
		else
			node_map_set(owner, roots->v[k], i);
}

static void append(struct nodes *to, const struct nodes *from)
{
	for (size_t i = 0; i < from->n; i++)
		nodes_add(to, from->v[i]);
}

/* Finds the groups around each changed site, and puts those of connected sites together. */
static void find_clusters(struct space *s, const uint8_t *a, const uint8_t *b, const struct nodes *changed,
	struct clusters *all)
{
	all->n = changed->n;
	all->v = MEM_NEW(changed->n, struct cluster);
	all->parent = MEM_NEW(changed->n, uint32_t);
	node_map_clear(&fusion_of(s)->value);
	for (uint32_t i = 0; i < changed->n; i++) {
		struct cluster *p = &all->v[i];
		all->parent[i] = i;
		fusion_affected(s, a, b, &changed->v[i], 1, &p->roots[0], &p->roots[1]);
		join(s, all, i, &p->roots[0]);
		join(s, all, i, &p->roots[1]);
	}
	if (fusion_of(s)->rules->joins)
		cluster_find_together(s, (const uint8_t *[]){a, b}, all->v, (uint32_t)changed->n, all->parent);
	for (uint32_t i = 0; i < changed->n; i++) {
		struct cluster *p = &all->v[find(all->parent, i)];
		for (int side = 0; side < 2 && p != &all->v[i]; side++) {
			append(&p->roots[side], &all->v[i].roots[side]);
			nodes_release(&all->v[i].roots[side]);
		}
	}
	for (uint32_t i = 0; i < changed->n; i++)
		for (int side = 0; side < 2; side++)
			nodes_sort(&all->v[i].roots[side]);
}

static void cluster_release(struct cluster *p)
{
	for (int side = 0; side < 2; side++)
		nodes_release(&p->roots[side]);
}

static void clusters_release(struct clusters *all)
{
	for (size_t i = 0; i < all->n; i++)
		cluster_release(&all->v[i]);
	mem_free(all->v);
	mem_free(all->parent);
}

static size_t least_bytes(struct space *s, const uint8_t *const config[2], const struct cluster *p)
{
	struct nodes members = {0};
	size_t n = 0;

	for (int side = 0; side < 2; side++)
		for (size_t i = 0; i < p->roots[side].n; i++, n += members.n) {
			members.n = 0;
			group_walk(s, config[side], p->roots[side].v[i], &members);
		}
	nodes_release(&members);
	return LEAST_BYTES * n;
}

/* Writes the region of a cluster, unless that is beyond what `all` may have. */
static bool region_of(struct space *s, const uint8_t *const config[2], const struct cluster *p, struct regions *all,
	struct region *r)
{
	struct cluster copy = {0};

	if (all->most && all->written + least_bytes(s, config, p) > all->most)
		return false;
	for (int side = 0; side < 2; side++)
		append(&copy.roots[side], &p->roots[side]);
	cluster_region(s, config, &copy, r);
	cluster_release(&copy);
	all->written += r->a.len + r->b.len;
	return true;
}

static void add_region(struct regions *out, const struct region *r)
{
	MEM_GROW(&out->v, &out->cap, out->n + 1);
	out->v[out->n++] = *r;
}

/* A cluster without its hubs: pieces that nothing else connects. */
struct pieces {
	struct nodes root;   /* of all groups, on either side */
	uint32_t *parent;    /* ... union-find */
	struct cluster *v;   /* by the representative of a piece; the others are empty */
	struct region *made; /* ... of those with groups on both sides */
	struct nodes *hub;   /* of each hub: the roots that it changes */
	size_t n_hubs, cap_hubs;
};

static uint32_t piece_of(struct pieces *p, uint32_t root)
{
	size_t low = 0, high = p->root.n;

	while (high - low > 1) {
		size_t mid = low + (high - low) / 2;
		if (p->root.v[mid] <= root)
			low = mid;
		else
			high = mid;
	}
	return find(p->parent, (uint32_t)low);
}

/* Connects the groups that a site changes, unless it is a hub. */
static void take_site(struct space *s, const uint8_t *const config[2], uint32_t site, struct pieces *p)
{
	struct cluster c = {0};
	bool hub;

	fusion_affected(s, config[0], config[1], &site, 1, &c.roots[0], &c.roots[1]);
	hub = c.roots[0].n >= HUB || c.roots[1].n >= HUB;
	append(&c.roots[0], &c.roots[1]);
	for (size_t i = 1; i < c.roots[0].n && !hub; i++)
		p->parent[piece_of(p, c.roots[0].v[i])] = piece_of(p, c.roots[0].v[0]);
	if (hub) {
		MEM_GROW(&p->hub, &p->cap_hubs, p->n_hubs + 1);
		p->hub[p->n_hubs++] = c.roots[0];
		c.roots[0] = (struct nodes){0};
	}
	cluster_release(&c);
}

static void take_apart(struct space *s, const uint8_t *const config[2], const struct cluster *whole,
	const struct nodes *sites, struct pieces *p)
{
	*p = (struct pieces){0};
	for (int side = 0; side < 2; side++)
		append(&p->root, &whole->roots[side]);
	nodes_sort(&p->root);
	p->parent = MEM_NEW(p->root.n, uint32_t);
	p->v = MEM_NEW(p->root.n, struct cluster);
	p->made = MEM_NEW(p->root.n, struct region);
	for (uint32_t i = 0; i < p->root.n; i++)
		p->parent[i] = i;
	for (size_t i = 0; i < sites->n; i++)
		take_site(s, config, sites->v[i], p);
	for (int side = 0; side < 2; side++)
		for (size_t i = 0; i < whole->roots[side].n; i++)
			nodes_add(&p->v[piece_of(p, whole->roots[side].v[i])].roots[side], whole->roots[side].v[i]);
}

static void pieces_release(struct pieces *p)
{
	for (size_t i = 0; i < p->root.n; i++) {
		cluster_release(&p->v[i]);
		region_release(&p->made[i]);
	}
	for (size_t i = 0; i < p->n_hubs; i++)
		nodes_release(&p->hub[i]);
	nodes_release(&p->root);
	mem_free(p->parent);
	mem_free(p->v);
	mem_free(p->made);
	mem_free(p->hub);
}

static bool is_whole(const struct cluster *c)
{
	return c->roots[0].n && c->roots[1].n;
}

/* Returns the piece that piece i goes with: of those that a hub connects it to, the one with the smallest key. */
static uint32_t partner_of(struct pieces *p, uint32_t i)
{
	uint32_t best = NONE;

	for (size_t h = 0; h < p->n_hubs; h++) {
		bool at = false;
		for (size_t k = 0; k < p->hub[h].n && !at; k++)
			at = piece_of(p, p->hub[h].v[k]) == i;
		for (size_t k = 0; k < p->hub[h].n && at; k++) {
			uint32_t j = piece_of(p, p->hub[h].v[k]);
			if (is_whole(&p->v[j]) &&
				(best == NONE || cluster_key(&p->made[j]) < cluster_key(&p->made[best])))
				best = j;
		}
	}
	return best;
}

/* Moves the groups of piece i to piece `to`, whose region is another one then. */
static void move_piece(struct pieces *p, uint32_t i, uint32_t to)
{
	for (int side = 0; side < 2; side++) {
		append(&p->v[to].roots[side], &p->v[i].roots[side]);
		nodes_sort(&p->v[to].roots[side]);
		nodes_release(&p->v[i].roots[side]);
	}
	region_release(&p->made[to]);
}

/* Puts what is on one side only, a hub's value, to one of its readers. False: it has none, or `all` may not have it. */
static bool place_values(struct space *s, const uint8_t *const config[2], struct pieces *p, struct regions *all)
{
	uint32_t *with = MEM_NEW(p->root.n, uint32_t);
	bool placed = true;

	for (uint32_t i = 0; i < p->root.n && placed; i++)
		if (is_whole(&p->v[i]))
			placed = region_of(s, config, &p->v[i], all, &p->made[i]);
	for (uint32_t i = 0; i < p->root.n && placed; i++) {
		bool some = p->v[i].roots[0].n || p->v[i].roots[1].n;
		with[i] = some && !is_whole(&p->v[i]) ? partner_of(p, i) : i;
		placed &= with[i] != NONE;
	}
	for (uint32_t i = 0; i < p->root.n && placed; i++)
		if (with[i] != i)
			move_piece(p, i, with[i]);
	mem_free(with);
	return placed;
}

/* Adds the region of every piece; none where `all` may not have them. */
static void add_pieces(struct space *s, const uint8_t *const config[2], struct pieces *p, struct regions *all,
	struct regions *out)
{
	for (size_t i = 0; i < p->root.n; i++) {
		if (p->v[i].roots[0].n == 0 && p->v[i].roots[1].n == 0)
			continue;
		if (p->made[i].a.len == 0 && !region_of(s, config, &p->v[i], all, &p->made[i])) {
			regions_release(out);
			*out = (struct regions){0};
			return;
		}
		add_region(out, &p->made[i]);
		p->made[i] = (struct region){0};
	}
}

static size_t bytes_of(const struct regions *r)
{
	size_t bytes = 0;

	for (size_t i = 0; i < r->n; i++)
		bytes += r->v[i].a.len + r->v[i].b.len;
	return bytes;
}

/* Adds the regions of a cluster: one, or those of its pieces, or, if it may have neither, none. */
static void add_cluster(struct space *s, const uint8_t *const config[2], const struct cluster *whole,
	const struct nodes *sites, struct regions *out)
{
	struct regions one = {0}, each = {0}, *better;
	struct region r;
	struct pieces p;

	if (region_of(s, config, whole, out, &r))
		add_region(&one, &r);
	take_apart(s, config, whole, sites, &p);
	if (p.n_hubs > 0 && place_values(s, config, &p, out))
		add_pieces(s, config, &p, out, &each);
	if (each.n > 1)
		regions_join(&each);
	better = each.n && (!one.n || bytes_of(&each) < bytes_of(&one)) ? &each : &one;
	out->beyond |= !better->n;
	for (size_t i = 0; i < better->n; i++)
		add_region(out, &better->v[i]);
	better->n = 0;
	pieces_release(&p);
	regions_release(&one);
	regions_release(&each);
}

int fusion_region(struct space *s, const uint8_t *a, const uint8_t *b, struct regions *out, struct err *err)
{
	struct nodes changed = {0}, sites = {0};
	struct clusters all = {0};

	(void)err;
	for (uint32_t i = 0; i < s->n_sites; i++)
		if (a[i] != b[i] && space_matters(s, i, QUANTITY_SECONDS))
			nodes_add(&changed, i);
	find_clusters(s, a, b, &changed, &all);
	for (uint32_t i = 0; i < all.n && !out->beyond; i++) {
		if (all.v[i].roots[0].n == 0 && all.v[i].roots[1].n == 0)
			continue; /* it was put together with another site's */
		sites.n = 0;
		for (uint32_t k = 0; k < changed.n; k++)
			if (find(all.parent, k) == i)
				nodes_add(&sites, changed.v[k]);
		add_cluster(s, (const uint8_t *[]){a, b}, &all.v[i], &sites, out);
	}
	if (out->n > 1)
		regions_join(out);
	clusters_release(&all);
	nodes_release(&changed);
	nodes_release(&sites);
	return 0;
}
