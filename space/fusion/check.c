/*
 * check.c - checks whether the compiler honoured the choices.
 *
 * The passes after fusion rename, wrap single instructions into fusions of one, move loops and parallel
 * work into calls, and insert copies. They do not regroup. So we compare the groups as multisets of
 * signatures. A signature is the sum, over the members, of a hash of what each does by itself (opcode,
 * shape, attributes). It does not depend on names, on order, or on what stands around the group.
 * Groups of one member are not compared, because the compiler may wrap them or not; but for those that a library
 * computes.
 *
 * Some compilers also join groups that read the same values into one kernel with several results
 * (multi_output_fusion). That is another decision, so we take each result of such a kernel as a group. The
 * joined kernel computes once what several groups computed, so if one of them is not found again, a result in
 * its place is enough. XLA:GPU also simplifies inside kernels, and leaves other instructions there than we
 * asked for. So what remains on both sides is paired by the shape of its result.
 *
 * Twins are groups that compute the same from the same values. The compiler may merge them, so each counts
 * as found if one is. A hash of what a group computes and what it reads tells twins.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "space/fusion/own.h"

#define LIBRARY UINT64_C(0x6c696272617279) /* is added where a library computes the group */

struct signature {
	uint64_t shape;	     /* a hash of the result's element type and number of elements */
	uint64_t hash, twin; /* twin: a hash of what an asked group computes and from what */
	const char *name;
	uint32_t members;
	bool joined; /* is it one of several results of a kernel? */
};

struct signatures {
	struct signature *v;
	size_t n, cap;
};

static void add(struct signatures *l, struct signature s)
{
	MEM_GROW(&l->v, &l->cap, l->n + 1);
	l->v[l->n++] = s;
}

static int by_hash(const void *a, const void *b)
{
	const struct signature *x = a, *y = b;

	if (x->hash != y->hash)
		return x->hash > y->hash ? 1 : -1;
	return (x->twin > y->twin) - (x->twin < y->twin);
}

/* Does the node count for the signature? Bitcasts and copies do not: the compiler adds and removes them as it likes. */
static bool counts(const struct graph *g, uint32_t v)
{
	uint16_t op = g->node[v].opcode;

	return op != OP_PARAMETER && op != OP_BITCAST && op != OP_COPY && !(g->node[v].flags & NODE_SCALAR_CONST);
}

static void add_member(struct signature *s, const struct graph *g, uint32_t v)
{
	if (!counts(g, v))
		return;
	s->hash += hash_mix(0x6d656d62, node_local_hash(g, v, false));
	s->members++;
}

static uint64_t shape_of(const struct graph *g, uint32_t v)
{
	return hash_mix(hash_mix(0x73686170, g->node[v].dtype), g->node[v].elements);
}

/* A hash of the expression that the group computes from values outside; `at` is scratch, a number per member. */
static uint64_t twin_hash(struct space *s, const uint8_t *config, const struct nodes *members, uint64_t *at)
{
	const struct graph *g = s->graph;
	struct node_map *number = &fusion_of(s)->inner;

	node_map_clear(number);
	for (size_t i = 0; i < members->n; i++) {
		const struct node *n = &g->node[members->v[i]];
		at[i] = hash_mix(0x7477696e, node_local_hash(g, members->v[i], true));
		for (uint32_t e = n->operand; e < n->operand + n->n_operands; e++) {
			uint32_t p = g->edges[e];
			uint64_t from = fusion_absorbed(s, config, e) ? at[number->to[p]] :
				g->node[p].flags & NODE_SCALAR_CONST  ? node_local_hash(g, p, true) :
								       p;
			at[i] = hash_mix(at[i], from);
		}
		node_map_set(number, members->v[i], (uint32_t)i);
	}
	return at[members->n - 1];
}

static void asked_groups(struct space *s, const uint8_t *config, struct signatures *out)
{
	const struct graph *g = s->graph;
	struct nodes members = {0};
	uint64_t *at = NULL;
	size_t cap = 0;

	for (uint32_t v = 0; v < g->n_nodes; v++) {
		struct signature sig = {.name = g->node[v].proto->name, .shape = shape_of(g, v)};
		if (!fusion_groupable(g, v) || !fusion_kept(s, config, v))
			continue;
		members.n = 0;
		group_walk(s, config, v, &members);
		for (size_t i = 0; i < members.n; i++)
			add_member(&sig, g, members.v[i]);
		if (fusion_is_library(s, config, &members))
			sig.hash += LIBRARY;
		else if (sig.members < 2)
			continue;
		MEM_GROW(&at, &cap, members.n);
		sig.twin = twin_hash(s, config, &members, at);
		add(out, sig);
	}
	mem_free(at);
	nodes_release(&members);
}

static bool is_custom(const struct node *n)
{
	return n->proto->fusion_kind && strcmp(n->proto->fusion_kind, "kCustom") == 0;
}

/* Adds a fusion with one result; or, for one of several results, the members that it needs, up to the other results. */
static void found_group(const struct graph *g, const struct comp *c, uint32_t result, const char *name, bool library,
	struct signatures *out)
{
	struct signature sig = {.name = name, .shape = shape_of(g, result), .joined = g->node[c->root].opcode ==
		OP_TUPLE};
	const struct node *root = &g->node[c->root];
	uint8_t *needed = mem_zalloc(c->n_nodes, 1);

	needed[result - c->first] = 1;
	for (uint32_t v = c->first + c->n_nodes; v-- > c->first;) {
		bool other = false;
		for (uint32_t k = 0; root->opcode == OP_TUPLE && k < root->n_operands; k++)
			other |= node_operands(g, c->root)[k] == v && v != result;
		if (!needed[v - c->first] || other)
			continue;
		add_member(&sig, g, v);
		for (uint32_t k = 0; k < g->node[v].n_operands; k++)
			needed[node_operands(g, v)[k] - c->first] = 1;
	}
	mem_free(needed);
	if (library)
		sig.hash += LIBRARY;
	if (sig.members > 1 || library)
		add(out, sig);
}

