/*
 * effect.c - finds which choices of a configuration take effect.
 *
 * Places can overlap. Sites come operands first, and a site has no effect if it needs a node that a site before it
 * consumed. A node joins its leader if the program stays without circles (join.c).
 */
#include <string.h>
#include "space/rewrite/own.h"

void rewrite_found(const struct space *s, uint32_t site, const struct offer *o, struct found *f)
{
	const struct rule *r = rewrite_rule(s, o);
	uint32_t v = s->site[site].node;
	bool found = o->leader == NONE ? rule_match(r, s->graph, v, f) :
					 rule_match_joined(r, s->graph, v, o->leader, o->side, f);

	BUG_ON(!found);
}

bool rewrite_consumes(const struct graph *g, const struct found *f, uint32_t inside)
{
	if (g->node[inside].flags & NODE_ROOT)
		return false;
	for (uint32_t k = 0; k < g->node[inside].n_users; k++)
		if (node_users(g, inside)[k] != f->anchor && !found_inside(f, node_users(g, inside)[k]))
			return false;
	return true;
}

/* Can the node join its leader, which is either free or leads nodes that share the same operand? */
static bool may_join(struct space *s, uint32_t v, const struct offer *o)
{
	uint8_t *taken = rewrite_of(s)->taken, as = (uint8_t)(2 + o->side);

	if (taken[v] || (taken[o->leader] && taken[o->leader] != as) || !joins_try(s, v, o->leader))
		return false;
	taken[v] = 1;
	taken[o->leader] = as;
	return true;
}

void rewrite_real(struct space *s, const uint8_t *config, uint8_t *real)
{
	uint8_t *taken = rewrite_of(s)->taken;
	struct found f;

	memset(real, 0, s->n_sites);
	joins_begin(s);
	for (uint32_t i = 0; i < s->n_sites; i++) {
		const struct offer *o = rewrite_offer(s, i, config[i]);
		if (!o)
			continue;
		if (o->leader != NONE) {
			real[i] = may_join(s, s->site[i].node, o) ? config[i] : 0;
			continue;
		}
		rewrite_found(s, i, o, &f);
		bool free = !taken[f.anchor];
		for (uint32_t k = 0; k < f.n_inside; k++)
			free = free && !taken[f.inside[k]];
		if (!free)
			continue;
		real[i] = config[i];
		taken[f.anchor] = 1;
		for (uint32_t k = 0; k < f.n_inside; k++)
			taken[f.inside[k]] = rewrite_consumes(s->graph, &f, f.inside[k]);
	}
	memset(taken, 0, s->graph->n_nodes);
}
