/*
 * node_ids.c - a list of ids, sorted once and then searched by halves.
 */
#include "graph/node_ids.h"

#include <stdlib.h>

static int by_id(const void *a, const void *b)
{
	const struct node_id *x = a, *y = b;

	return (x->id > y->id) - (x->id < y->id);
}

struct node_ids node_ids_of(const struct graph *g, uint32_t comp)
{
	const struct comp *c = &g->comp[comp];
	struct node_ids ids = {MEM_NEW(c->n_nodes, struct node_id), c->n_nodes};

	for (uint32_t i = 0; i < c->n_nodes; i++)
		ids.v[i] = (struct node_id){g->node[c->first + i].proto->id, i};
	qsort(ids.v, ids.n, sizeof *ids.v, by_id); /* a computation has a root, so there is a list to sort */
	return ids;
}

uint32_t node_ids_find(const struct node_ids *ids, int64_t id)
{
	const struct node_id key = {.id = id}, *found = bsearch(&key, ids->v, ids->n, sizeof key, by_id);

	return found ? found->at : NONE;
}

void node_ids_release(struct node_ids *ids)
{
	mem_free(ids->v);
	*ids = (struct node_ids){0};
}
