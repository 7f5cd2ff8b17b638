/*
 * turns_note.c - writes counts into a loop or a conditional, and reads them (turns.h).
 */
#include <stdlib.h>
#include <string.h>
#include "graph/turns.h"

#define ATTRIBUTE "vantage_turns" /* its value: one number for each computation, with commas between */
#define MOST 1e15

void turns_note(struct graph *g, uint32_t node, const double *runs, uint32_t n)
{
	Hlo__FrontendAttributes *all = ARENA_NEW(&g->mem, 1, Hlo__FrontendAttributes), **at;
	Hlo__FrontendAttribute *one = ARENA_NEW(&g->mem, 1, Hlo__FrontendAttribute);
	struct buf value = {0};

	for (uint32_t k = 0; k < n; k++)
		buf_addf(&value, "%s%.17g", k ? "," : "", runs[k]);
	hlo__frontend_attributes__init(all);
	hlo__frontend_attribute__init(one);
	at = &g->node[node].proto->frontend_attributes;
	all->n_map = *at ? (*at)->n_map + 1 : 1;
	all->map = ARENA_NEW(&g->mem, all->n_map, Hlo__FrontendAttribute *);
	if (all->n_map > 1)
		memcpy(all->map, (*at)->map, (all->n_map - 1) * sizeof *all->map);
	all->map[all->n_map - 1] = one;
	one->key = arena_strdup(&g->mem, ATTRIBUTE);
	one->value = arena_strdup(&g->mem, value.data ? value.data : "");
	*at = all;
	buf_release(&value);
}

double turns_noted(const Hlo__HloInstructionProto *node, uint32_t k)
{
	const Hlo__FrontendAttributes *all = node->frontend_attributes;
	const char *at = NULL;
	double runs;
	char *end;

	for (size_t i = 0; all && i < all->n_map; i++)
		if (strcmp(all->map[i]->key, ATTRIBUTE) == 0)
			at = all->map[i]->value;
	for (; at && k > 0; k--)
		if ((at = strchr(at, ',')))
			at++;
	if (!at)
		return -1;
	runs = strtod(at, &end);
	return end != at && runs >= 0 && runs < MOST ? runs : -1;
}
