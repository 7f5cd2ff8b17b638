/*
 * together.c - finds which changes of a move must be priced in one region, because the compiler may join their groups.
 *
 * Two groups that read the same value may become one kernel (joined.c). If both are new, or both go, that is one start
 * and not two, so neither region alone can say it. A move of tied sites often changes such groups. So changes go into
 * one region if a group of one and a group of the other run over as many elements and read the same value, or one reads
 * what the other makes. Else a chain of layers would become one region, so at most MOST sites do.
 */
#include <stdlib.h>
#include "space/fusion/cluster.h"

#define MOST 24 /* sites whose changes are put together */

/* A value that a changed group reads or makes. */
struct use {
	uint32_t value, site;
	uint64_t rounds;
};
struct uses { /* all zero is empty */
	struct use *v;
	size_t n, cap;
};

static int by_value(const void *a, const void *b)
{
	const struct use *x = a, *y = b;

	if (x->value != y->value)
		return x->value > y->value ? 1 : -1;
	if (x->rounds != y->rounds)
		return x->rounds > y->rounds ? 1 : -1;
	return (x->site > y->site) - (x->site < y->site);
}

static void add_uses(struct space *s, const uint8_t *config, const struct nodes *roots, uint32_t site, struct uses *out)
{
	struct nodes members = {0}, values = {0};

	for (size_t i = 0; i < roots->n; i++) {
		members.n = values.n = 0;
		group_walk(s, config, roots->v[i], &members);
		cluster_add_reads(s, config, &members, &values);
		nodes_add(&values, roots->v[i]);
		for (size_t k = 0; k < values.n; k++) {
			if (s->graph->node[values.v[k]].elements <= 1)
				continue;
			MEM_GROW(&out->v, &out->cap, out->n + 1);
			out->v[out->n++] = (struct use){values.v[k], site, cluster_rounds(s->graph, &members)};
		}
	}
	nodes_release(&members);
	nodes_release(&values);
}

static uint32_t find(uint32_t *parent, uint32_t i)
{
	while (parent[i] != i)
		i = parent[i] = parent[parent[i]];
	return i;
}

void cluster_find_together(struct space *s, const uint8_t *const config[2], const struct cluster *groups, uint32_t n,
	uint32_t *parent)
{
	struct uses all = {0};
	uint32_t *size = MEM_NEW(n, uint32_t);

	for (uint32_t i = 0; i < n; i++)
		size[find(parent, i)]++;
	for (uint32_t i = 0; i < n; i++)
		for (int side = 0; side < 2; side++)
			add_uses(s, config[side], &groups[i].roots[side], i, &all);
	if (all.n)
		qsort(all.v, all.n, sizeof *all.v, by_value);
	for (size_t i = 1; i < all.n; i++) {
		uint32_t a = find(parent, all.v[i - 1].site), b = find(parent, all.v[i].site);
		if (all.v[i].value != all.v[i - 1].value || all.v[i].rounds != all.v[i - 1].rounds || a == b ||
			size[a] + size[b] > MOST)
			continue;
		parent[a] = b;
		size[b] += size[a];
	}
	mem_free(all.v);
	mem_free(size);
}
