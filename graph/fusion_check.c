/*
 * fusion_check.c - did the compiler keep the choices?
 *
 * The passes after fusion rename, wrap single instructions into fusions of one, outline loops and
 * parallel work into calls, and insert copies; they do not regroup. So the groups are compared as
 * multisets of signatures. A signature is the sum, over the members, of what each does by itself
 * (opcode, shape, attributes): independent of names, of order, and of what stands around the group.
 * Groups of one member are not compared: whether the compiler wraps those is its own affair.
 */
#include <stdio.h>
#include <stdlib.h>
#include "graph/fusion_own.h"

struct signature {
	uint64_t hash;
	const char *name;
	uint32_t members;
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

	return (x->hash > y->hash) - (x->hash < y->hash);
}

/* Bitcasts and copies inside are at the compiler's discretion and change nothing about a group. */
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

static void asked_groups(struct space *s, const uint8_t *config, struct signatures *out)
{
	const struct graph *g = s->graph;
	struct nodes members = {0};

	for (uint32_t v = 0; v < g->n_nodes; v++) {
		struct signature sig = {.name = g->node[v].proto->name};
		if (!fusion_groupable(g, v) || !fusion_kept(s, config, v))
			continue;
		members.n = 0;
		group_walk(s, config, v, &members);
		for (size_t i = 0; i < members.n; i++)
			add_member(&sig, g, members.v[i]);
		if (sig.members > 1)
			add(out, sig);
	}
	nodes_release(&members);
}

static void found_groups(const struct graph *g, struct signatures *out)
{
	for (uint32_t v = 0; v < g->n_nodes; v++) {
		struct signature sig = {.name = g->node[v].proto->name};
		uint8_t role = g->comp[g->node[v].comp].role;
		const struct comp *c;
		if (g->node[v].opcode != OP_FUSION || (role != ROLE_ENTRY && role != ROLE_CONTROL))
			continue;
		c = &g->comp[node_calls(g, v)[0]];
		for (uint32_t k = c->first; k < c->first + c->n_nodes; k++)
			add_member(&sig, g, k);
		if (sig.members > 1)
			add(out, sig);
	}
}

/* Merges the sorted lists, counting equals and naming the first asked group that is not there. */
static void compare(const struct signatures *asked, const struct signatures *found, struct check_result *out)
{
	size_t i = 0, j = 0;

	out->asked = (uint32_t)asked->n;
	out->found = (uint32_t)found->n;
	while (i < asked->n || j < found->n) {
		int order = i == asked->n ? 1 : j == found->n ? -1 : by_hash(&asked->v[i], &found->v[j]);
		if (order == 0)
			out->equal++;
		else if (!out->detail[0])
			snprintf(out->detail, sizeof out->detail, "%s a group of %u (%.120s)",
				order < 0 ? "the compiler did not keep" : "the compiler made",
				order < 0 ? asked->v[i].members : found->v[j].members,
				order < 0 ? asked->v[i].name : found->v[j].name);
		i += order <= 0;
		j += order >= 0;
	}
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
	found_groups(&after, &found);
	if (asked.n)
		qsort(asked.v, asked.n, sizeof asked.v[0], by_hash);
	if (found.n)
		qsort(found.v, found.n, sizeof found.v[0], by_hash);
	compare(&asked, &found, out);
	rc = 0;
out:
	mem_free(asked.v);
	mem_free(found.v);
	graph_release(&after);
	return rc;
}
