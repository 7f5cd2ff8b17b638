/*
 * turns_note.c - writes the count of turns into a loop, and reads it (turns.h).
 */
#include <stdlib.h>
#include <string.h>
#include "graph/turns.h"

#define ATTRIBUTE "vantage_turns"

void turns_note(struct graph *g, uint32_t loop, double turns)
{
	Hlo__FrontendAttributes *all = ARENA_NEW(&g->mem, 1, Hlo__FrontendAttributes), **at;
	Hlo__FrontendAttribute *one = ARENA_NEW(&g->mem, 1, Hlo__FrontendAttribute);

	hlo__frontend_attributes__init(all);
	hlo__frontend_attribute__init(one);
	at = &g->node[loop].proto->frontend_attributes;
	all->n_map = *at ? (*at)->n_map + 1 : 1;
	all->map = ARENA_NEW(&g->mem, all->n_map, Hlo__FrontendAttribute *);
	if (all->n_map > 1)
		memcpy(all->map, (*at)->map, (all->n_map - 1) * sizeof *all->map);
	all->map[all->n_map - 1] = one;
	one->key = arena_strdup(&g->mem, ATTRIBUTE);
	one->value = arena_printf(&g->mem, "%.17g", turns);
	*at = all;
}

double turns_noted(const Hlo__HloInstructionProto *loop)
{
	const Hlo__FrontendAttributes *all = loop->frontend_attributes;

	for (size_t i = 0; all && i < all->n_map; i++)
		if (strcmp(all->map[i]->key, ATTRIBUTE) == 0) {
			double turns = strtod(all->map[i]->value, NULL);
			return turns > 0 && turns < 1e15 ? turns : 0;
		}
	return 0;
}