/*
 * Leaves out kernels that a pass writes itself (kCustom), because they were made before the decision, but for those
 * that choices can say (library.c); and those with the several results of one instruction, which no choice makes.
 */
static void found_groups(const struct graph *g, const struct fusion_rules *rules, struct signatures *out)
{
	for (uint32_t v = 0; v < g->n_nodes; v++) {
		const struct node *n = &g->node[v];
		const struct comp *c;
		bool apart = rules->library && fusion_comes_apart(g, rules, v);
		if (n->opcode != OP_FUSION || !node_is_compiled(g, v) || (is_custom(n) && !apart) ||
			fusion_gives_several(g, v))
			continue;
		c = &g->comp[node_calls(g, v)[0]];
		if (g->node[c->root].opcode != OP_TUPLE)
			found_group(g, c, c->root, n->proto->name, apart, out);
		for (uint32_t k = 0; g->node[c->root].opcode == OP_TUPLE && k < g->node[c->root].n_operands; k++)
			found_group(g, c, node_operands(g, c->root)[k], n->proto->name, false, out);
	}
}

/* The signatures that are in one list only. */
struct rest {
	struct signatures missing, extra; /* asked and not found; found and not asked */
};

static void disagree(struct check_result *out, const char *what, const struct signature *s)
{
	snprintf(out->detail, sizeof out->detail, "the compiler %s a group of %u (%.120s)", what, s->members, s->name);
}

/* Returns how many signatures from l[i] on equal `hash`; *kinds counts twins once. */
static uint32_t run(const struct signatures *l, size_t i, uint64_t hash, uint32_t *kinds)
{
	size_t n = 0;

	*kinds = 0;
	for (; i + n < l->n && l->v[i + n].hash == hash; n++)
		*kinds += n == 0 || l->v[i + n].twin != l->v[i + n - 1].twin;
	return (uint32_t)n;
}

/* Merges the two sorted lists and counts equal groups; groups that are in one list only go to the rest. */
static void compare(const struct signatures *asked, const struct signatures *found, struct check_result *out,
	struct rest *rest)
{
	size_t i = 0, j = 0;

	while (i < asked->n || j < found->n) {
		uint64_t hash = j == found->n || (i < asked->n && asked->v[i].hash < found->v[j].hash)
			? asked->v[i].hash :
												       found->v[j].hash;
		uint32_t kinds, any, a = run(asked, i, hash, &kinds), f = run(found, j, hash, &any);
		uint32_t merged = f >= kinds && f < a ? a - f : 0;
		out->equal += (a < f ? a : f) + merged;
		for (uint32_t k = f + merged; k < a; k++)
			add(&rest->missing, asked->v[i + k]);
		for (uint32_t k = a; k < f; k++)
			add(&rest->extra, found->v[j + k]);
		i += a;
		j += f;
	}
}

static void take_out(struct signatures *l, size_t at)
{
	l->v[at] = l->v[--l->n];
}

/*
 * An extra signature that may stand for a missing group: one of that shape, else a result of a joined kernel, else
 * NULL.
 */
static const struct signature *find_pair(const struct signatures *extra, const struct signature *missing,
	bool simplified)
{
	const struct signature *found = NULL;

	for (size_t k = 0; k < extra->n; k++) {
		const struct signature *e = &extra->v[k];
		if (simplified && e->shape == missing->shape)
			return e;
		if (e->joined)
			found = e;
	}
	return found;
}

static void pair_rest(struct rest *rest, bool simplified, struct check_result *out)
{
	for (size_t i = rest->missing.n; i-- > 0;) {
		const struct signature *e = find_pair(&rest->extra, &rest->missing.v[i], simplified);
		if (!e)
			continue;
		take_out(&rest->extra, (size_t)(e - rest->extra.v));
		take_out(&rest->missing, i);
		out->equal++;
	}
	for (size_t k = rest->extra.n; k-- > 0;) /* a result of a joined kernel may be a single instruction */
		if (rest->extra.v[k].joined)
			take_out(&rest->extra, k);
}

static void judge_groups(struct space *s, const struct signatures *asked, const struct signatures *found,
	struct check_result *out)
{
	struct rest rest = {{0}, {0}};

	out->asked = (uint32_t)asked->n;
	compare(asked, found, out, &rest);
	pair_rest(&rest, fusion_of(s)->by_input, out);
	out->found = out->equal + (uint32_t)rest.extra.n;
	if (rest.missing.n)
		disagree(out, "did not keep", &rest.missing.v[0]);
	else if (rest.extra.n)
		disagree(out, "made", &rest.extra.v[0]);
	mem_free(rest.missing.v);
	mem_free(rest.extra.v);
}

int fusion_check(struct space *s, const uint8_t *config, const void *optimised, size_t n,
	struct check_result *out, struct err *err)
{
	struct signatures asked = {0}, found = {0};
	struct graph after = {0};
	int rc = -1;

	*out = (struct check_result){0};
	if (graph_parse(&after, optimised, n, "the optimised program", err) < 0)
		goto out;
	asked_groups(s, config, &asked);
	found_groups(&after, fusion_of(s)->rules, &found);
	if (asked.n)
		qsort(asked.v, asked.n, sizeof asked.v[0], by_hash);
	if (found.n)
		qsort(found.v, found.n, sizeof found.v[0], by_hash);
	judge_groups(s, &asked, &found, out);
	rc = 0;
out:
	mem_free(asked.v);
	mem_free(found.v);
	graph_release(&after);
	return rc;
}
