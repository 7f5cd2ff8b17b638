/*
 * decode.c - the compiler's own grouping as a configuration.
 *
 * The module just before the fusion pass and the one just after compute the same values, and the
 * structural hash (graph.h) sees through fusions; so an instruction after the pass is a copy of the
 * node before it that has its hash. An operand edge was absorbed in a group if it leads to another
 * instruction of the same fused computation that is no parameter. A bit is set when all copies of
 * the consumer absorb; where some do and some do not, no configuration says exactly that, and the
 * majority wins. Differences are counted, never hidden: the true default is always measured too.
 *
 * Nodes that compute the same value twice share a hash; the compiler's copies then stand for all of
 * them, which is harmless unless it treated them differently (counted as mixed).
 */
#include <stdio.h>
#include <string.h>
#include <stdlib.h>
#include "space/fusion/own.h"

struct decoder {
	struct space *s;
	const struct graph *after;
	uint64_t *hash;		/* of the nodes before */
	uint64_t *hash_after;
	uint8_t *matched;	/* per node before: has a copy after */
	uint32_t *origin;	/* per node after: the node before with its hash, or NONE */
	uint32_t *absorbed, *read; /* per operand edge before: copies that absorb it, that do not */
	struct fusion_report *report;
};

struct pair {
	uint64_t hash;
	uint32_t node;
};

static int by_hash(const void *a, const void *b)
{
	const struct pair *x = a, *y = b;

	if (x->hash != y->hash)
		return x->hash > y->hash ? 1 : -1;
	return (x->node > y->node) - (x->node < y->node);
}

static struct pair *sorted_hashes(const struct decoder *d)
{
	uint32_t n = d->s->graph->n_nodes;
	struct pair *p = MEM_NEW(n, struct pair);

	for (uint32_t v = 0; v < n; v++)
		p[v] = (struct pair){d->hash[v], v};
	qsort(p, n, sizeof *p, by_hash);
	return p;
}

