/*
 * ids.c - looks for the largest low half among all ids of a module, or the largest number in its names, to count up
 * from it.
 */
#include "hlo/ids.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#define LOW_HALF INT64_C(0xffffffff)

struct ids ids_of(const Hlo__HloModuleProto *m)
{
	struct ids ids = {0};

	for (size_t c = 0; c < m->n_computations; c++)
		for (size_t i = 0; i < m->computations[c]->n_instructions; i++) {
			int64_t low = m->computations[c]->instructions[i]->id & LOW_HALF;
			ids.low = low >= ids.low ? low + 1 : ids.low;
		}
	return ids;
}

int64_t ids_next(struct ids *ids, const Hlo__HloInstructionProto *like)
{
	return (like->id & ~LOW_HALF) | ids->low++;
}

int64_t ids_next_comp(const Hlo__HloModuleProto *m)
{
	int64_t next = 1;

	for (size_t c = 0; c < m->n_computations; c++)
		next = m->computations[c]->id >= next ? m->computations[c]->id + 1 : next;
	return next;
}

/* The first number from `next` on that is larger than those behind the mark in this name. */
static uint32_t above_named(const char *name, const char *mark, uint32_t next)
{
	for (const char *p = name; (p = strstr(p, mark));) {
		unsigned long n;
		p += strlen(mark);
		n = *p >= '0' && *p <= '9' ? strtoul(p, NULL, 10) : ULONG_MAX;
		next = n >= next && n <= IDS_NAMED ? (uint32_t)n + 1 : next;
	}
	return next;
}

uint32_t ids_unnamed(const Hlo__HloModuleProto *m, const char *mark)
{
	uint32_t next = 0;

	for (size_t c = 0; c < m->n_computations; c++) {
		next = above_named(m->computations[c]->name, mark, next);
		for (size_t i = 0; i < m->computations[c]->n_instructions; i++)
			next = above_named(m->computations[c]->instructions[i]->name, mark, next);
	}
	return next;
}
