/*
 * decode.c - reads the compiler's own grouping as a configuration.
 *
 * Every instruction after the pass is a copy of a node before it (match.h). In a copy, an operand edge is
 * absorbed if the operand is computed in the same fusion; otherwise it is read. A bit is set if more copies
 * of the consumer absorb than read. A site that has only all or none is all if more consumers absorb.
 *
 * Then each of the compiler's groups is compared with those choices, edge by edge. It is equal if its root
 * is kept, and each edge of each member is absorbed or read as the choices say. Groups that are not equal
 * are counted by cause (schemas/fusion_cause.def) and reported. Besides, the compiler's true default is
 * always measured.
 */
#include <stdio.h>
#include <string.h>
#include "space/fusion/match.h"
#include "space/fusion/own.h"

static const struct space_cause causes[CAUSE_COUNT] = {
#define CAUSE(id, name, meaning) {name, meaning, 0, ""},
#include "schemas/fusion_cause.def"
#undef CAUSE
};

struct decoder {
	struct space *s;
	struct match m;
	uint8_t *config;	   /* the decoded default */
	uint32_t *absorbed, *read; /* per operand edge: how many copies of its consumer absorb it, and read it */
	uint32_t *seen, now;	   /* per copy: the last walk that met it */
	struct fusion_report *report;
	struct arena mem;
};

static void count_edges(struct decoder *d)
{
	const struct graph *g = d->s->graph;

	for (size_t i = 0; i < d->m.n; i++) {
		const struct copy *c = &d->m.copy[i];
		const struct node *n = &g->node[c->node];
		for (uint32_t k = 0; k < n->n_operands; k++) {
			struct reading r = match_reading(&d->m, c, k);
			if (r.copy != NONE)
				(r.inside ? d->absorbed : d->read)[n->operand + k]++;
		}
	}
}

static void set_defaults(struct decoder *d)
{
	const struct graph *g = d->s->graph;
	const struct fusion *f = fusion_of(d->s);
	int32_t *votes = ARENA_NEW(&d->mem, d->s->n_sites, int32_t);

	for (uint32_t i = 0; i < d->s->n_sites; i++)
		d->s->site[i].dflt = 0;
	for (uint32_t c = 0; c < g->n_nodes; c++)
		for (uint32_t k = 0; k < g->node[c].n_operands; k++) {
			uint32_t e = g->node[c].operand + k, site = d->s->site_of[g->edges[e]];
			if (f->mask[e] == 0 || !fusion_is_decided(g, c, k) || d->absorbed[e] + d->read[e] == 0)
				continue;
			votes[site] += d->absorbed[e] > d->read[e] ? 1 : -1;
			if (d->absorbed[e] > d->read[e])
				d->s->site[site].dflt |= f->mask[e];
		}
	for (uint32_t i = 0; i < d->s->n_sites; i++) /* all or none: what most consumers do */
		if (f->full[d->s->site[i].node] == 1 && votes[i] <= 0)
			d->s->site[i].dflt = 0;
}

/* How one of the compiler's groups differs from the choices. */
struct fault {
	enum fusion_cause cause; /* CAUSE_COUNT: it does not differ */
	uint32_t producer, consumer;
};

static void blame(struct fault *f, enum fusion_cause cause, uint32_t producer, uint32_t consumer)
{
	if (cause < f->cause)
		*f = (struct fault){cause, producer, consumer};
}

/* Why an operand edge is not as the choices say. */
static enum fusion_cause cause_of(const struct decoder *d, uint32_t e)
{
	uint32_t p = d->s->graph->edges[e];

	if (fusion_of(d->s)->mask[e] == 0)
		return CAUSE_RULES;
	if (d->absorbed[e] && d->read[e])
		return CAUSE_COPIES;
	return fusion_of(d->s)->full[p] == 1 ? CAUSE_CONSUMERS : CAUSE_OTHER;
}

/* The compiler keeps the root, but by the choices all consumers absorb it: finds a copy of one that reads it. */
static void blame_readers(const struct decoder *d, uint32_t root, struct fault *f)
{
	const struct graph *g = d->s->graph;

	for (uint32_t i = 0; i < g->node[root].n_users; i++) {
		uint32_t c = node_users(g, root)[i];
		for (uint32_t k = 0; k < g->node[c].n_operands; k++)
			if (node_operands(g, c)[k] == root && d->read[g->node[c].operand + k])
				blame(f, cause_of(d, g->node[c].operand + k), root, c);
	}
	blame(f, CAUSE_OTHER, root, root);
}

/* Compares one copy with the choices, and adds the operands that it computes inside to the queue. */
static void compare_copy(struct decoder *d, uint32_t at, struct nodes *queue, struct fault *f)
{
	const struct graph *g = d->s->graph;
	const struct copy *c = &d->m.copy[at];
	const struct node *n = &g->node[c->node];

	for (uint32_t k = 0; k < n->n_operands; k++) {
		struct reading r = match_reading(&d->m, c, k);
		uint32_t e = n->operand + k, p = g->edges[e];
		if (!fusion_is_decided(g, c->node, k))
			continue;
		if (r.copy == NONE)
			blame(f, CAUSE_NOT_FOUND, p, c->node);
		else if (r.inside != fusion_absorbed(d->s, d->config, e))
			blame(f, cause_of(d, e), p, c->node);
		if (r.copy != NONE && r.inside && d->seen[r.copy] != d->now) {
			d->seen[r.copy] = d->now;
			nodes_add(queue, r.copy);
		}
	}
}