/* The first node before that has this hash, or NONE; equal ones follow it in the list. */
static size_t find(const struct pair *p, size_t n, uint64_t hash)
{
	size_t low = 0, high = n;

	while (low < high) {
		size_t mid = low + (high - low) / 2;
		if (p[mid].hash < hash)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

static bool is_inside(const struct graph *g, uint32_t v)
{
	return g->comp[g->node[v].comp].role == ROLE_FUSED;
}

/* Counts for one copy of consumer c: which of its operands it absorbs. */
static void count_edges(struct decoder *d, uint32_t copy, uint32_t c)
{
	const struct graph *g = d->s->graph, *a = d->after;
	const struct node *n = &g->node[c];

	for (uint32_t k = 0; k < n->n_operands; k++) {
		uint64_t want = d->hash[node_operands(g, c)[k]];
		bool inside = false;
		/* by value, not by position: commutative operands may have been swapped */
		for (uint32_t i = 0; i < a->node[copy].n_operands; i++) {
			uint32_t o = node_operands(a, copy)[i];
			if (d->hash_after[o] == want)
				inside = is_inside(a, copy) && a->node[o].opcode != OP_PARAMETER;
		}
		(inside ? d->absorbed : d->read)[n->operand + k]++;
	}
}

static void count_copies(struct decoder *d)
{
	const struct graph *g = d->s->graph;
	struct pair *p = sorted_hashes(d);

	for (uint32_t w = 0; w < d->after->n_nodes; w++) {
		uint64_t h = d->hash_after[w];
		uint16_t op = d->after->node[w].opcode;
		d->origin[w] = NONE;
		if (h == 0 || op == OP_FUSION || (op == OP_PARAMETER && is_inside(d->after, w)))
			continue;
		for (size_t i = find(p, g->n_nodes, h); i < g->n_nodes && p[i].hash == h; i++) {
			if (d->origin[w] == NONE)
				d->origin[w] = p[i].node;
			d->matched[p[i].node] = 1;
			count_edges(d, w, p[i].node);
		}
	}
	mem_free(p);
}

static void complain(struct fusion_report *r, const struct graph *g, const char *what, uint32_t p, uint32_t c)
{
	if (!r->first[0])
		snprintf(r->first, sizeof r->first, "%s: %.60s into %.60s", what, g->node[p].proto->name,
			g->node[c].proto->name);
}

/* What the copies of consumer c did with operand edge e, as a vote on the choice of the producer. */
static void vote(struct decoder *d, uint32_t c, uint32_t e, int32_t *votes)
{
	const struct graph *g = d->s->graph;
	const struct fusion *f = fusion_of(d->s);
	uint32_t p = g->edges[e], site = d->s->site_of[p];

	if ((g->node[p].flags & NODE_SCALAR_CONST) || d->absorbed[e] + d->read[e] == 0)
		return;
	if (f->mask[e] == 0) {
		if (d->absorbed[e]) {
			d->report->illegal++;
			complain(d->report, g, "absorbed against our rules", p, c);
		}
		return;
	}
	if (d->absorbed[e] && d->read[e]) {
		d->report->mixed++;
		complain(d->report, g, "absorbed in some groups only", p, c);
	}
	votes[site] += d->absorbed[e] > d->read[e] ? 1 : -1;
	if (d->absorbed[e] > d->read[e])
		d->s->site[site].dflt |= f->mask[e];
}

static void set_defaults(struct decoder *d)
{
	const struct graph *g = d->s->graph;
	const struct fusion *f = fusion_of(d->s);
	int32_t *votes = MEM_NEW(d->s->n_sites, int32_t);

	for (uint32_t i = 0; i < d->s->n_sites; i++)
		d->s->site[i].dflt = 0;
	for (uint32_t c = 0; c < g->n_nodes; c++)
		for (uint32_t k = 0; k < g->node[c].n_operands; k++)
			vote(d, c, g->node[c].operand + k, votes);
	for (uint32_t i = 0; i < d->s->n_sites; i++) {
		struct site *site = &d->s->site[i];
		uint32_t p = site->node, legal = f->n_legal[p];
		if (f->full[p] != 1 || legal == 1 || site->dflt == 0)
			continue;
		/* all or none: the majority, told where it was not unanimous */
		site->dflt = votes[i] >= 0;
		if ((uint32_t)abs(votes[i]) != legal) {
			d->report->mixed++;
			complain(d->report, g, "absorbed by some consumers only", p, g->users[g->node[p].user]);
		}
	}
	mem_free(votes);
}

static void add_member(struct decoder *d, uint32_t w, struct nodes *out)
{
	uint32_t v = d->origin[w];

	if (v != NONE && !(d->s->graph->node[v].flags & NODE_SCALAR_CONST))
		nodes_add(out, v);
}

/* The group that a node after the pass stands for, as nodes before it. */
static void theirs(struct decoder *d, uint32_t w, struct nodes *out)
{
	const struct graph *a = d->after;

	if (a->node[w].opcode != OP_FUSION) {
		add_member(d, w, out);
	} else {
		const struct comp *c = &a->comp[node_calls(a, w)[0]];
		for (uint32_t k = c->first; k < c->first + c->n_nodes; k++)
			add_member(d, k, out);
	}
	nodes_sort(out);
}

static void compare_groups(struct decoder *d)
{
	struct nodes want = {0}, have = {0};
	uint8_t *config = mem_alloc(d->s->n_sites);
	struct fusion_report *r = d->report;

	space_default(d->s, config);
	for (uint32_t w = 0; w < d->after->n_nodes; w++) {
		bool equal;
		if (is_inside(d->after, w) || d->hash_after[w] == 0)
			continue;
		want.n = have.n = 0;
		theirs(d, w, &want);
		if (want.n == 0 || !fusion_groupable(d->s->graph, want.v[want.n - 1]))
			continue;
		group_walk(d->s, config, want.v[want.n - 1], &have);
		equal = fusion_kept(d->s, config, want.v[want.n - 1]) && have.n == want.n &&
			memcmp(have.v, want.v, have.n * sizeof have.v[0]) == 0;
		r->groups++;
		r->equal += equal;
		r->fusions += want.n > 1;
		r->fusions_equal += want.n > 1 && equal;
	}
	mem_free(config);
	nodes_release(&want);
	nodes_release(&have);
}

int fusion_decode(struct space *s, const struct graph *after, struct fusion_report *report, struct err *err)
{
	const struct graph *g = s->graph;
	struct fusion_report none = {0};
	struct arena mem = {0};
	struct decoder d = {.s = s, .after = after, .report = report};

	(void)err;
	*report = none;
	report->sites = s->n_sites;
	d.hash = ARENA_NEW(&mem, g->n_nodes, uint64_t);
	d.hash_after = ARENA_NEW(&mem, after->n_nodes, uint64_t);
	d.origin = ARENA_NEW(&mem, after->n_nodes, uint32_t);
	d.matched = ARENA_NEW(&mem, g->n_nodes, uint8_t);
	d.absorbed = ARENA_NEW(&mem, g->n_edges, uint32_t);
	d.read = ARENA_NEW(&mem, g->n_edges, uint32_t);
	graph_structural_hash(g, d.hash);
	graph_structural_hash(after, d.hash_after);
	count_copies(&d);
	set_defaults(&d);
	for (uint32_t i = 0; i < s->n_sites; i++)
		report->matched += d.matched[s->site[i].node];
	compare_groups(&d);
	arena_release(&mem);
	return 0;
}

void fusion_report_text(const struct fusion_report *r, struct buf *out)
{
	buf_addf(out, "%u of %u sites found in the compiler's result, %u of %u groups equal, %u of %u fusions equal; "
		"%u edges absorbed against our rules, %u in some groups only%s%s", r->matched, r->sites, r->equal, r->groups,
		r->fusions_equal, r->fusions, r->illegal, r->mixed, r->first[0] ? "; first: " : "", r->first);
}
