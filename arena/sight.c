/*
 * sight.c - writes the learner's features of sites and flips as JSON.
 */
#include "arena/sight.h"

#include <stdio.h>
#include "base/mem.h"

static const char *const node_name[] = {
#define NODE(id, name, ...) name,
#define CONTEXT(id, name, ...) name,
#include "schemas/feature.def"
};
_Static_assert(sizeof node_name / sizeof *node_name == NODE_FEATURES, "a name for every column");
static const char *const flip_name[] = {
#define FLIP(id, name, ...) name,
#include "schemas/feature.def"
};

/* A kind's own names stand in place of the usual ones; columns that it leaves have none. */
static void names_of_sites(const struct scene *g, struct json *j)
{
	const struct space_features *own = g->own;

	json_array(j, "names");
	for (uint32_t i = 0; i < NODE_FEATURES; i++) {
		uint32_t k = i - NODE_FIXED - CONTEXT_OWN;
		bool kinds = own && i >= NODE_FIXED + CONTEXT_OWN;
		json_str(j, NULL, !kinds ? node_name[i] : k < own->n_context ? own->context[k].name : NULL);
	}
	json_end(j);
}

static void names_of_flips(const struct scene *g, struct json *j)
{
	const struct space_features *own = g->own;
	char name[100];

	json_array(j, "names");
	for (uint32_t i = 0; i < FLIP_FEATURES; i++) {
		uint32_t k = i - FLIP_OWN;
		if (!own || i < FLIP_OWN) {
			json_str(j, NULL, flip_name[i]);
		} else if (k < 2 * own->n_effect) {
			snprintf(name, sizeof name, "%s %s", own->effect[k % own->n_effect].name, k < own->n_effect
				? "before" : "more");
			json_str(j, NULL, name);
		} else {
			json_str(j, NULL, NULL);
		}
	}
	json_end(j);
}

static void add_row(struct json *j, const real *x, uint32_t n)
{
	json_array(j, NULL);
	for (uint32_t i = 0; i < n; i++)
		json_num(j, NULL, (double)x[i]);
	json_end(j);
}

void sight_sites(struct scene *g, const uint8_t *config, struct json *j)
{
	const struct space *s = g->space;
	uint32_t *node = mem_alloc(s->n_sites * sizeof *node + 1);
	real *row = MEM_NEW((size_t)s->n_sites * NODE_FEATURES + 1, real);

	for (uint32_t i = 0; i < s->n_sites; i++) {
		node[i] = s->site[i].node;
		for (uint32_t k = 0; k < NODE_FIXED; k++)
			row[(size_t)i * NODE_FEATURES + k] = g->fixed[(size_t)node[i] * NODE_FIXED + k];
	}
	feature_context(g, config, node, s->n_sites, row + NODE_FIXED, NODE_FEATURES);
	names_of_sites(g, j);
	json_array(j, "rows");
	for (uint32_t i = 0; i < s->n_sites; i++)
		add_row(j, row + (size_t)i * NODE_FEATURES, NODE_FEATURES);
	json_end(j);
	mem_free(node);
	mem_free(row);
}

void sight_flips(struct scene *g, uint8_t *from, const uint8_t *to, struct json *j)
{
	const struct space *s = g->space;
	real row[FLIP_FEATURES];

	names_of_flips(g, j);
	json_array(j, "sites");
	for (uint32_t i = 0; i < s->n_sites; i++)
		if (from[i] != to[i])
			json_uint(j, NULL, i);
	json_end(j);
	json_array(j, "rows");
	for (uint32_t i = 0; i < s->n_sites; i++) {
		if (from[i] == to[i])
			continue;
		feature_flip(g, from, i, to[i], row);
		add_row(j, row, FLIP_FEATURES);
	}
	json_end(j);
}
