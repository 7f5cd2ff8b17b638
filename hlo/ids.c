/*
 * ids.c - looks for the largest low half among all ids of a module, and counts up from it.
 */
#include "hlo/ids.h"

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