/* Compares the group whose result is copy `root`; returns how many members it has. */
static size_t compare_group(struct decoder *d, uint32_t root, struct nodes *queue, struct fault *f)
{
	if (!fusion_kept(d->s, d->config, d->m.copy[root].node))
		blame_readers(d, d->m.copy[root].node, f);
	d->now++;
	queue->n = 0;
	nodes_add(queue, root);
	for (size_t i = 0; i < queue->n; i++)
		compare_copy(d, queue->v[i], queue, f);
	return queue->n;
}

static void note(struct decoder *d, uint32_t w, size_t members, const struct fault *f)
{
	struct space_account *a = &d->s->account;
	const struct graph *g = d->s->graph;
	bool equal = f->cause == CAUSE_COUNT;
	struct space_cause *c = equal ? NULL : &a->cause[f->cause];

	a->parts++;
	a->equal += equal;
	d->report->fusions += members > 1;
	d->report->fusions_equal += members > 1 && equal;
	if (!c || c->parts++)
		return;
	if (f->producer != f->consumer)
		snprintf(c->first, sizeof c->first, "%.60s with %.60s", g->node[f->consumer].proto->name,
			g->node[f->producer].proto->name);
	else
		snprintf(c->first, sizeof c->first, "%.100s", d->m.after->node[w].proto->name);
}

/* The result of w, a fusion or an instruction outside of fusions; NONE for a fusion with several results. */
static uint32_t result_of(const struct graph *after, uint32_t w)
{
	uint32_t root;

	if (after->node[w].opcode != OP_FUSION)
		return w;
	root = after->comp[node_calls(after, w)[0]].root;
	return after->node[root].opcode == OP_TUPLE ? NONE : root;
}

/* Does w belong to a group? What only takes a result out of a fusion does not. */
static bool is_group(const struct decoder *d, uint32_t w, uint32_t first)
{
	const struct graph *a = d->m.after;
	const struct node *n = &a->node[w];

	if (first != NONE)
		return fusion_groupable(d->s->graph, d->m.copy[first].node);
	if (n->opcode == OP_GET_TUPLE_ELEMENT && a->node[node_operands(a, w)[0]].opcode == OP_FUSION)
		return false;
	return n->opcode == OP_FUSION || fusion_groupable(a, w);
}

static void compare_groups(struct decoder *d)
{
	const struct graph *a = d->m.after;
	struct nodes queue = {0};

	for (uint32_t w = 0; w < a->n_nodes; w++) {
		struct fault f = {CAUSE_COUNT, NONE, NONE};
		uint32_t root = result_of(a, w), first = d->m.first[w];
		size_t members = 1;
		if (!node_is_compiled(a, w))
			continue;
		if (first == NONE && root != NONE) /* else it is no fusion, or was one before the pass */
			first = d->m.first[root];
		if (!is_group(d, w, first))
			continue;
		if (first == NONE)
			blame(&f, root == NONE ? CAUSE_RESULTS : CAUSE_NOT_FOUND, NONE, NONE);
		for (uint32_t c = first; c != NONE; c = d->m.copy[c].next)
			members = compare_group(d, c, &queue, &f);
		note(d, w, members, &f);
	}
	nodes_release(&queue);
}

static void count_matched(struct decoder *d)
{
	uint8_t *found = ARENA_NEW(&d->mem, d->s->graph->n_nodes, uint8_t);

	for (size_t i = 0; i < d->m.n; i++)
		found[d->m.copy[i].node] = 1;
	d->report->sites = d->s->n_sites;
	for (uint32_t i = 0; i < d->s->n_sites; i++)
		d->report->matched += found[d->s->site[i].node];
}

void fusion_decode(struct space *s, const struct graph *after, struct fusion_report *report)
{
	struct decoder d = {.s = s, .report = report};

	*report = (struct fusion_report){0};
	s->account = (struct space_account){.added = s->account.added, .n_causes = CAUSE_COUNT,
		.cause = arena_dup(&s->mem, causes, sizeof causes)};
	match_find(&d.m, s->graph, after);
	d.config = ARENA_NEW(&d.mem, s->n_sites, uint8_t);
	d.absorbed = ARENA_NEW(&d.mem, s->graph->n_edges, uint32_t);
	d.read = ARENA_NEW(&d.mem, s->graph->n_edges, uint32_t);
	d.seen = ARENA_NEW(&d.mem, d.m.n, uint32_t);
	count_edges(&d);
	set_defaults(&d);
	space_default(s, d.config);
	count_matched(&d);
	compare_groups(&d);
	match_release(&d.m);
	arena_release(&d.mem);
}

void fusion_report_text(const struct space *s, const struct fusion_report *r, struct buf *out)
{
	const struct space_account *a = &s->account;
	const struct graph *g = s->graph;
	uint32_t tiled = 0;
	int said = 0;

	for (uint32_t v = 0; v < g->n_nodes; v++)
		tiled += fusion_of(s)->rules->keeps ? g->node[v].opcode == OP_FUSION && node_is_kernel(g, v) :
						      fusion_is_beyond_choices(g, v);
	buf_addf(out, "%u of %u sites found in the compiler's result, %u of %u groups equal, %u of %u fusions equal",
		r->matched, r->sites, a->equal, a->parts, r->fusions_equal, r->fusions);
	if (a->added)
		buf_addf(out, ", instructions added for copies that differ: %u", a->added);
	if (tiled)
		buf_addf(out, ", kernels that stay as the compiler made them: %u", tiled);
	for (uint32_t c = 0; c < a->n_causes; c++)
		if (a->cause[c].parts)
			buf_addf(out, "%s%s %u", said++ ? ", " : "; the rest: ", a->cause[c].meaning,
				a->cause[c].parts);
}
