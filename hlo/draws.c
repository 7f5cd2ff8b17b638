/*
 * draws.c - see draws.h. All names that matter here have "rng" in them. Without it, nothing has to be unpacked.
 */
#include <string.h>
#include "hlo/draws.h"
#include "hlo/module.h"
#include "hlo/op.h"

#define WORD "rng"

static bool draws(const Hlo__HloInstructionProto *in)
{
	uint16_t op = opcode_of(in->opcode);

	return op == OP_RNG || op == OP_RNG_BIT_GENERATOR || op == OP_RNG_GET_AND_UPDATE_STATE ||
	       (op == OP_CUSTOM_CALL && strstr(in->custom_call_target, WORD));
}

bool hlo_draws(const void *p, size_t n)
{
	struct arena mem = {0};
	bool any = false;
	const Hlo__HloModuleProto *m;

	if (!memmem(p, n, WORD, strlen(WORD)))
		return false;
	m = hlo_unpack(&mem, p, n, "the program", NULL);
	for (size_t i = 0; m && i < m->n_computations && !any; i++)
		for (size_t k = 0; k < m->computations[i]->n_instructions && !any; k++)
			any = draws(m->computations[i]->instructions[k]);
	any = any || !m;
	arena_release(&mem);
	return any;
}
