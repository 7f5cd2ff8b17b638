/*
 * roles.c - finds out from the graph alone what the parameters of a step are for.
 *
 * A training step returns what it was given, a little changed: a weight less something, a moment mixed with something.
 * So we follow each part of the result back, through operations that work element by element (and through updates in
 * place, as of a cache). The nearest parameter of the same shape that we meet takes the place of that part in the next
 * run: the two are tied, and must be laid out alike. If the program itself says which result takes which parameter's
 * memory, that counts instead.
 *
 * A new weight is computed from its moments too, but a new moment is not computed from the weight: that tells them
 * apart. In a step that trains, parameters that are not returned are data. In a step that does not train, weights are
 * not returned either; there the data are the parameters that have as many rows as the result.
 */
#include "space/shard/own.h"

#include <string.h>

#define FAR 64 /* nodes that are looked at from one result */

struct walk { /* back from one element of the result */
	uint32_t node[FAR], depth[FAR], n;
	bool in_place; /* it went through an update of a part */
};

static bool same_dims(const struct graph *g, uint32_t a, uint32_t b)
{
	const Hlo__ShapeProto *x = g->node[a].proto->shape, *y = g->node[b].proto->shape;

	return x->n_dimensions == y->n_dimensions && g->node[a].dtype != DT_TUPLE && g->node[b].dtype != DT_TUPLE &&
	       (!x->n_dimensions || memcmp(x->dimensions, y->dimensions, x->n_dimensions * sizeof *x->dimensions) == 0);
}

static void look(struct walk *w, uint32_t v, uint32_t depth)
{
	for (uint32_t i = 0; i < w->n; i++)
		if (w->node[i] == v)
			return;
	if (w->n == FAR)
		return;
	w->node[w->n] = v;
	w->depth[w->n++] = depth;
}

/* Lists the nodes of its shape from which `from` is computed element by element, the nearest first. */
static void walk_back(const struct graph *g, uint32_t from, struct walk *w)
{
	*w = (struct walk){0};
	look(w, from, 0);
	for (uint32_t i = 0; i < w->n; i++) {
		uint32_t v = w->node[i], op = g->node[v].opcode;
		bool update = op == OP_DYNAMIC_UPDATE_SLICE;
		if (!update && op != OP_COPY && opcode_facts((uint16_t)op)->class != CLASS_ELEMENTWISE)
			continue;
		w->in_place |= update;
		for (uint32_t k = 0; k < (update ? 1 : g->node[v].n_operands); k++)
			if (same_dims(g, node_operands(g, v)[k], from))
				look(w, node_operands(g, v)[k], w->depth[i] + 1);
	}
}

/* Lists the nodes of which the result consists; returns how many there are. */
static const uint32_t *result_parts(const struct graph *g, uint32_t *n)
{
	const uint32_t *root = &g->comp[g->entry].root;

	if (g->node[*root].opcode != OP_TUPLE) {
		*n = 1;
		return root;
	}
	*n = g->node[*root].n_operands;
	return node_operands(g, *root);
}

static struct purpose *at(const struct roles *r, const struct graph *g, uint32_t v)
{
	return &r->of[v - g->comp[g->entry].first];
}

/* Ties parameters to results by what the program says of its memory; returns whether it says anything. */
static bool tie_by_alias(struct roles *r, const struct graph *g)
{
	const Hlo__HloInputOutputAliasProto *a = g->module->input_output_alias;
	const struct comp *c = &g->comp[g->entry];

	for (size_t i = 0; a && i < a->n_entries; i++)
		for (uint32_t v = c->first; v < c->first + c->n_nodes; v++)
			if (g->node[v].opcode == OP_PARAMETER && g->node[v].proto->parameter_number ==
				a->entries[i]->parameter_number && a->entries[i]->n_output_shape_index <= 1 &&
				a->entries[i]->n_parameter_shape_index == 0)
				at(r, g, v)->out = a->entries[i]->n_output_shape_index
					? (uint32_t)a->entries[i]->output_shape_index[0] : 0;
	return a && a->n_entries;
}

/* Ties them by what each part of the result is computed from; of two claims the nearer one counts. */
static void tie_by_walking(struct roles *r, const struct graph *g)
{
	const struct comp *c = &g->comp[g->entry];
	uint32_t n, *depth = MEM_NEW(c->n_nodes + 1, uint32_t);
	const uint32_t *part = result_parts(g, &n);
	struct walk w;

	for (uint32_t k = 0; k < n; k++) {
		walk_back(g, part[k], &w);
		for (uint32_t i = 0; i < w.n; i++) {
			uint32_t v = w.node[i];
			if (g->node[v].opcode != OP_PARAMETER || g->node[v].rank == 0 ||
				g->node[v].dtype != g->node[part[k]].dtype)
				continue;
			if (at(r, g, v)->out == NONE || w.depth[i] < depth[v - c->first]) {
				at(r, g, v)->out = k;
				depth[v - c->first] = w.depth[i];
			}
			break;
		}
	}
	mem_free(depth);
}

static bool met(const struct walk *w, uint32_t v)
{
	for (uint32_t i = 0; i < w->n; i++)
		if (w->node[i] == v)
			return true;
	return false;
}

/* Finds the owner of a moment: the weight whose result is computed from the moment's, but not the other way round. */
static void find_owners(struct roles *r, const struct graph *g)
{
	const struct comp *c = &g->comp[g->entry];
	uint32_t n;
	const uint32_t *part = result_parts(g, &n);
	struct walk mine, theirs;

	for (uint32_t v = c->first; v < c->first + c->n_nodes; v++) {
		if (at(r, g, v)->out >= n || g->node[v].opcode != OP_PARAMETER)
			continue;
		walk_back(g, part[at(r, g, v)->out], &mine);
		r->trains |= !mine.in_place;
		at(r, g, v)->role = mine.in_place ? FOR_DATA : FOR_WEIGHT;
		for (uint32_t i = 0; i < mine.n; i++) {
			uint32_t u = mine.node[i];
			if (u == v || g->node[u].opcode != OP_PARAMETER || at(r, g, u)->out >= n)
				continue;
			walk_back(g, part[at(r, g, u)->out], &theirs);
			if (!met(&theirs, v))
				at(r, g, u)->owner = v;
		}
	}
	for (uint32_t v = c->first; v < c->first + c->n_nodes; v++)
		if (at(r, g, v)->owner != NONE)
			at(r, g, v)->role = FOR_MOMENT;
}

/* Counts the examples of a step that does not train: the rows of its first result that is not tied, or of its state. */
static int64_t count_examples(const struct roles *r, const struct graph *g)
{
	const struct comp *c = &g->comp[g->entry];
	uint32_t n;
	const uint32_t *part = result_parts(g, &n);

	for (int tied = 0; tied < 2; tied++)
		for (uint32_t k = 0; k < n; k++) {
			bool is_tied = false;
			for (uint32_t v = c->first; v < c->first + c->n_nodes; v++)
				is_tied |= g->node[v].opcode == OP_PARAMETER && at(r, g, v)->out == k;
			if (is_tied == tied && g->node[part[k]].rank > 0)
				return g->node[part[k]].proto->shape->dimensions[0];
		}
	return 0;
}

/* Is something looked up in the parameter, or in a plain copy of it? */
static bool is_table(const struct graph *g, uint32_t v)
{
	for (uint32_t i = 0; i < g->node[v].n_users; i++) {
		uint32_t u = node_users(g, v)[i], op = g->node[u].opcode;
		if (op == OP_GATHER && node_operands(g, u)[0] == v)
			return true;
		if ((op == OP_CONVERT || op == OP_COPY) && is_table(g, u))
			return true;
	}
	return false;
}

void roles_find(struct roles *r, const struct graph *g, struct arena *mem)
{
	const struct comp *c = &g->comp[g->entry];
	int64_t examples;

	r->of = ARENA_NEW(mem, c->n_nodes + 1, struct purpose);
	for (uint32_t i = 0; i < c->n_nodes; i++)
		r->of[i].out = r->of[i].owner = NONE;
	if (!tie_by_alias(r, g))
		tie_by_walking(r, g);
	find_owners(r, g);
	examples = count_examples(r, g);
	for (uint32_t v = c->first; v < c->first + c->n_nodes; v++) {
		const Hlo__ShapeProto *shape = g->node[v].proto->shape;
		struct purpose *p = at(r, g, v);
		if (g->node[v].opcode != OP_PARAMETER || g->node[v].rank == 0 || g->node[v].dtype == DT_TUPLE) {
			p->role = FOR_NOTHING;
			continue;
		}
		if (p->role == FOR_NOTHING)
			p->role = r->trains || shape->dimensions[0] == examples ? FOR_DATA : FOR_WEIGHT;
		p->table = p->role == FOR_WEIGHT && is_table(g, v);
	}
}
